"""Notebooks run from top to bottom, as a user's own command runs them, and show their pictures."""

import re
import shutil
import subprocess
import sys
from base64 import b64decode
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.py"))
PICTURES = {"forecast": 1, "law": 1, "theory": 2}
LARGEST = 150_000  # bytes of one picture


def _marimo(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "marimo", "--log-level", "error", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=900)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)
def test_a_notebook_runs_and_shows_small_pictures(notebook: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    copy = shutil.copy(notebook, tmp_path)  # marimo writes next to it
    done = _marimo("export", "html", str(copy), "--output", str(page), folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    sizes = [len(b64decode(x)) for x in re.findall(r"data:image/png;base64,([A-Za-z0-9+/=]+)", page.read_text())]
    assert len(sizes) == PICTURES[notebook.stem]
    assert min(sizes) > 1_000
    assert max(sizes) < LARGEST


def test_a_notebook_with_a_mistake_fails(tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("import marimo\n\napp = marimo.App()\n\n\n@app.cell\ndef _():\n    1 / 0\n    return\n")
    done = _marimo("export", "html", str(broken), "--output", str(tmp_path / "page.html"), folder=tmp_path)
    assert done.returncode != 0


def test_notebooks_are_in_the_form_that_marimo_writes() -> None:
    done = _marimo("check", "--strict", *map(str, NOTEBOOKS), folder=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_tutorials_name_every_notebook() -> None:
    text = (ROOT / "docs" / "tutorials" / "index.md").read_text()
    assert set(re.findall(r"^\| `notebooks/(\w+)\.py` \|", text, re.MULTILINE)) == set(PICTURES)
    assert {x.stem for x in NOTEBOOKS} == set(PICTURES)
