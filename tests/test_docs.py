"""Docs cannot drift: the command reference is what the command says, and the README's tree and commands are real."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("name", "made"), [("cli.md", "reference"), ("gallery.md", "gallery")])
def test_generated_pages_are_up_to_date(name: str, made: str) -> None:
    page = getattr(_load(ROOT / "docs" / "generate.py"), made)()
    assert (ROOT / "docs" / name).read_text() == page, "run 'make docs'"


def test_the_tree_in_the_readme_names_every_room() -> None:
    readme = (ROOT / "README.md").read_text()
    for room in (ROOT / "src" / "daybreak").iterdir():
        if room.is_dir() and room.name != "__pycache__":
            assert re.search(rf"^\s*{room.name}/", readme, re.MULTILINE), room.name


def _python_of(page: str) -> str:
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    return code


def test_the_python_of_the_readme_runs() -> None:
    table = {
        "d": [16, 64, 16, 64, 16],
        "T": [64, 64, 256, 256, 64],
        "B": [1, 1, 1, 1, 2],
        "plateau": [24, 48, 48, 96, 12],
    }
    exec(compile(_python_of("README.md"), "README.md", "exec"), {"table": table})  # noqa: S102


def test_links_and_pictures_exist() -> None:
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")):
        for target in re.findall(r"\]\((?!https?://|#)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_no_registry_host_or_absolute_path_is_locked() -> None:
    for line in (ROOT / "requirements.lock").read_text().splitlines():
        assert re.fullmatch(r"[A-Za-z0-9_.\-]+==[A-Za-z0-9_.+\-]+", line), line
