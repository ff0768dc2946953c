"""Docs cannot drift: the command reference is what the command says, and the README's tree and commands are real."""

import importlib.util
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_command_reference_is_up_to_date() -> None:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None and spec.loader is not None
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    assert (ROOT / "docs" / "cli.md").read_text() == generate.page(), "run 'make docs'"


def test_the_tree_in_the_readme_names_every_room() -> None:
    readme = (ROOT / "README.md").read_text()
    for room in (ROOT / "src" / "daybreak").iterdir():
        if room.is_dir() and room.name != "__pycache__":
            assert re.search(rf"^\s*{room.name}/", readme, re.MULTILINE), room.name


def test_links_and_pictures_exist() -> None:
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")):
        for target in re.findall(r"\]\((?!https?://|#)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_no_registry_host_or_absolute_path_is_locked() -> None:
    for line in (ROOT / "requirements.lock").read_text().splitlines():
        assert re.fullmatch(r"[A-Za-z0-9_.\-]+==[A-Za-z0-9_.+\-]+", line), line
