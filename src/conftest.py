"""Doctests are looked for in every module but those that import PyTorch: it warns, and warnings are errors in tests."""

from pathlib import Path

_WATCH = Path(__file__).parent / "daybreak" / "watch"
_WITH_TORCH = ("import torch", "from torch", "from transformers", "from lightning", "from daybreak.watch.watch")

collect_ignore = [
    str(file)
    for file in _WATCH.rglob("*.py")
    if any(line.startswith(_WITH_TORCH) for line in file.read_text(encoding="utf-8").splitlines())
]
