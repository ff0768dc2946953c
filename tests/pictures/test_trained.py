"""Pictures of trained runs: laws across the panel with bands, ticks that can be read, and captions."""

from itertools import pairwise

import numpy as np
import pytest

from daybreak import measure, pictures


def _runs() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    d, T = (x.ravel() for x in np.meshgrid(np.repeat([8.0, 16, 32], 5), [16.0, 64]))
    steps = 2 * d**1.3 * T**0.8 * np.exp(0.1 * rng.normal(size=d.size))
    cut = (d == 32) & (T == 64)
    return {"d": d, "T": T, "plateau": steps, "censored": cut & (np.cumsum(cut) == 1)}


def test_laws_cross_the_panel_with_the_band_of_new_runs() -> None:
    runs = _runs()
    only = {name: x[(runs["T"] == 16) | (runs["d"] == 8)] for name, x in runs.items()}  # the longer one at one d only
    law = measure.fit_law("C * d**a * T**b", runs)
    _, (ax,) = pictures.panels(["law"])
    pictures.plateau_panel(ax, only, x="d", series="T", law=law, paper=lambda rows: rows["d"] * rows["T"])
    lines = [np.asarray(x.get_xdata()) for x in ax.lines if x.get_linestyle() in ("-", "--")]
    assert [x[[0, -1]].tolist() for x in lines if x.size] == [pytest.approx([8, 32])] * 4, "two laws for each length"
    for band, T in zip(ax.collections, (16, 64), strict=True):
        low, high = law.predict_interval({"d": [8.0, 32.0], "T": [T, T]})
        extent = band.get_paths()[0].get_extents()
        assert (extent.y0, extent.y1) == pytest.approx((low[0], high[1]))


def test_a_run_that_did_not_emerge_is_hollow_and_named() -> None:
    _, (ax,) = pictures.panels(["plateaus"])
    pictures.plateau_panel(ax, _runs(), x="d", series="T")
    labels = ax.get_legend_handles_labels()[1]
    assert labels == ["16", "64", "censored"]


@pytest.mark.parametrize(("low", "high"), [(50, 1000), (100, 350), (120, 200), (3, 9e5), (151, 189)])
def test_a_logarithmic_axis_names_a_few_round_numbers(low: float, high: float) -> None:
    figure, (ax,) = pictures.panels(["ticks"])
    ax.set(yscale="log", ylim=(low, high))
    pictures.plain_numbers(ax.yaxis)
    figure.canvas.draw()
    names = [x.get_text() for x in ax.get_yticklabels()]
    values = [float(x.replace(",", "")) for x in names]
    assert 3 <= len(names) <= 9
    assert all(low <= x <= high for x in values)
    assert all(float(f"{x:.2g}") == x or high / low < 1.5 for x in values), "round numbers"
    assert not [x for x in ax.get_yticklabels(minor=True) if x.get_text()], "no minor names that would overlap"
    boxes = [x.get_window_extent() for x in ax.get_yticklabels()]
    assert all(a.y1 < b.y0 for a, b in pairwise(boxes)), "none touches the next"


def test_a_caption_stays_below_its_panels_and_within_the_figure() -> None:
    figure, axes = pictures.panels(["one", "two"], width=2.4)
    pictures.caption(figure, "T in {32, 64, 128, 256}; three seeds. " * 4)
    figure.canvas.draw()
    (text,) = [x for x in figure.texts if x.get_text()]
    box, width = text.get_window_extent(), figure.bbox.width
    assert box.x1 <= width and box.y0 >= 0
    assert all(box.y1 <= ax.get_tightbbox().y0 for ax in axes)  # pyright: ignore[reportOptionalMemberAccess]
