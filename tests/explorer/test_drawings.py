"""Every view as a function from state to drawing: all panels have a picture and data, with and without data."""

import json
import shutil
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from daybreak import theory
from daybreak.errors import RequestError
from daybreak.explorer import Workspace, figures
from daybreak.explorer.app import VIEWS
from daybreak.explorer.flows import FlowSetting, coarse_plateau, plateau
from daybreak.explorer.forecast import ForecastState
from daybreak.explorer.listing import run_page
from daybreak.explorer.runs import smoothed
from daybreak.explorer.runs_state import RunsState, pressed
from daybreak.lab import Lab
from tests.explorer.conftest import GOING, HTML
from tests.lab import made


@pytest.mark.parametrize("view", VIEWS.values(), ids=list(VIEWS))
@pytest.mark.parametrize("colours", [figures.LIGHT, figures.DARK], ids=["light", "dark"])
def test_every_panel_has_a_picture_and_its_data(workspace: Workspace, view, colours: figures.Palette) -> None:
    drawing = view.draw(workspace, view.state(), colours)
    assert drawing.figures.keys() == view.panels.keys()
    assert drawing.tables.keys() >= view.panels.keys()
    for figure in drawing.figures.values():
        json.dumps(figure, allow_nan=False)
        assert figure["layout"]["paper_bgcolor"] == colours.ground
    for table in drawing.tables.values():
        assert len({len(column) for column in table.values()}) == 1


@pytest.mark.parametrize("view", VIEWS.values(), ids=list(VIEWS))
def test_an_empty_desk_says_what_to_do_next(tmp_path: Path, view) -> None:
    drawing = view.draw(Workspace(tmp_path / "lab", tmp_path / "results"), view.state(), figures.LIGHT)
    assert drawing.figures.keys() == view.panels.keys()
    if view.name not in ("theory", "staircase"):
        assert "daybreak " in str(drawing.text)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "setting",
    [FlowSetting(512, 64, 1, 0.0, "tied"), FlowSetting(64, 4, 8, 0.5, "free"), FlowSetting(16, 1, 1, 0.9, "tied")],
)
@pytest.mark.parametrize("level", [0.05, 0.5])
def test_plateaus_under_a_slider_are_those_of_the_theory(setting: FlowSetting, level: float) -> None:
    T, d, B, p, logits = setting
    exact = float(theory.plateau(T, d, B, p, logits=logits, level=level))
    assert plateau(setting, level) == pytest.approx(exact, rel=1e-5)
    assert coarse_plateau(setting, level).length == pytest.approx(exact, rel=1e-2)


def test_text_in_pictures_is_not_obeyed() -> None:
    trace = figures.line([1], [2], "#000000", HTML)
    assert "<" not in trace["name"]


def test_unfinished_runs_are_listed_with_their_settings(workspace: Workspace) -> None:
    found = run_page(workspace.runs(), f"seed = {GOING.seed}", "", 1)
    assert [(row["id"], row["outcome"], row["T"]) for row in found.rows] == [(GOING.id, "unfinished", 64)]
    with pytest.raises(RequestError, match="there is no column"):
        run_page(workspace.runs(), "", "-nothing", 1)
    assert run_page(workspace.runs(), "outcome = emerged", "-plateau", 99).number == 2, "the last page"


def test_runs_of_unknown_tasks_are_shown_as_what_they_are(tmp_path: Path) -> None:
    """One lab with all of them: no view fails, with any of them picked."""
    lab = Lab(tmp_path / "lab").open()
    made.fill(lab, 2)
    names = {made.store(lab, settings, curves): (curves, what) for settings, curves, what in made.UNKNOWN}
    workspace = Workspace(lab.path, tmp_path / "results")
    for view in VIEWS.values():
        with suppress(RequestError):  # the law of a mixed lab may be refused, in a sentence that the page shows
            assert view.draw(workspace, view.state(), figures.LIGHT).figures.keys() == view.panels.keys()
    for name, (curves, what) in names.items():
        drawing = VIEWS["runs"].draw(workspace, RunsState(runs=(name,)), figures.LIGHT)
        assert f"Run {name[:8]}: a record whose {what}" in str(drawing.text)
        assert drawing.figures.keys() == VIEWS["runs"].panels.keys()
        if curves.keys() & {"clean_loss", "clean_accuracy"}:
            drawing = VIEWS["forecast"].draw(workspace, ForecastState(name, 50), figures.LIGHT)
            assert f"A record whose {what}" in str(drawing.text)
        else:
            drawing = VIEWS["forecast"].draw(workspace, ForecastState(name, 50), figures.LIGHT)
            assert "has no forecast: it has neither" in drawing.problem or "has no level" in drawing.problem


def test_buttons() -> None:
    start = RunsState(page=3)
    assert pressed(start, "sort", "T") == RunsState(sort="T")
    assert pressed(RunsState(sort="T"), "sort", "T").sort == "-T"
    picked = pressed(start, "pick", "a")
    assert (picked.runs, pressed(picked, "pick", "a").runs) == (("a",), ())
    many = start
    for name in "abcdefghij":
        many = pressed(many, "pick", name)
    assert many.runs == tuple("cdefghij"), "the last eight"
    assert pressed(start, "turn", "on").page == 4
    assert pressed(start, "rubbish", "x") == start


def test_smoothing_keeps_length_and_mean() -> None:
    values = np.random.default_rng(0).random(50)
    assert smoothed(values, 1) is values
    assert smoothed(values, 5)[10] == pytest.approx(values[8:13].mean())
    assert smoothed(values, 5)[0] == pytest.approx(values[:3].mean())


def test_claims_outside_of_our_grid_are_shown_and_can_be_chosen(results: Path, tmp_path: Path) -> None:
    folder = tmp_path / "results" / "emergence" / "fig1c" / "laptop"
    shutil.copytree(results / "emergence" / "fig1c" / "laptop", folder)
    document = json.loads((folder / "claims.json").read_text())
    document["claims"][0]["verdict"] = "outside"
    (folder / "claims.json").write_text(json.dumps(document))
    broken = folder.parent / "smoke"
    broken.mkdir()
    (broken / "claims.json").write_text('{"claims": [{}]}')
    workspace, view = Workspace(tmp_path / "lab", tmp_path / "results"), VIEWS["claims"]
    assert list(workspace.studies()) == ["emergence/fig1c/laptop"], "what cannot be read is left out"
    drawing = view.draw(workspace, view.state(verdict="outside"), figures.LIGHT)
    assert drawing.tables["claims"]["id"].tolist() == [document["claims"][0]["id"]]
    assert "className='verdict outside'" in str(drawing.text)
