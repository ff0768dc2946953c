"""Theory: move T, d, B and p, and see when the toy model emerges.

Open it with `make notebooks`, or run it from top to bottom with `python notebooks/theory.py`.
"""

import marimo

__generated_with = "0.25.2"
app = marimo.App(
    width="medium",
    app_title="Theory: when does the toy model emerge?",
)


@app.cell
def _():
    import marimo as mo
    import numpy as np

    from daybreak import pictures, theory

    return mo, np, pictures, theory


@app.cell
def _(mo):
    mo.md("""
    # When does the toy model emerge?

    One layer of attention must find the relevant one of **T** tokens of dimension **d**. The relevant token stands at **B** positions, and
    with probability **p** it is always the same token. Move a slider: everything below is computed again.
    """)
    return


@app.cell
def _(mo):
    T = mo.ui.slider(steps=[16, 32, 64, 128, 256, 512, 1024], value=256, label="T, tokens", show_value=True)
    d = mo.ui.slider(steps=[4, 16, 64, 256], value=64, label="d, dimensions", show_value=True)
    B = mo.ui.slider(steps=[1, 2, 4, 8], value=1, label="B, copies", show_value=True)
    p = mo.ui.slider(0.0, 0.5, 0.1, value=0.0, label="p, probability of the repeated token", show_value=True)
    logits = mo.ui.radio(["tied", "free"], value="tied", label="logits of the copies", inline=True)
    mo.vstack([T, d, B, p, logits])
    return B, T, d, logits, p


@app.cell
def _(B, T, d, logits, mo, p, theory):
    setting = {"T": T.value, "d": d.value, "B": B.value, "p": p.value, "logits": logits.value}
    plateau = float(theory.plateau(**setting))
    estimate = float(theory.plateau_estimate(**setting))
    escape = float(theory.escape_time(**setting, eps=0.8))
    without = float(theory.plateau(T=T.value, d=d.value, logits=logits.value))
    mo.md(
        f"""
        | | flow time | |
        |---|---|---|
        | plateau of the flow | {plateau:,.0f} | {without / plateau:.2f} times faster than without repetition |
        | our closed form | {estimate:,.0f} | {estimate / plateau - 1:+.1%} |
        | the paper's escape time | {escape:,.0f} | {escape / plateau - 1:+.1%} |
        """
    )
    return plateau, setting


@app.cell
def _(pictures, plateau, setting, theory):
    portrait = pictures.portrait(theory.flow(**setting), plateau)
    portrait.set_dpi(70)
    portrait
    return


@app.cell
def _(mo):
    mo.md("""
    ## How it grows: one line for each d, at your B, p and logits
    """)
    return


@app.cell
def _(np, pictures, setting, theory):
    lengths = np.array([64, 128, 256, 512, 1024])
    fixed = {name: setting[name] for name in ("B", "p", "logits")}
    with pictures.look():
        growth, (_ax,) = pictures.panels(["plateau against T"], width=5, height=3.2)
        for _d, _color in zip((16, 64, 256), pictures.shades(3), strict=True):
            _ax.loglog(lengths, theory.plateau(T=lengths, d=_d, **fixed), "o-", color=_color, label=f"d = {_d}")
        pictures.logarithmic(_ax, lengths, label="T")
        _ax.set_ylabel("plateau (flow time)")
        _ax.legend()
    growth.set_dpi(70)
    growth
    return


if __name__ == "__main__":
    app.run()
