"""`daybreak train text` on a file of one's own: trained, drawn, shown, and found again under another path."""

import json
import shlex
import shutil

from daybreak.cli import main

SMALL = shlex.split(
    "--task.vocabulary 300 --task.T 16 --task.passage 4 --model.heads 2 --model.width 16 --model.head-width 8 --stop.budget 4 "
    "--stop.every 2 --batch 4 --evaluation 8"
)


def test_a_text_of_ones_own_is_trained_on_and_shown(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "my.txt").write_text("".join(f"Ünusual Σ 北京 number {i}.\n" for i in range(400)))

    def train(*options: str) -> dict:
        assert main(["train", "text", *SMALL, *options, "--json"]) == 0
        return json.loads(capsys.readouterr().out)["runs"][0]

    run = train("--task.text", "my.txt", "--plot", "text.png")
    assert run["outcome"] == "censored"
    assert {"attention", "previous_token", "second_copy_loss", "in_context_score"} <= run["final"].keys()
    assert (tmp_path / "text.png").stat().st_size > 10_000
    shutil.move("my.txt", "other name.txt")
    assert train("--task.text", "other name.txt")["id"] == run["id"]
    assert main(["runs", "show", run["id"]]) == 0
    shown = capsys.readouterr().out
    assert "induction score, layer" in shown
    assert "my.txt" not in shown
