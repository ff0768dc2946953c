"""Figure 17: recall emerges together with attention from values to their keys, and from the query to the answer.

Criteria, written on 2026-11-18 before any run of the grid below (the runs of figure 5 without repetition): A17 and A17-layers keep
their rules. A17-heads: the smallest attention of a head of the layer is at least half of the largest, in the median run.
"""

import numpy as np

from daybreak import pictures
from daybreak.lab import Saved, index
from daybreak.studies import _runs
from daybreak.studies._study import Claim, Findings, Study, Tables, select, verdict
from daybreak.studies.emergence import _trained, fig5
from daybreak.training import to_json

_CURVES = ("clean_accuracy", "value_to_key", "attention")

_SWEEPS: _runs.Sweeps = {
    "smoke": f"{_trained.TINY}{_trained.TINY_RECALL}\ntask.N = 3\ntask.V = 24",
    "laptop": fig5.BASELINE,
    "paper": """
preset = "paper-a-recall"
seeds = 3
stop.level = 0.6
""",
}


def _tables(saved: list[Saved]) -> Tables:
    return {
        "rises": _rises(saved),
        "curves": _runs.curve_table(saved, ("N", "V"), _CURVES),
    }


def _rises(saved: list[Saved]) -> dict[str, np.ndarray]:
    """For each run: the layers that copy and select, by how much their heads differ, and when each was half-way."""
    rows = []
    for x in saved:
        assert x.record is not None  # noqa: S101
        record, task = x.record, index.settings(to_json(x.run))
        accuracy = record.curves["clean_accuracy"]
        row = {
            "id": x.run.id,
            "seed": x.run.seed,
            "N": task["N"],
            "V": task["V"],
            "placement": task["placement"],
            "accuracy_step": half_way(record.steps, accuracy),
        }
        for name, curve in (("copy", record.curves["value_to_key"]), ("select", record.curves["attention"])):
            layer = int(np.argmax(curve[-1].mean(axis=-1)))
            heads = curve[:, layer]
            row |= {
                f"{name}_layer": layer + 1,
                f"{name}_step": half_way(record.steps, heads.mean(axis=-1)),
                f"{name}_least_head": float(heads[-1].min()),
                f"{name}_most_head": float(heads[-1].max()),
            }
        rows.append(row)
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def half_way(steps: np.ndarray, curve: np.ndarray) -> float:
    """The step after which a curve stays above half-way from its start to its end."""
    below = np.flatnonzero(curve < (curve[0] + curve[-1]) / 2)
    return float(steps[min(below[-1] + 1, steps.size - 1)]) if below.size else float(steps[0])


def _judge(tables: Tables) -> Findings:
    rises = tables["rises"]
    ratios = {x: rises[f"{x}_step"] / np.maximum(rises["accuracy_step"], 1) for x in ("copy", "select")}
    together = [abs(x - 1).max() <= 0.25 for x in ratios.values()]
    alike = {x: rises[f"{x}_least_head"] / rises[f"{x}_most_head"] for x in ("copy", "select")}
    layers = ", ".join(
        f"{name} in layer {'/'.join(f'{x}' for x in np.unique(rises[f'{name}_layer']))}" for name in ("copy", "select")
    )
    grid = f"N = {rises['N'][0]}, V in {{{', '.join(map(str, np.unique(rises['V'])))}}}, {rises['seed'].size} runs"
    claims = _trained.unless_outside(
        (
            Claim(
                id="A17",
                sentence="Accuracy rises together with attention from values to their keys and from the query to the answer.",
                paper="seen in the plot (N = 32, V = 256)",
                ours="step at which attention is half-way over the step at which accuracy is: "
                + "; ".join(f"{name} {x.min():.2f} to {x.max():.2f}" for name, x in ratios.items()),
                verdict=verdict(all(together)),
                note=f"{grid}. Copying is attention from each value to its key, selecting from the query to the answer's value, "
                "in the layer "
                "where each is largest at the end, mean over heads; half-way is between the first and the last evaluation, and runs end "
                "soon after the level of their stop rule. Holds if both are half-way within 25 % of the step at which accuracy is.",
            ),
            Claim(
                id="A17-layers",
                sentence="Copying happens in one layer and selecting in a later one.",
                paper="layers 3 and 4 of 4",
                ours=layers,
                verdict=verdict(bool(np.all(rises["copy_layer"] < rises["select_layer"]))),
                note=f"{grid}. Holds if the layer that copies is earlier than the one that selects in every run.",
            ),
            Claim(
                id="A17-heads",
                sentence="The heads of a layer have similar attention to the relevant tokens.",
                paper="all heads of a layer have similar attention to relevant tokens",
                ours="smallest over largest attention of a head at the end: "
                + "; ".join(f"{name} {x.min():.2f} to {x.max():.2f}" for name, x in alike.items()),
                verdict=verdict(min(np.median(x) for x in alike.values()) >= 0.5),
                note=f"{grid}. Holds if in both layers the smallest is at least half of the largest, in the median run.",
            ),
        ),
        rises,
        0.5,
    )
    return Findings(claims)


def _draw(tables: Tables, findings: Findings):
    curves, rises = tables["curves"], tables["rises"]
    V, seed = rises["V"].max(), curves["seed"].min()
    at_V = select(curves, curves["V"] == V)
    first = select(at_V, at_V["seed"] == seed)
    titles = ["clean accuracy", "attention, value to its key", "attention, query to the answer's value"]
    figure, axes = pictures.panels(titles, width=4.0)
    for other in np.unique(at_V["seed"]):
        one = select(at_V, at_V["seed"] == other)
        width, alpha = (1.6, 1.0) if other == seed else (0.8, 0.5)
        axes[0].plot(one["step"], one["clean_accuracy"], color=pictures.OURS, lw=width, alpha=alpha)
    for ax, name in zip(axes[1:], ("value_to_key", "attention"), strict=True):
        columns = sorted(x for x in first if x.startswith(f"{name}_"))
        layers = sorted({x.split("_")[-2] for x in columns})
        colours = dict(zip(layers, pictures.shades(len(layers)), strict=True))
        for column in columns:
            *_, layer, head = column.split("_")
            label = f"layer {layer}" if head == "1" else None
            ax.plot(first["step"], first[column], color=colours[layer], lw=1, label=label)
        ax.legend()
    for ax in axes:
        ax.set(xlabel="step", ylim=(0, 1.03), xlim=(0, None))
    where = f"N = {rises['N'][0]}, V = {V}, {np.unique(at_V['seed']).size} seeds"
    pictures.caption(figure, f"{where}. Attention of the seed with the bold accuracy, a line for each head.")
    return figure


STUDY = Study(
    name="fig17",
    paper="emergence",
    title="Attention while recall emerges",
    minutes={"smoke": 0.4, "laptop": 15, "paper": 1.5e3},
    data=_runs.training(_SWEEPS, _tables),
    judge=_judge,
    draw=_draw,
)
