"""Lightning: a training in two parts has one record, and gradients that are added up are one step."""

from pathlib import Path

from tests.watch.run_script import run_script


def test_resumed_training_has_one_record(tmp_path: Path) -> None:
    result = run_script("lightning", tmp_path)
    assert result["whole"]["steps"] == [1, 3, 5, 7, 9, 11, 12]
    assert result["parts"]["steps"] == [1, 3, 5, 6, 7, 9, 11, 12]  # and a row when the first part ended
    assert result["added"]["steps"] == [0, 2, 4, 6]
    assert all(one["done"] and one["shape"] == [2, 2] for one in result.values())
