"""Law: train small models of four sizes, and fit how their plateau grows.

Open it with `make notebooks`, or run it from top to bottom with `python notebooks/law.py`.
"""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="Law: how does the plateau grow?")


@app.cell
def _():
    import marimo as mo

    from daybreak import measure, models, pictures, tasks, training

    return measure, mo, models, pictures, tasks, training


@app.cell
def _(mo):
    mo.md("""
    # How does the plateau grow?

    The toy model is trained at two sequence lengths T and two dimensions d, with a few seeds each. The plateau of a run is the number of
    steps until its loss crosses the level. A power law is fitted to all of them. Theory predicts exponents of ½ for d and 1 for T,
    for long sequences.
    """)
    return


@app.cell
def _(mo):
    seeds = mo.ui.slider(1, 5, value=2, label="seeds", show_value=True)
    level = mo.ui.slider(steps=[0.05, 0.1, 0.2, 0.3], value=0.1, label="level of the loss", show_value=True)
    form = mo.ui.dropdown(["C * d**a * T**b", "C * (sqrt(d) * T)**b", "C * T**b"], "C * d**a * T**b", label="law")
    mo.vstack([seeds, level, form])
    return form, level, seeds


@app.cell
def _(models, seeds, tasks, training):
    records, settings = [], []
    for _T in (8, 32):
        for _d in (8, 16):
            _task = tasks.SingleLocation(T=_T, d=_d, position="fixed", feature=False)
            _stop = training.Stop(budget=40 * _T, every=max(_T // 4, 1), level=0.05)
            _runs = [
                training.Run(_task, models.ToyAttention(), training.Optimizer("sgd", 1.0), _stop, seed=seed, batch=64)
                for seed in range(seeds.value)
            ]
            records += training.train(_runs)
            settings += [(_T, _d)] * len(_runs)
    return records, settings


@app.cell
def _(form, level, measure, mo, records, settings):
    plateaus = [measure.plateau(x.steps, x.curves["clean_loss"], level.value) for x in records]
    table = {
        "T": [T for T, _ in settings],
        "d": [d for _, d in settings],
        "plateau": [x.length for x in plateaus],
        "censored": [x.censored for x in plateaus],
    }
    law = measure.fit_law(form.value, table)
    mo.md(f"**{law}**\n\n{len(plateaus)} runs, {sum(table['censored'])} of them censored.")
    return law, table


@app.cell
def _(law, pictures, table):
    import numpy as np

    with pictures.look():
        picture, (_ax,) = pictures.panels(["measured (points) and law (lines)"], width=5, height=3.2)
        _columns = {name: np.array(x) for name, x in table.items()}
        for _value, _color in zip((8, 16), pictures.shades(2), strict=True):
            _of = _columns["d"] == _value
            _ax.plot(_columns["T"][_of], _columns["plateau"][_of], "o", color=_color, label=f"d = {_value}")
            _line = {"T": np.array([8, 32]), "d": np.full(2, _value)}
            _ax.plot(_line["T"], law.predict(_line), color=_color)
        _ax.set_yscale("log")
        pictures.logarithmic(_ax, _columns["T"], label="T")
        _ax.set_ylabel("plateau (steps)")
        _ax.legend()
    picture.set_dpi(70)
    picture
    return


if __name__ == "__main__":
    app.run()
