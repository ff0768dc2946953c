"""Forecasts of a watched training: from records that are planted."""

from pathlib import Path

import numpy as np
import pytest

from daybreak.errors import RequestError
from daybreak.lab import ObservedRun
from daybreak.measure import Forecast, NotEnoughEvidence, Plateau
from daybreak.watch.outlook import checked, outlook
from daybreak.watch.record import Emerges, Record

INDUCTION = Emerges("induction", 0.3, "up")
HEADS = 16
TAKEOFF = 2000.0


def _record(until: float, *, lab: Path | None = None, grows: bool = True) -> Record:
    """Two of sixteen heads grow on the clock of `measure.forecast`, and the others drift by a third."""
    from scipy import special

    record = Record(lab, "planted", {}, INDUCTION, lambda sentence: None)
    for step in np.arange(0, until + 1, 40):
        drift = 0.014 * (1 + 0.3 * step / 2000 * np.sin(np.arange(HEADS)))
        if grows:
            odds = 0.014 / 0.986 * np.exp(special.erfinv(min(step / TAKEOFF, 0.9999)) ** 2)
            drift[[3, 7]] = odds / (1 + odds)
        record.append(int(step), {"induction": drift.reshape(2, 8), "loss": 3.5})
    return record


def test_no_forecast_from_drift() -> None:
    answer = outlook(_record(1900, grows=False), INDUCTION, "induction")
    assert isinstance(answer, NotEnoughEvidence)
    assert "no head has 2 times the induction" in answer.reason


def test_growth_of_two_heads_in_sixteen_is_forecast() -> None:
    answer = outlook(_record(1600), INDUCTION, "induction")
    assert isinstance(answer, Forecast)
    assert answer.median == pytest.approx(TAKEOFF, rel=0.2)
    assert answer.interval.low < answer.median < answer.interval.high


def test_attention_in_percent_is_not_read_as_attention_that_does_not_grow() -> None:
    record = Record(None, "planted", {}, INDUCTION, lambda sentence: None)
    for i, step in enumerate(range(0, 400, 20)):
        record.append(step, {"induction": np.full((1, 2), 6.0 + i), "loss": 3.5})
    answer = outlook(record, Emerges("loss", 0.1, "down"), "induction")
    assert isinstance(answer, NotEnoughEvidence)
    assert answer.reason == "induction is no attention: it lies between 6 and 25, not between 0 and 1."


def test_emerged() -> None:
    record = _record(1600)
    record.append(1700, {"induction": np.full((2, 8), 0.5)})
    answer = outlook(record, INDUCTION, "induction")
    assert isinstance(answer, Plateau)
    assert 1600 < answer.length <= 1700


def test_a_prior_is_evidence_from_the_start() -> None:
    answer = outlook(_record(400, grows=False), INDUCTION, "induction", (1000.0, 0.1))
    assert isinstance(answer, Forecast)
    assert answer.median == pytest.approx(1000, rel=0.02)


def test_another_curve_needs_a_level() -> None:
    record = _record(400)
    assert checked(record, "loss", 1.0, "down") == Emerges("loss", 1.0, "down")
    with pytest.raises(RequestError, match="there is no curve 'accuracy': there are induction, loss"):
        checked(record, "accuracy", 0.5, "up")
    with pytest.raises(RequestError, match="level is missing"):
        checked(record, "loss", None, None)


def test_rows_survive_in_the_lab_and_are_read_again(tmp_path: Path) -> None:
    first = _record(400, lab=tmp_path / "lab")
    assert first.id is not None
    again = Record(tmp_path / "lab", "planted", {}, INDUCTION, pytest.fail)
    again.resume(first.id, 200)
    steps, table = again.curve("induction")
    assert steps.tolist() == list(range(0, 201, 40)) and table.shape == (6, HEADS)
    again.append(240, {"loss": 3.0})
    again.finish()
    assert (tmp_path / "lab" / "runs" / first.id / "result.json").exists()


def test_a_lost_record_begins_anew(tmp_path: Path) -> None:
    said: list[str] = []
    record = Record(tmp_path / "lab", "planted", {}, INDUCTION, said.append)
    record.resume("0123456789abcdef", 10)
    record.append(11, {"loss": 1.0})
    assert len(said) == 1 and "the record before the checkpoint is lost" in said[0]
    assert record.id is not None


def _finished(lab: Path, seed: int, step: float, **settings: float) -> None:
    """A run of the lab whose induction score reaches 0.3 at a step."""
    run = ObservedRun.begin(lab, "before", {"batch": 8, "seed": seed} | settings, **INDUCTION._asdict())
    run.extend(np.array([0, step - 1, step]), {"induction": np.array([[0.01], [0.01], [0.3]], np.float32)})
    run.finish()


def _prediction(lab: Path, form: str | None = None, **settings: float) -> tuple[float, float] | None:
    return Record(lab, "now", {"batch": 8} | settings, INDUCTION, pytest.fail).prediction(form)


def test_other_seeds_of_the_lab_predict_a_run(tmp_path: Path) -> None:
    """Planted: seeds of batch 8 emerge at 1000 to 1100, those of batch 16 at 3000."""
    lab = tmp_path / "lab"
    assert _prediction(lab) is None, "a lab that does not exist says nothing"
    _finished(lab, 0, 1000)
    _finished(lab, 1, 1100)
    _finished(lab, 0, 3000, batch=16)
    before = sorted(tmp_path.rglob("*"))
    two, other = _prediction(lab, seed=2), _prediction(lab, seed=2, batch=16)
    assert two is not None and other is not None
    assert two[0] == pytest.approx(1049, abs=1)
    assert other[0] == pytest.approx(3000, abs=1)
    assert two[1] < other[1], "two runs say more than one"
    assert _prediction(lab, seed=2, batch=32) is None
    assert sorted(tmp_path.rglob("*")) == before, "it is only read"
    law = _prediction(lab, "C * batch**a", batch=32)
    assert law is not None and 6000 < law[0] < 12000
    with pytest.raises(RequestError, match="names 'width'"):
        _prediction(lab, "C * width**a")


def test_a_prediction_that_is_outlived_is_given_up_and_said_so() -> None:
    answer = outlook(_record(1600, grows=False), INDUCTION, "induction", (500.0, 0.1))
    assert isinstance(answer, NotEnoughEvidence)
    assert "by its law it should have emerged" in answer.reason
