"""Why does the plateau of recall grow so fast with the number of pairs? Two hops, learned together or one of them given.

Recall needs two hops of attention: each value attends to its key (copying, in an early layer), and the query attends to the value
whose key it is (selecting, in a later one). The paper's hypothesis (§3.2): both must be learned at once, and each layer adds its
part to the exponent 2.25 of N. It is tested by giving the first hop: in half of the runs the first layer attends to the
previous position from the start (`first_attention = "previous"`), with the same data, length, weights and seeds. Putting key and
value into one token would give the same hop, but also halve the sequence: two changes at once.

Criteria, written on 2026-11-18 before any run: V = 32, the two-layer attention-only network of the study `schedules`, exactly one copy,
both kinds, five seeds that no other study has. A plateau ends half of the way from the guess 1/N to 1. Laws C N^b by censored maximum
likelihood, one for each kind. N in {6, 8, 10, 12} decided neither A4-given nor A4-half: four values of N tell an exponent to ±0.4. Changed
on 2026-11-19, before any run of the new grid, with the same rules: N in {6, 8, 10, 12, 16, 20, 24}, seeds 36 to 40, which nobody had
looked at, and a budget of 24 000 steps.
- A4-hops: order of the hops where both are learned. A hop has formed when attention, mean over heads of the layer that has most at
  the end, is half of the way from its start to its end. It holds if the 95 % interval over seeds of the ratio of steps, selecting
  over copying (its logarithm averaged over N), lies above 1; it fails if below.
- A4-given holds if the exponent of N is smaller with the first hop given: 95 % interval of the difference above zero; it fails if below.
- A4-half holds if the exponent that is left is about half, between 0.35 and 0.65 of that with both hops: the 95 % intervals of both
  distances, b(given) − 0.35 b and 0.65 b − b(given), lie above zero. It fails if one lies below zero. Otherwise it is undecided.
"""

import numpy as np

from daybreak import measure, pictures
from daybreak.lab import Saved
from daybreak.measure import Interval, Law
from daybreak.studies import _pairs, _runs, _verdicts
from daybreak.studies._study import Claim, Findings, Study, Table, Tables, select
from daybreak.studies.emergence import _trained, fig17

_FORM = "C * N**b"
_SETTINGS = ("N", "V", "first_attention")
_KINDS = {"learned": "both hops learned", "previous": "first hop given"}
_CURVES = ("clean_accuracy", "value_to_key", "attention")
_LOW, _HIGH = 0.35, 0.65  # of the exponent of N: about half

_SWEEPS: _runs.Sweeps = {
    "smoke": f"""{_trained.TINY}{_trained.TINY_RECALL}
task.N = [2, 3]
task.V = 8
model.mlp = 0
model.positions = "learned"
stop.budget = 2000
model.first_attention = {list(_KINDS)}
""",
    "laptop": f"""{_trained.SMALL_RECALL}
seeds = [36, 37, 38, 39, 40]
model.first_attention = {list(_KINDS)}
task.N = [6, 8, 10, 12, 16, 20, 24]
stop.budget = 24_000
stop.level = 0.6
""",
    "paper": f"""
preset = "paper-a-recall"
seeds = 3
where = "V > N"
model.first_attention = {list(_KINDS)}
task.N = [8, 16, 32, 64]
task.V = 256
stop.level = 0.6
""",
}


def _tables(saved: list[Saved]) -> Tables:
    half = _runs.plateau_columns_at(saved, "clean_accuracy", _half_of_the_way, "half")
    return {
        "plateaus": _runs.plateaus(saved, (*_SETTINGS, *_trained.NETWORK)) | half,
        "hops": _hops(saved),
        "curves": _runs.curve_table(saved, _SETTINGS, _CURVES),
    }


def _half_of_the_way(saved: Saved) -> float:
    return measure.above_guess(saved.run.task.guess().accuracy or 0.0, 0.5)


def _hops(saved: list[Saved]) -> Table:
    """For each run whose hops are both learned: the steps at which accuracy, copying and selecting were half-way."""
    rows = []
    for x in saved:
        if x.record is None or x.run.model.first_attention != "learned":  # pyright: ignore[reportAttributeAccessIssue]
            continue
        steps, curves = x.record.steps, x.record.curves
        row = {"id": x.run.id, "N": x.run.task.N, "seed": x.run.seed, "emerged": x.record.outcome == "emerged"}  # pyright: ignore[reportAttributeAccessIssue]
        row["accuracy"] = fig17.half_way(steps, curves["clean_accuracy"])
        for name, curve in (("copying", curves["value_to_key"]), ("selecting", curves["attention"])):
            layer = int(np.argmax(curve[-1].mean(axis=-1)))
            row |= {name: fig17.half_way(steps, curve[:, layer].mean(axis=-1)), f"{name}_layer": layer + 1}
        rows.append(row)
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def _of(runs: Table, kind: str) -> Table:
    return select(runs, runs["first_attention"] == kind)


def weighted_difference(first: Law, second: Law, weight: float) -> Interval:
    """The 95 % interval of an exponent of N minus a multiple of that of another law, of different runs."""
    centre = first.coefficients["b"] - weight * second.coefficients["b"]
    halves = [(x.intervals["b"].high - x.intervals["b"].low) / 2 for x in (first, second)]
    margin = float(np.hypot(halves[0], weight * halves[1]))
    return Interval(centre - margin, centre + margin)


def _judge(tables: Tables) -> Findings:
    runs = _runs.with_plateaus_at(tables["plateaus"], "half")
    laws = {text: _runs.law(_FORM, _of(runs, kind)) for kind, text in _KINDS.items()}
    both, given = laws.values()
    drop = weighted_difference(both, given, 1.0)
    above, below = weighted_difference(given, both, _LOW), weighted_difference(given, both, _HIGH)
    faster = {
        N: _pairs.paired_factor(runs, _rows(runs, N, "learned"), _rows(runs, N, "previous"))
        for N in map(float, np.unique(runs["N"]))
    }
    note = (
        f"Grid: {_runs.grid_of(runs, 'N', 'V')}; both kinds; {_trained.network_of(runs)}. Level: half of the way from "
        f"1/N to 1. Times faster with the first hop given: {', '.join(f'N {N:g}: {x}' for N, x in faster.items())}."
    )
    texts = "; ".join(
        f"{text}: N^{law.coefficients['b']:.2f} {_verdicts.format_interval(law.intervals['b'])} (R² {law.r2:.3f})"
        for text, law in laws.items()
    )
    paper = "hypothesis of §3.2: each attention layer adds its part to the exponent of N, 2.25"
    claims = (
        _order(tables["hops"]),
        Claim(
            id="A4-given",
            sentence="The plateau of recall grows more slowly with N when one of its two hops of attention is given.",
            paper=paper,
            ours=f"{texts}; smaller by {_verdicts.format_interval(drop)}",
            verdict=_verdicts.verdict_above(drop),
            note=f"{note} Holds if the 95 % interval of the difference lies above zero, fails if below.",
        ),
        Claim(
            id="A4-half",
            sentence="With one of the two hops given, about half of the exponent of N is left.",
            paper=paper,
            ours=f"{given.coefficients['b'] / both.coefficients['b']:.2f} of it is left; {texts}",
            verdict=_verdicts.all_of(
                [_verdicts.verdict_above(above), _verdicts.verdict_above(Interval(-below.high, -below.low))]
            ),
            note=f"{note} Above {_LOW} of the exponent by {_verdicts.format_interval(above)}, below {_HIGH} of it by "
            f"{_verdicts.format_interval(Interval(-below.high, -below.low))}. Holds if both 95 % intervals lie above zero, fails if one "
            "lies below.",
        ),
    )
    return Findings(claims, laws)


def _rows(runs: Table, N: float, kind: str):
    return (runs["N"] == N) & (runs["first_attention"] == kind)


def later_hop(hops: Table) -> _pairs.Factor:
    """How many times later selecting has formed than copying: over seeds, of the logarithm averaged over N."""
    logs = np.log(np.maximum(hops["selecting"], 1)) - np.log(np.maximum(hops["copying"], 1))
    means = np.array([logs[hops["seed"] == seed].mean() for seed in np.unique(hops["seed"])])
    if means.size < 2:
        return _pairs.Factor(float(np.exp(means.mean())), None, "")
    ends = (float(np.exp(x)) for x in _verdicts.interval_of_mean(means))
    return _pairs.Factor(float(np.exp(means.mean())), Interval(*ends), "")


def _order(hops: Table) -> Claim:
    emerged = select(hops, hops["emerged"])
    if not emerged["N"].size:
        emerged = hops
    later = later_hop(emerged)
    each = ", ".join(
        f"N {N:g}: {np.median(emerged['copying'][emerged['N'] == N]):,.0f}, "
        f"{np.median(emerged['selecting'][emerged['N'] == N]):,.0f}, {np.median(emerged['accuracy'][emerged['N'] == N]):,.0f}"
        for N in np.unique(emerged["N"])
    )
    layers = ", ".join(
        f"{name} in layer {'/'.join(f'{x}' for x in np.unique(emerged[f'{name}_layer']))}"
        for name in ("copying", "selecting")
    )
    return Claim(
        id="A4-hops",
        sentence="Of the two hops, copying (value to key) forms before selecting (query to value).",
        paper="both are learned simultaneously (figure 17)",
        ours=f"selecting is half-way {later} times as late as copying",
        verdict=_verdicts.verdict_above(later.range, 1),
        note=f"{emerged['N'].size} runs that emerged, of {hops['N'].size}; {layers}. Median steps at which copying, selecting and "
        f"accuracy are half-way: {each}. Ratios over seeds, averaged over N in logarithms. Holds if the 95 % interval lies above 1, "
        "fails if below.",
    )


def _draw(tables: Tables, findings: Findings):
    runs, curves, hops = _runs.with_plateaus_at(tables["plateaus"], "half"), tables["curves"], tables["hops"]
    largest = runs["N"].max()
    titles = ["plateau", f"one run, N = {largest:g}, both hops learned", "when each is half-way"]
    figure, axes = pictures.panels(titles, width=4.4, height=3.2)
    for (kind, text), colour in zip(_KINDS.items(), (pictures.OURS, pictures.PAPER), strict=True):
        _plateaus(axes[0], _of(runs, kind), findings.laws[text], text, colour)
    pictures.plain_numbers(axes[0].yaxis)
    pictures.logarithmic(axes[0], runs["N"], label="N")
    axes[0].legend()
    shown = select(_of(curves, "learned"), _of(curves, "learned")["N"] == largest)
    _run(axes[1], select(shown, shown["seed"] == shown["seed"].min()))
    for name, marker, colour in (("copying", "o", pictures.OURS), ("selecting", "s", pictures.PAPER)):
        axes[2].plot(hops["N"], hops[name] / np.maximum(hops["accuracy"], 1), marker, color=colour, ms=4, label=name)
    axes[2].axhline(1, color=pictures.NEUTRAL, lw=0.8, ls=":")
    axes[2].set(ylabel="step over that of accuracy")
    axes[2].set_ylim(0, 1.1 * max(1.0, axes[2].get_ylim()[1]))
    pictures.logarithmic(axes[2], hops["N"], label="N")
    axes[2].legend()
    pictures.caption(figure, f"{_runs.grid_of(runs, 'N', 'V')}, both kinds. {pictures.BANDS}")
    return figure


def _plateaus(ax, runs: Table, law: Law, text: str, colour: str) -> None:
    across = {"N": np.geomspace(runs["N"].min(), runs["N"].max(), 20)}
    cut = runs["censored"]
    ax.plot(runs["N"][~cut], runs["plateau"][~cut], "o", color=colour, ms=4)
    ax.plot(runs["N"][cut], runs["plateau"][cut], "^", color=colour, ms=6, mfc="none")
    ax.plot(across["N"], law.predict(across), color=colour, lw=1, label=f"{text}: N^{law.coefficients['b']:.2f}")
    ax.fill_between(across["N"], *law.predict_interval(across), color=colour, alpha=0.12, lw=0)
    ax.set(yscale="log", ylabel="plateau (steps)")


def _run(ax, one: Table) -> None:
    """Accuracy, and attention of both hops in the layer that has most at the end, mean over heads."""
    ax.plot(one["step"], one["clean_accuracy"], color=pictures.NEUTRAL, label="clean accuracy")
    for name, label, colour in (("value_to_key", "copying", pictures.OURS), ("attention", "selecting", pictures.PAPER)):
        columns = [x for x in one if x.startswith(f"{name}_")]
        layers = {
            layer: [x for x in columns if x.split("_")[-2] == layer] for layer in {x.split("_")[-2] for x in columns}
        }
        means = [np.mean([one[x] for x in heads], axis=0) for heads in layers.values()]
        ax.plot(one["step"], max(means, key=lambda x: x[-1]), color=colour, label=label)
    ax.set(xlabel="step", ylim=(0, 1.03), xlim=(0, None))
    ax.legend()


STUDY = Study(
    name="two-circuits",
    paper="emergence",
    title="Recall with both hops of attention learned, and with one given",
    minutes={"smoke": 0.6, "laptop": 30, "paper": 1e4},
    data=_runs.training(_SWEEPS, _tables),
    judge=_judge,
    draw=_draw,
)
