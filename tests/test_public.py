"""The public page `daybreak/__init__.py`, and what the wheel is made of."""

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import daybreak
from tests.compat import VERSIONS

ROOT = Path(__file__).parent.parent


def test_import_daybreak_loads_no_other_package(tmp_path: Path) -> None:
    code = "import sys; before = set(sys.modules); import daybreak; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True
    )
    tops = {name.partition(".")[0] for name in done.stdout.split()}
    assert tops - sys.stdlib_module_names == {"daybreak"}


def test_every_public_name_resolves() -> None:
    assert dir(daybreak) == daybreak.__all__
    for name in daybreak.__all__:
        assert getattr(daybreak, name) is not None
    assert not hasattr(daybreak, "elsewhere")


def test_the_wheel_has_the_version_of_the_package_and_its_types(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, capture_output=True, timeout=60, check=True)
    (wheel,) = tmp_path.iterdir()
    assert wheel.name == f"daybreak-{daybreak.__version__}-py3-none-any.whl"
    assert "daybreak/py.typed" in zipfile.ZipFile(wheel).namelist()
    assert f"version: {daybreak.__version__}\n" in (ROOT / "CITATION.cff").read_text()


def test_the_versions_of_python_are_the_same_everywhere() -> None:
    """Those that `make compat` tests are those that the package and the page on installing name."""
    pyproject = (ROOT / "pyproject.toml").read_text()
    named = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', pyproject)
    assert tuple(named) == VERSIONS
    assert f'requires-python = ">={VERSIONS[0]}"' in pyproject
    page = (ROOT / "docs" / "install.md").read_text()
    assert f"Python {', '.join(VERSIONS[:-1])} or {VERSIONS[-1]}" in page
    assert {x.rpartition(".")[0] for x in re.findall(r"\b3\.\d+\.\d+\b", page)} == {*VERSIONS}
    assert f"{sys.version_info.major}.{sys.version_info.minor}" in VERSIONS


def test_the_page_on_installing_names_every_extra_and_the_wheel_of_this_version() -> None:
    page = (ROOT / "docs" / "install.md").read_text()
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert {*re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)} == extras.keys()
    assert {*re.findall(r"daybreak-(\d+\.\d+\.\d+)", page)} == {daybreak.__version__}
