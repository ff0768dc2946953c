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
import venv
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import jax
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the commands of an environment in which the wheel is installed."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, capture_output=True, check=True, timeout=120)
    (wheel,) = folder.glob("daybreak-*.whl")
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
