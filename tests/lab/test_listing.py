"""The rules of listings: what differs, what is shared, how a value is written."""

import pyarrow as pa

from daybreak.lab import listing

RUNS = pa.table(
    {
        "id": ["0123456789abcdef", "fedcba9876543210", "00000000ffffffff"],
        "task": ["recall", "recall", "markov"],
        "V": [16, 16, None],
        "T": [8, 16, 8],
        "p": [0.5, 0.5, 0.5],
        "bias": [True, False, None],
        "nothing": pa.nulls(3),
        "outcome": ["emerged", "censored", "failed"],
        "plateau": [1234.4, 99.9, None],
        "censored": [False, True, None],
        "last_step": [1300, 100, None],
        "final_clean_loss": [0.012345, 0.5, None],
        "final_clean_accuracy": pa.nulls(3, pa.float64()),
    }
)


def test_settings_that_only_some_runs_have_come_last() -> None:
    shared, differing = listing.settings(RUNS)
    assert shared == {"p": 0.5}
    assert differing == ["task", "T", "bias", "V"]
    assert listing.settings(RUNS.slice(0, 0)) == ({}, [])
    assert listing.sentence(listing.settings(RUNS.slice(0, 1))[0]) == "task recall, V 16, T 8, p 0.5, bias yes"


def test_cells() -> None:
    columns = {label: listing.cells(RUNS, name) for name, label in listing.measured(RUNS).items()}
    assert columns == {
        "outcome": ["emerged", "censored", "failed"],
        "plateau": ["1,234", "≥ 100", ""],
        "steps": ["1300", "100", ""],
        "loss": ["0.0123", "0.5", ""],
    }
    assert listing.cells(RUNS, "id")[0] == "0123456789ab"
    assert listing.cells(RUNS, "bias") == ["yes", "no", ""]


def test_summary() -> None:
    assert (
        listing.summary(["failed", "emerged", "emerged"], " of one task") == "3 runs of one task: 2 emerged, 1 failed"
    )
    assert listing.summary(["unfinished"]) == "1 run: 1 unfinished"
    assert listing.summary([]) == "No runs"
