"""The files of docs/guides/own.md, as a user writes them."""

import re
from pathlib import Path

_PAGE = (Path(__file__).parents[1] / "docs" / "guides" / "own.md").read_text()
FILES = {
    name: re.search(rf"^## {heading}$.*?```python\n(.*?)```", _PAGE, re.MULTILINE | re.DOTALL)
    for name, heading in (("needle.py", "A task"), ("bag.py", "A model"))
}
NEEDLE, BAG = (found[1] if found else "" for found in FILES.values())


def write(folder: Path, needle: str = NEEDLE, bag: str = BAG) -> Path:
    """Both files in a folder."""
    (folder / "needle.py").write_text(needle)
    (folder / "bag.py").write_text(bag)
    return folder
