"""Verdicts of trained studies on planted runs: the paper's laws hold where they were planted, and fail where others were."""

import re
from pathlib import Path
from typing import Any

import pytest

from daybreak import pictures, studies
from daybreak.studies import Findings
from daybreak.training import Run
from tests.studies.emergence.planted import findings, tables, verdicts


def _figure_3(run: Run, T: float = 0.8, B: float = 0.8, p: float = 0.3) -> float:
    task: Any = run.task
    return 0.76 * task.d**1.29 * task.T**T / task.B**B / (1 + task.d * task.p) ** p


def _figure_13(run: Run, heads: float = 0.16) -> float:
    model: Any = run.model
    return _figure_3(run, T=0.7) * model.layers**0.06 * model.heads**heads


def _figure_14(run: Run, fixed: float = 0.3) -> float:
    task: Any = run.task
    return 1.43 * task.d**1.31 * task.T**0.58 if task.position == "random" else 4.4 * task.d**1.21 * task.T**fixed


def _figure_15(run: Run, sgd: float = 1.07) -> float:
    task: Any = run.task
    return 6.42 * task.d**1.44 * task.T**sgd if run.optimizer.name == "sgd" else 1.45 * task.d**1.31 * task.T**0.57


def _recall(run: Run, N: float = 2.25, B: float = 1.0, p: float = 0.5) -> float:
    task: Any = run.task
    length = 1.2 * task.V**0.79 * task.N**N / task.B**B / (1 + task.p) ** p
    return length if task.B < 8 else 1e9  # too much repetition: never on clean data


def _by_id(results: Findings) -> dict[str, str]:
    return {claim.id: claim.verdict for claim in results.claims}


def test_figure_3(tmp_path: Path) -> None:
    results = findings("fig3", tmp_path / "a", _figure_3)
    assert _by_id(results) == {"A3": "holds", "A3-B": "holds", "A3-B-train": "holds"}
    assert re.search(r"0\.\d+ d\^1\.(2|3)\d T\^0\.(7|8)\d \+ \d", results.claims[0].ours), "no offset was planted"
    assert re.search(r"exponents of T at d = 16 from 32 to 64: 0\.(7|8)\d", results.claims[0].ours)
    other = verdicts("fig3", tmp_path / "b", lambda run: _figure_3(run, T=0.3, B=0.8), _figure_3)
    assert other == {"A3": "fails", "A3-B": "fails", "A3-B-train": "holds"}, "the last one is about other data"


def test_figure_3_finds_a_start_up_offset(tmp_path: Path) -> None:
    (claim, *_) = findings("fig3", tmp_path, lambda run: _figure_3(run) + 300).claims
    (a, b, offset) = (float(x) for x in re.findall(r"d\^([\d.]+) T\^([\d.]+) \+ (\d+)", claim.ours)[0])
    assert (a, b) == pytest.approx((1.29, 0.8), abs=0.1)
    assert offset == pytest.approx(300, rel=0.3)


def test_figure_3_right(tmp_path: Path) -> None:
    assert verdicts("fig3-right", tmp_path / "a", _figure_3) == {"A3-p": "holds"}
    assert verdicts("fig3-right", tmp_path / "b", lambda run: _figure_3(run, p=-0.3)) == {"A3-p": "fails"}
    same_at_every_d: Any = lambda run: 500 / (1 + run.task.p)  # noqa: E731
    assert verdicts("fig3-right", tmp_path / "c", same_at_every_d)["A3-p"] != "holds"


@pytest.mark.parametrize("name", ["fig3", "fig3-right", "fig12", "fig13", "fig14"])
def test_a_corner_of_the_grid_decides_nothing(name: str, tmp_path: Path) -> None:
    planted = tables(name, tmp_path, _figure_3)
    runs = planted["plateaus"]
    small = planted | {"plateaus": runs | {x: runs[x] / 4 for x in "Td"}}
    for claim in studies.find(name).judge(small).claims:
        assert claim.verdict == "outside"
        assert "these runs have T" in claim.note


def test_figure_4(tmp_path: Path) -> None:
    results = findings("fig4", tmp_path / "a", _recall)
    assert _by_id(results) == {"A4": "holds", "A4-law": "holds", "A4-sharp": "holds"}
    assert results.laws["above the guess"].coefficients["b"] == pytest.approx(2.25, abs=0.1)
    assert verdicts("fig4", tmp_path / "b", lambda run: _recall(run, N=0.9))["A4"] == "fails"


def test_figure_5_and_16(tmp_path: Path) -> None:
    everywhere = lambda run: _recall(run) if run.task.B < 8 else 60.0  # noqa: E731
    assert verdicts("fig5", tmp_path / "a", _recall, everywhere) == {
        "A5": "holds",
        "A5-p": "holds",
        "A5-overfit": "holds",
    }
    assert verdicts("fig16", tmp_path / "b", _recall, everywhere) == {"A16": "holds"}
    slower = lambda run: _recall(run, B=-0.5, p=-1.0)  # noqa: E731
    assert verdicts("fig5", tmp_path / "c", slower, slower)["A5"] == "fails"
    assert verdicts("fig16", tmp_path / "d", slower, slower) == {"A16": "fails"}


def test_figure_11(tmp_path: Path) -> None:
    assert verdicts("fig11", tmp_path, _figure_3) == {"A11": "holds"}


def test_figure_12(tmp_path: Path) -> None:
    earlier = lambda run: _figure_3(run, p=0.5)  # noqa: E731
    results = verdicts("fig12", tmp_path / "a", _figure_3, earlier)
    assert results["A12"] == "holds"
    assert results["A12-temporary"] == "fails", "the planted drop is as sharp as the plateau is short"
    assert verdicts("fig12", tmp_path / "b", lambda run: _figure_3(run, p=-0.3), earlier)["A12"] == "fails"


def test_figure_13(tmp_path: Path) -> None:
    as_paper = verdicts("fig13", tmp_path / "a", _figure_13)
    assert as_paper == {"A13": "holds", "A13-exponents": "holds", "A13-d-T": "holds"}
    assert verdicts("fig13", tmp_path / "b", lambda run: _figure_13(run, heads=0.6))["A13"] == "fails"
    no_effect = verdicts("fig13", tmp_path / "c", lambda run: _figure_13(run, heads=-0.1))
    assert (no_effect["A13"], no_effect["A13-exponents"]) == ("holds", "fails")


def test_figure_14(tmp_path: Path) -> None:
    assert set(verdicts("fig14", tmp_path / "a", _figure_14).values()) == {"holds"}
    assert verdicts("fig14", tmp_path / "b", lambda run: _figure_14(run, fixed=0.9))["A14"] == "fails"


def test_figure_15(tmp_path: Path) -> None:
    assert verdicts("fig15", tmp_path / "a", _figure_15) == {"A15": "holds", "A15-grows": "holds", "A15-laws": "holds"}
    assert verdicts("fig15", tmp_path / "b", lambda run: _figure_15(run, sgd=0.3))["A15-grows"] == "fails"


def test_figure_17(tmp_path: Path) -> None:
    assert verdicts("fig17", tmp_path, _recall) == {"A17": "holds", "A17-layers": "holds", "A17-heads": "holds"}


@pytest.mark.parametrize(
    "name", ["fig3", "fig3-right", "fig4", "fig5", "fig11", "fig12", "fig13", "fig14", "fig15", "fig16", "fig17"]
)
def test_pictures(name: str, tmp_path: Path) -> None:
    study, law = studies.find(name), _recall if name in ("fig4", "fig5", "fig16", "fig17") else _figure_3
    planted = tables(name, tmp_path, law)
    with pictures.look():
        figure = study.draw(planted, study.judge(planted))
    (path,) = pictures.save(figure, tmp_path / "figure", [".png"])
    assert path.stat().st_size > 10_000
