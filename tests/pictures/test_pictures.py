"""Pictures: drawn without touching the user's settings, stable on disk, with everything they promise on them."""

from pathlib import Path

import matplotlib
import numpy as np
import pytest

from daybreak import pictures, theory


def test_the_users_style_is_left_alone(tmp_path: Path) -> None:
    before = dict(matplotlib.rcParams)
    with pictures.look():
        figure, (ax,) = pictures.panels(["title"])
        ax.plot([0, 1], [0, 1])
        pictures.save(figure, tmp_path / "x")
    assert dict(matplotlib.rcParams) == before
    assert {path.name for path in tmp_path.iterdir()} == {"x.png", "x.pdf"}


def test_law_panel_draws_a_line_and_points_per_series() -> None:
    table = {"d": np.array([1.0, 2.0, 1.0, 2.0]), "T": np.array([8.0, 8.0, 16.0, 16.0]), "plateau": np.arange(1.0, 5.0)}
    _, (ax,) = pictures.panels(["law"])
    pictures.law_panel(ax, table, x="d", series="T", law=lambda rows: rows["plateau"])
    assert len(ax.lines) == 4
    legend = ax.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["8", "16"]


@pytest.mark.parametrize("p", [0.0, 0.2])
def test_portrait_shows_the_repeated_direction_only_where_there_is_one(p: float) -> None:
    line = theory.flow(64, 16, p=p)
    figure = pictures.portrait(line, float(theory.plateau(64, 16, p=p)))
    titles = [ax.get_title(loc="left") for ax in figure.axes[:4]]
    assert titles == ["loss", "weights", "attention", "phase portrait"]
    labels = figure.axes[1].get_legend_handles_labels()[1]
    assert ("w̃" in labels) == (p > 0)


def test_series_are_told_apart() -> None:
    assert len(set(pictures.shades(7))) == 7
