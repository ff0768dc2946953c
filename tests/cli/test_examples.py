"""`daybreak examples`: what it writes can be swept, and it overwrites nothing."""

from pathlib import Path

import pytest

from daybreak.cli import main
from daybreak.lab.sweeps import sweep
from tests.cli.asking import answer

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_files_of_the_docs_are_written_and_are_sweeps(capsys) -> None:
    data = answer(capsys, "examples")
    assert data["written"] == sorted(x.name for x in (ROOT / "examples").glob("*.toml"))
    assert all(data["examples"].values())
    for name in data["written"]:
        assert sweep.read(Path("examples") / name)
    assert len(sweep.read(Path("examples/small.toml"))) == 12


def test_what_is_there_stays(capsys) -> None:
    answer(capsys, "examples", "mine")
    assert answer(capsys, "examples", "mine")["written"] == []
    changed = Path("mine/small.toml")
    changed.write_text(changed.read_text() + "# mine\n")
    Path("mine/fig3.toml").unlink()
    assert main(["examples", "mine"]) == 2
    assert "small.toml in 'mine' would be overwritten" in capsys.readouterr().err
    assert changed.read_text().endswith("# mine\n")
    assert not Path("mine/fig3.toml").exists(), "a refused request writes nothing"


def test_the_answer_as_text_names_the_next_command(capsys) -> None:
    assert main(["examples"]) == 0
    out = capsys.readouterr().out
    assert "forecast.toml" in out
    assert "Try: daybreak sweep examples/small.toml" in out
