"""Ask the command, and take its answer as data."""

import json

import pytest

from daybreak.cli import main


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict:
    assert main([*arguments, "--json"]) == 0
    out, err = capsys.readouterr()
    assert not err
    return json.loads(out)
