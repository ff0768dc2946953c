"""Training never ends because it is watched: one warning says what is missing, and nothing else happens."""

import pytest

from daybreak.lab import rows
from tests.watch.run_script import run_script

SAID = {
    "none": "no attention was found in a Language",
    "flash": "no attention was found in a Language",
    "short": None,  # the context is found out
    "shortest": "no probe batch for a context of 6",
    "three": "no probe batch for 3 token ids",
    "nan": "the loss is stored but not finite",
    "probe": "probe 'mine' failed (ValueError: no such thing)",
    "log": "log failed (ValueError: no such thing)",
    "attention": "the model is not probed: ValueError: no such thing.",
    "no_lab": "this folder has other files in it and is not a lab",
    "nowhere": None,
    "setting": "setting 'a list' is not allowed",
    "seeds": None,
    "own": None,
    "no_law": None,
    "wrong_law": "no law is used: law 'C * width**a' names 'width'",
    "full": "takes no more rows, and those before can be read",
}


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> dict:
    folder = tmp_path_factory.mktemp("bad")
    return {"folder": folder, **run_script("bad", folder)}


def test_training_goes_on(result: dict) -> None:
    for name, said in SAID.items():
        one = result[name]
        assert one["steps"] == 25, name
        assert len(one["said"]) == (said is not None), (name, one["said"])
        assert said is None or said in one["said"][0], (name, one["said"])
    assert result["broken"]["steps"] == 25
    assert len(result["broken"]["said"]) == 2  # probes, and the loss
    _wrong_arguments_are_refused(result["refused"])
    _functions_are_called(result["calls"])
    _other_seeds_of_the_lab_are_evidence(result)
    _losses_are_kept_where_attention_is_missing(result)
    _rows_before_a_full_disk_can_be_read(result)


def _wrong_arguments_are_refused(said: dict[str, str]) -> None:
    assert said["share"].startswith("share = 0 is not allowed")
    assert "choose 'loss' or a probe, 'induction'" in said["curve"]
    assert said["level"] == "level is missing: state the value of entropy that counts as emerged."
    assert said["probes"].startswith("probe 'induction' is not allowed")
    assert said["text"] == "text = (2,) is not allowed: give ids of shape (batch, length)."


def _functions_are_called(result: dict) -> None:
    steps = [step for step, _ in result["logged"]]
    assert steps == sorted(set(steps)) and {0, 5, 10, 15, 20, 24} <= set(steps)
    first = result["logged"][0][1]
    assert {"watch/loss", "watch/induction_max", "watch/induction_mean", "watch/copying", "watch/emerged"} <= set(first)
    assert all(isinstance(value, float) for value in first.values())
    assert result["emerged"] == [0.0] and result["said"] == []


def _other_seeds_of_the_lab_are_evidence(result: dict) -> None:
    assert result["seeds"]["forecast"].startswith(("419, 80 % between ", "420, 80 % between "))
    assert result["own"]["forecast"].startswith("900, 80 % between ")
    for name in ("no_law", "wrong_law"):
        assert result[name]["forecast"].startswith("not enough evidence: no head has 2 times the induction")


def _losses_are_kept_where_attention_is_missing(result: dict) -> None:
    for name in ("none", "three", "nan", "attention"):
        steps, curves = rows.read(result["folder"] / "lab" / "runs" / result[name]["id"])
        assert "loss" in curves and steps[-1] == 24, name
    assert "induction" in result["nan"]["curves"] and "copying" in result["none"]["curves"]


def _rows_before_a_full_disk_can_be_read(result: dict) -> None:
    steps, curves = rows.read(result["folder"] / "lab" / "runs" / result["full"]["id"])
    assert steps.tolist()[:1] == [0] and "induction" in curves
    assert "induction" in result["full"]["curves"]  # forecasts go on from memory
