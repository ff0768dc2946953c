"""Forecast: choose a step of a run, and see what would have been predicted there.

Open it with `make notebooks`, or run it from top to bottom with `python notebooks/forecast.py`.
"""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="Forecast: when will it emerge?")


@app.cell
def _():
    import marimo as mo
    import numpy as np

    from daybreak import measure, models, pictures, tasks, training

    return measure, mo, models, np, pictures, tasks, training


@app.cell
def _(mo):
    mo.md("""
    # When will it emerge?

    A small model is trained to its end. Then it is forgotten how it ends: choose a step, and the forecast uses only what was measured until
    that step. The loss is flat, but attention to the relevant token grows. Replace `steps`, `losses` and `attention` by arrays of
    your own to forecast your own run.
    """)
    return


@app.cell
def _(models, tasks, training):
    _task = tasks.SingleLocation(T=64, d=16, position="fixed", feature=False)
    _stop = training.Stop(budget=2000, every=10, level=0.1, margin=0.3)
    _run = training.Run(_task, models.ToyAttention(), training.Optimizer("sgd", 1.0), _stop, batch=64)
    (record,) = training.train([_run])
    steps, losses = record.steps, record.curves["clean_loss"]
    attention = record.curves["attention"].reshape(len(steps), -1)
    return attention, losses, steps


@app.cell
def _(mo, steps):
    at = mo.ui.slider(
        steps=[int(x) for x in steps[3:]], value=int(steps[len(steps) // 2]), label="step", show_value=True
    )
    at
    return (at,)


@app.cell
def _(at, attention, losses, measure, mo, steps):
    def forecast(step):
        so_far = steps <= step
        return measure.forecast(steps[so_far], losses[so_far], 0.1, attention[so_far])

    truth = measure.plateau(steps, losses, 0.1)
    mo.md(f"At step {at.value}: **{forecast(at.value)}**. It emerged at step {truth}.")
    return forecast, truth


@app.cell
def _(at, attention, forecast, losses, measure, np, pictures, steps, truth):
    _seen = map(forecast, steps[3 : 1 + np.searchsorted(steps, at.value)])
    _known = [x for x in _seen if isinstance(x, measure.Forecast)]
    with pictures.look():
        picture, (_loss, _attention, _band) = pictures.panels(["loss", "attention", "forecast at each step"], width=3.4)
        _loss.plot(steps, losses, color=pictures.OURS)
        _attention.semilogy(steps, attention, color=pictures.OURS)
        for _ax in (_loss, _attention):
            _ax.axvspan(at.value, steps[-1], color=pictures.NEUTRAL, alpha=0.2, lw=0)
            _ax.set_xlabel("step (grey: not known yet)")
        if _known:
            _x = [x.at for x in _known]
            _low, _high = [x.interval.low for x in _known], [x.interval.high for x in _known]
            _band.fill_between(_x, _low, _high, color=pictures.PAPER, alpha=0.25, lw=0, label="80 %")
            _band.plot(_x, [x.median for x in _known], color=pictures.PAPER, label="forecast")
        _band.axhline(truth.length, color=pictures.OURS, ls=":", label="emerged")
        _band.set(xlabel="step of the forecast", ylim=(0, None))
        _band.legend()
    picture.set_dpi(70)
    picture
    return


if __name__ == "__main__":
    app.run()
