"""The trained minimal model against the flow: planted laws get the verdicts they deserve, and a short run follows the flow."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

from daybreak import pictures
from daybreak.lab import Saved
from daybreak.lab.result import Result
from daybreak.studies._study import Tables
from daybreak.studies.incremental import trained_times
from daybreak.training import to_json, train

Law = Callable[[float, float, float, float], float]
DATA: Any = trained_times.STUDY.data


def closed(T: float, H: float, m: float, eps: float) -> float:
    return T * (m**2 - 1) / (4 * H) * (np.log(1 / eps) + 2) ** 2


def planted(law: Law, *, cut: float = np.inf) -> Tables:
    """The tables of the laptop grid, with 3 % of scatter; runs longer than `cut` are censored there."""
    noise = np.random.default_rng(0)
    rows = []
    for run in DATA.runs("laptop"):
        task, model = run.task, run.model
        setting = {"T": task.interface.length, "H": model.heads, "m": task.m, "eps": model.epsilon}
        exact = law(*setting.values())
        time = exact * np.exp(0.03 * noise.normal())
        rows.append({**setting, "seed": run.seed, "time": min(time, cut), "censored": time > cut, "flow": exact})
    times = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    ends = [(i, t, x) for i in range(len(rows)) for t, x in ((0.0, 1.0), (times["time"][i], 0.1))]
    curves = {name: np.array([rows[i][name] for i, _, _ in ends]) for name in ("T", "H", "m", "eps", "seed")}
    curves |= {"t": np.array([t for _, t, _ in ends]), "excess": np.array([x for _, _, x in ends])}
    return {"times": times, "curves": curves | {"flow": curves["excess"]}}


def verdicts(law: Law, **how: Any) -> dict[str, str]:
    claims = trained_times.STUDY.judge(planted(law, **how)).claims
    return {claim.id.removeprefix("B-trained-"): claim.verdict for claim in claims}


def test_the_closed_form_holds_on_every_axis() -> None:
    assert set(verdicts(closed).values()) == {"holds"}


@pytest.mark.parametrize(
    ("axis", "law"),
    [
        ("T", lambda T, H, m, eps: closed(np.sqrt(8 * T), H, m, eps)),
        ("H", lambda T, H, m, eps: closed(T, 3, m, eps)),
        ("m", lambda T, H, m, eps: closed(T, H, np.sqrt(1 + (m**2 - 1) ** 2), eps)),
        ("eps", lambda T, H, m, eps: T * (m**2 - 1) / H * np.log(1 / eps)),
    ],
)
def test_another_law_fails_on_its_axis(axis: str, law: Law) -> None:
    found = verdicts(law)
    assert found[axis] == "fails"
    assert [found[x] for x in ("T", "H", "m") if x != axis] == ["holds"] * (3 - (axis != "eps"))


def test_runs_that_were_too_short_are_left_out_and_counted() -> None:
    claims = {x.id: x for x in trained_times.STUDY.judge(planted(closed, cut=300.0)).claims}
    assert "too short: 0." not in claims["B-trained-m"].note
    assert "Censored: 0." not in claims["B-trained-flow"].note
    none = trained_times.STUDY.judge(planted(closed, cut=1e-3)).claims
    assert {x.verdict for x in none} == {"undecided", "fails"}
    assert none[0].ours.startswith("squared slope not fitted")


def test_the_picture_shows_every_axis() -> None:
    tables = planted(closed)
    with pictures.look():
        figure = trained_times.STUDY.draw(tables, trained_times.STUDY.judge(tables))
    assert len(figure.axes) == 5


def test_a_run_follows_the_flow_from_its_own_first_logits() -> None:
    """Loss of a short run by SGD on large batches, against the flow in its clock, with nothing fitted."""
    run = trained_times._run(9, 4, 2, 2.0, 0.3, 7, 2000)
    (record,) = train([run])
    saved = Saved(to_json(run), record, Result(run.id, record.outcome, None, int(record.steps[-1]), {}, 1.0), {})
    tables = DATA.tables([saved])
    curves = tables["curves"]
    falling = curves["flow"] > 0.25
    assert falling.sum() > 5
    np.testing.assert_allclose(curves["excess"][falling], curves["flow"][falling], atol=0.08)
    assert tables["times"]["time"][0] == pytest.approx(tables["times"]["flow"][0], rel=0.3)


def test_every_setting_has_the_two_noises_of_its_slope() -> None:
    runs: list[Any] = DATA.runs("laptop")
    seen = {(x.task.interface.length, x.model.heads, x.task.m, x.model.epsilon, x.seed) for x in runs}
    assert len(seen) == len(runs)
    for (T, H, m, _, seed), eps in product(seen, (1e-2, 1e-4)):
        assert (T, H, m, eps, seed) in seen
