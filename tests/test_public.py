"""The public page `daybreak/__init__.py`, and what the wheel is made of."""

import subprocess
import sys
import zipfile
from pathlib import Path

import daybreak

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
