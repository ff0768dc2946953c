"""The wheel, installed into an empty environment outside the repository: what a user has who never saw the repository.

The environment borrows the locked packages by a path, so nothing is downloaded. `daybreak demo` is left out: it takes a minute, and
what it does, figures and a training, is tested where it is faster.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tarfile
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import jax
import pytest

ROOT = Path(__file__).parents[2]


def _build(source: Path, out: Path, *targets: str) -> None:
    chosen = [part for target in targets for part in ("-t", target)]
    build = [sys.executable, "-m", "hatchling", "build", *chosen, "-d", str(out)]
    subprocess.run(build, cwd=source, capture_output=True, check=True, timeout=240)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the sdist of this repository."""
    folder = tmp_path_factory.mktemp("dist")
    _build(ROOT, folder, "wheel", "sdist")
    return folder


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the commands of an environment in which the wheel is installed."""
    folder = tmp_path_factory.mktemp("wheel")
    (wheel,) = built.glob("daybreak-*.whl")
    venv.create(folder / "env", symlinks=True)
    bin_ = folder / "env" / "bin"
    install = ["install", "--no-deps", "--no-index", "--no-compile", "--disable-pip-version-check", str(wheel)]
    command = [sys.executable, "-m", "pip", "--python", str(bin_ / "python"), *install]
    subprocess.run(command, capture_output=True, check=True, timeout=120)
    (packages,) = (folder / "env" / "lib").glob("python*/site-packages")
    (packages / "borrowed.pth").write_text(f"{Path(jax.__file__).parents[1]}\n")
    return bin_


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    assert not list(tmp_path.iterdir()), "asking leaves nothing behind"


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def _ask(installed: Path, folder: Path, *arguments: str) -> dict:
    command = [str(installed / "daybreak"), *arguments, "--json"]
    done = subprocess.run(
        command, cwd=folder, env=_environment(), capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def test_it_is_the_wheel_that_is_asked_and_not_the_repository(installed: Path, empty: Path) -> None:
    code = "import daybreak, jax; print(daybreak.__file__)"
    command = [str(installed / "python"), "-c", code]
    done = subprocess.run(command, cwd=empty, env=_environment(), capture_output=True, text=True, check=True)
    assert str(installed.parent) in done.stdout
    assert str(ROOT / "src") not in done.stdout


def test_doctor(installed: Path, empty: Path) -> None:
    assert _ask(installed, empty, "doctor")["self_check"]["passed"] is True


def test_advise_knows_what_was_measured_here(installed: Path, empty: Path) -> None:
    data = _ask(installed, empty, "advise", "--T", "64", "--d", "32")
    assert "our runs" in data["law"]["source"]
    assert data["interval"] is not None, "the paper gives none"
    assert data["plateau"] > 100


def test_theory(installed: Path, empty: Path) -> None:
    data = _ask(installed, empty, "theory", "--T", "512", "--d", "64")
    assert abs(data["closed_forms"]["plateau_estimate"]["relative_difference"]) < 0.01


def test_a_first_run_is_trained_kept_listed_and_shown(installed: Path, tmp_path: Path) -> None:
    toy = ["train", "toy", "--task.T", "8", "--task.d", "4", "--keep", "parameters"]
    (run,) = _ask(installed, tmp_path, *toy)["runs"]
    assert run["outcome"] == "emerged"
    listed = _ask(installed, tmp_path, "runs", "list")["runs"]
    assert [(row["id"], row["T"], row["outcome"]) for row in listed] == [(run["id"], 8, "emerged")]
    assert [x.name for x in tmp_path.iterdir()] == ["lab"]


def test_the_sweep_files_of_the_docs_come_with_it(installed: Path, tmp_path: Path) -> None:
    _ask(installed, tmp_path, "examples")
    plan = _ask(installed, tmp_path, "sweep", "examples/small.toml", "--dry-run")
    assert (plan["runs"], plan["existing"]) == (12, 0)


def test_the_sdist_is_the_repository_and_gives_the_same_wheel(built: Path, tmp_path: Path) -> None:
    (archive,) = built.glob("daybreak-*.tar.gz")
    with tarfile.open(archive) as tar:
        tar.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()
    for name in ("LICENSE", "SECURITY.md", "CITATION.cff", "Makefile", "requirements-dev.lock", "tests/conftest.py"):
        assert (source / name).is_file(), name
    for folder in ("tests/frozen/lab", "docs/guides", "examples", "benchmarks", "results/emergence/fig3/laptop"):
        assert any((source / folder).iterdir()), folder
    _build(source, tmp_path / "again", "wheel")
    wheels = [next(folder.glob("*.whl")) for folder in (built, tmp_path / "again")]
    contents = [{(x.filename, x.CRC) for x in zipfile.ZipFile(wheel).infolist()} for wheel in wheels]
    assert contents[0] == contents[1]
    names = {name for name, _ in contents[0]}
    assert {"daybreak/_examples/small.toml", "daybreak/_results/emergence/fig3/laptop/claims.json"} <= names
    assert any(name.endswith("dist-info/licenses/LICENSE") for name in names)


def test_the_page_has_claims_and_laws(installed: Path, empty: Path) -> None:
    heed = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "  # a test in the background ignores it
    code = heed + "import sys; from daybreak.cli import main; sys.exit(main(['explore', '--port', '0', '--json']))"
    command = [str(installed / "python"), "-c", code]
    with subprocess.Popen(
        command, cwd=empty, env=_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stderr is not None
            found = re.search(r"http://127\.0\.0\.1:\d+/", process.stderr.readline())
            assert found is not None
            pages = {}
            for path in ("", "data/claims/claims.csv", "data/laws/points.csv", "figure/emergence/fig1c/laptop.png"):
                with urlopen(found[0] + path, timeout=60) as answer:  # noqa: S310
                    pages[path] = answer.read()
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=120)
    assert process.returncode == 0
    assert b"Daybreak" in pages[""]
    assert pages["data/claims/claims.csv"].count(b"\n") > 50
    assert pages["data/laws/points.csv"].count(b"\n") > 10
    assert pages["figure/emergence/fig1c/laptop.png"].startswith(b"\x89PNG")
