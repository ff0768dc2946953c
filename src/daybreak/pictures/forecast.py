"""A run, and its forecast as it was at each step, with the step at which it emerged."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from daybreak.lab.reading.outlook import Outlook
from daybreak.measure import Forecast
from daybreak.pictures.style import NEUTRAL, OURS, PAPER, look, panels

_MOMENTS = 80  # steps at which the forecast is drawn


def forecast_picture(seen: Outlook, at: int) -> Figure:
    """Draw the watched curve, attention of every head, and the forecast over the steps at which it was made, until `at`."""
    with look():
        figure, (curve, attention, band) = panels(
            [seen.name, "attention to relevant positions", "forecast, as it was at each step"], width=4.2, height=3.2
        )
        _with_future(curve, seen, at)
        if seen.attention.size:
            attention.plot(seen.probe_steps, seen.attention, color=OURS, lw=0.8, alpha=0.7)
            attention.set(yscale="log", ylim=(None, 1.2))
        else:
            attention.text(0.5, 0.5, "not measured", transform=attention.transAxes, ha="center")
        _band(band, seen, at)
        for ax in (curve, attention):
            ax.axvline(at, color=NEUTRAL, lw=0.8)
            ax.axvspan(at, max(at, seen.steps[-1]), color=NEUTRAL, alpha=0.1, lw=0)
            ax.set(xlabel="step", xlim=(0, None))
        curve.legend()
        return figure


def _with_future(ax: Axes, seen: Outlook, at: int) -> None:
    ax.plot(seen.steps, seen.values, color=OURS)
    ax.axhline(seen.level, color=NEUTRAL, lw=0.8, ls="--", label=f"emerged: {seen.level:g}")
    forecast = seen.at(at)
    if isinstance(forecast, Forecast):
        ax.axvspan(*forecast.interval, color=PAPER, alpha=0.25, lw=0, label="80 %")
        ax.axvline(forecast.median, color=PAPER, lw=1.2, label="forecast")
    if not seen.rising:
        ax.set(yscale="log")


def _band(ax: Axes, seen: Outlook, at: int) -> None:
    steps = seen.steps[seen.steps <= at]
    moments = steps[np.unique(np.linspace(0, steps.size - 1, min(_MOMENTS, steps.size)).round().astype(int))]
    forecasts = [x for x in (seen.at(int(step)) for step in moments) if isinstance(x, Forecast)]
    if forecasts:
        x = [one.at for one in forecasts]
        ax.fill_between(
            x,
            [one.interval.low for one in forecasts],
            [one.interval.high for one in forecasts],
            color=PAPER,
            alpha=0.25,
            lw=0,
            label="80 %",
        )
        ax.plot(x, [one.median for one in forecasts], color=PAPER, label="forecast")
    else:
        ax.text(0.5, 0.5, "not enough evidence at any step", transform=ax.transAxes, ha="center")
    if seen.truth is not None and not seen.truth.censored:
        ax.axhline(seen.truth.length, color=OURS, lw=1.2, ls=":", label="emerged")
    ax.plot([0, steps[-1]], [0, steps[-1]], color=NEUTRAL, lw=0.8, label="now")
    ax.set(xlabel="step of the forecast", ylabel="step of emergence", xlim=(0, None), ylim=(0, None))
    ax.legend(loc="best")
