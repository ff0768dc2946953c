"""The page of `daybreak --help`."""

import inspect
from importlib import import_module

import pytest

from daybreak.cli import main
from daybreak.cli._help import VERBS


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_has_the_first_line_of_its_docstring(verb: str) -> None:
    doc = inspect.getdoc(getattr(import_module(f"daybreak.cli.{verb}"), verb.capitalize()))
    assert doc is not None
    assert VERBS[verb] == doc.splitlines()[0]


@pytest.mark.parametrize(("columns", "width"), [(20, 40), (80, 80), (300, 120)])
def test_frames_fit_the_terminal(columns: int, width: int, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    framed = [line for line in out.splitlines() if line[:1] in {"╭", "│", "╰"}]
    assert {len(line) for line in framed} == {width}
    words = " ".join(out.replace("│", " ").split())
    assert all(f"• {verb} {about}" in words for verb, about in VERBS.items())
