"""The papers' settings keep their names, and with them every lab that has runs of theirs."""

from daybreak.training.presets import PRESETS


def test_a_run_of_today_finds_itself_in_a_lab_of_yesterday() -> None:
    # Only a change that makes other measurements may change a name; a new setting is marked `later` (training/run.py).
    assert {name: run.id for name, run in PRESETS.items()} == {
        "paper-a-regression": "0315ae70cd5d3a48",
        "paper-a-recall": "0347f346a3be1476",  # since 2026-11-18 with exactly one copy; before that 85377ab203f6e788
        "paper-b-minimal": "e5a7bdb6919b8a6e",
        "paper-b-full": "22d5f3b254af2043",
        "text-induction": "2dea783aa6a4bd60",
    }
