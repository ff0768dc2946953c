"""Laws: every law of the shipped results is offered with what it was fitted to, and fits to what its study found."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from daybreak.explorer import Workspace, figures
from daybreak.explorer.app import VIEWS
from daybreak.explorer.fit_tables import LAB, fit, fit_table, sources
from daybreak.explorer.laws import LawsState
from daybreak.explorer.view import Drawing
from daybreak.lab import Lab
from daybreak.training import Optimizer
from tests.explorer.conftest import RESULTS
from tests.lab import made

VIEW = VIEWS["laws"]


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """All shipped results, and no lab."""
    return Workspace(tmp_path_factory.mktemp("none") / "lab", RESULTS)


def _laws(workspace: Workspace) -> dict[str, dict]:
    """Every law that a study found, by source; without those of slopes between runs, of which no table has a row."""
    found = [(place, x.document["laws"]) for place, x in workspace.studies().items() if "/trained-times/" not in place]
    return {f"{place}/{name}": law for place, found_laws in found for name, law in found_laws.items()}


def test_every_law_is_offered_and_nothing_else(shipped: Workspace) -> None:
    offered = sources(shipped, shipped.studies())
    assert offered.keys() == _laws(shipped).keys()
    assert len({x.title for x in offered.values()}) == len(offered), "each says what was measured"


@pytest.fixture(scope="module")
def drawn(shipped: Workspace) -> dict[str, Drawing]:
    """Each source as it is shown at first."""
    return {name: VIEW.draw(shipped, LawsState(source=name), figures.LIGHT) for name in _laws(shipped)}


def test_each_source_fits_its_own_law_as_its_study_did(shipped: Workspace, drawn: dict[str, Drawing]) -> None:
    for name, found in _laws(shipped).items():
        drawing = drawn[name]
        assert not drawing.problem, name
        assert drawing.state.law == found["form"]
        assert {drawing.state.x, drawing.state.colour} <= {*found["ranges"], "none"}, "settings, not seeds or measures"
        source, rows = sources(shipped, shipped.studies())[name], drawing.tables["points"]
        law = fit(source, drawing.state.law, rows, fit_table(shipped, source).settings)
        assert law.rows == found["rows"], name
        assert law.coefficients == pytest.approx(found["coefficients"], rel=1e-6), name
        assert np.ravel([(low, high) for low, high in law.intervals.values()]) == pytest.approx(
            np.ravel([*found["intervals"].values()]), rel=1e-6
        )


def test_the_papers_law_stands_where_the_paper_gives_one(drawn: dict[str, Drawing]) -> None:
    with_law = [name for name, drawing in drawn.items() if "paper" in drawing.tables["points"]]
    figure = {name.split("/", 1)[1].replace("/laptop/", " ") for name in with_law}
    assert figure >= {"fig1c plateau", "fig2-left tied", "fig3 plateau", "fig4 5 %", "fig13 plateau", "fig15 sgd"}
    assert not figure & {"fig1c escape_time", "fig2-left free", "fig2-right plateau", "transition-times logits"}


@pytest.mark.parametrize(
    "state",
    [
        {"law": "C * Z**b"},
        {"law": "C * ("},
        {"where": "T > 1e9"},
        {"where": "T >"},
        {"source": "nothing"},
        {"where": "T = 64 and d = 16"},
    ],
)
def test_an_error_clears_the_picture_and_leaves_the_menus(shipped: Workspace, state: dict[str, str]) -> None:
    drawing = VIEW.draw(shipped, LawsState(**state), figures.LIGHT)
    assert drawing.problem.endswith(".")
    assert not any(x["data"] for x in drawing.figures.values())
    assert len(drawing.updates["source", "options"]) == len(_laws(shipped))
    assert "Law" in str(drawing.text), "what to do"


def test_an_address_of_an_earlier_version_names_a_table(shipped: Workspace) -> None:
    drawing = VIEW.draw(shipped, LawsState(source="emergence/fig2-left/laptop/wide"), figures.LIGHT)
    assert drawing.state.source == "emergence/fig2-left/laptop/tied, wide grid"


def test_a_study_of_your_own_is_offered_by_the_name_of_its_law(tmp_path: Path) -> None:
    folder = tmp_path / "results" / "emergence" / "fig99" / "laptop"
    shutil.copytree(RESULTS / "emergence" / "fig1c" / "laptop", folder)
    offered = sources(workspace := Workspace(tmp_path / "lab", tmp_path / "results"), workspace.studies())
    assert {name: x.measurement.y for name, x in offered.items()} == {
        "emergence/fig99/laptop/plateau": "plateau",
        "emergence/fig99/laptop/escape_time": "escape_time",
    }
    document = json.loads((folder / "claims.json").read_text())
    document["laws"]["plateau"]["form"] = "C * Z**a"
    (folder / "claims.json").write_text(json.dumps(document))
    assert list(sources(workspace, workspace.studies())) == ["emergence/fig99/laptop/escape_time"]


def _lab(path: Path, *runs: tuple[int, int, int], outcome: str = "emerged") -> Workspace:
    lab = Lab(path / "lab").open()
    for seed, T, d in runs:
        lab.save(made.run(seed, T=T, d=d), made.record(3.0 * T, outcome=outcome), **made.SOURCE)  # pyright: ignore[reportArgumentType]
    return Workspace(lab.path, path / "results")


@pytest.mark.parametrize(
    ("runs", "form"),
    [
        ([(0, 32, 16)], None),
        ([(0, 32, 16), (1, 32, 16)], "C"),
        ([(0, 32, 16), (1, 32, 16), (0, 64, 16)], "C * T**a"),
        ([(0, 32, 16), (1, 32, 16), (0, 64, 32), (1, 64, 32)], "C * T**a"),  # T and d change together
        ([(seed, T, d) for seed in range(2) for T in (32, 64) for d in (16, 32)], "C * d**a * T**b"),
    ],
)
def test_a_lab_offers_the_largest_law_that_its_runs_identify(
    tmp_path: Path, runs: list[tuple[int, int, int]], form: str | None
) -> None:
    workspace = _lab(tmp_path, *runs)
    offered = sources(workspace, {})
    assert (offered[LAB].form if LAB in offered else None) == form
    assert not VIEW.draw(workspace, LawsState(), figures.LIGHT).problem


def test_configurations_are_named_by_what_their_runs_share(tmp_path: Path) -> None:
    workspace = _lab(tmp_path, *[(seed, T, d) for seed in range(2) for T in (32, 64) for d in (16, 32)])
    drawing = VIEW.draw(workspace, LawsState(colour="configuration"), figures.LIGHT)
    names = {x["name"] for x in drawing.figures["points"]["data"]}
    assert {"T 32, d 16", "T 64, d 16", "T 32, d 32", "T 64, d 32"} <= names
    assert "configuration" not in VIEW.draw(workspace, LawsState(law="C * T**b"), figures.LIGHT).state.colour


def test_a_lab_of_several_kinds_of_runs_offers_the_law_of_one_and_says_when_kinds_are_pooled(tmp_path: Path) -> None:
    lab = Lab(tmp_path / "lab").open()
    for T in (32, 64, 128):
        for seed in range(2):
            slow = Optimizer(learning_rate=1e-5)
            lab.save(made.run(seed, T=T), made.record(2.0 * T), **made.SOURCE)
            lab.save(made.run(seed, T=T, optimizer=slow), made.record(700 - 2.0 * T), **made.SOURCE)
        lab.save(made.run(5, T=T), made.record(2.0 * T), **made.SOURCE)
    lab.save(made.recall(0), made.record(accuracy=True), **made.SOURCE)
    workspace = Workspace(lab.path, tmp_path / "results")
    first = VIEW.draw(workspace, LawsState(), figures.LIGHT)
    assert not first.problem
    assert first.state.law == "C * T**a"
    assert "learning_rate = 0.0001" in first.state.where
    assert "pools" not in str(first.text)
    assert len(first.tables["points"]["T"]) == 9
    assert np.std(first.tables["points"]["residual"]) < 0.1, "the planted law, and not a mixture"
    both = VIEW.draw(workspace, LawsState(where="task = 'single-location'"), figures.LIGHT)
    assert "This law pools 2 kinds of runs, which differ in learning_rate." in str(both.text)
