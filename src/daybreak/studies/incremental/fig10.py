"""Figure 10: the flow of the regression variant descends a staircase, one pattern at a time."""

import numpy as np

from daybreak import pictures, theory
from daybreak.studies._study import Claim, Findings, Scale, Study, Table, Tables, select, stack, verdict

_STRENGTHS = 1.7 ** np.arange(2.0, -1.0, -1.0)
_T, _HEADS, _EPS = 16, 3, 1e-6
_FLOWS: tuple[theory.HeadFlow, ...] = ("logits", "published")
_POINTS = 400


def _measure(scale: Scale) -> Tables:
    lengths = (4, 16) if scale == "smoke" else (4, 16, 64, 256)
    task = theory.patterns(_STRENGTHS, T=_T)
    lines = {flow: theory.head_flow(task, _HEADS, start=_start(_T), flow=flow) for flow in _FLOWS}
    transitions = [lines[flow].transitions if T == _T else _transitions(T, flow) for flow in _FLOWS for T in lengths]
    return {
        "curves": stack(*(_curve(task, flow, eps, lines[flow]) for flow in _FLOWS for eps in (_EPS, 0.0))),
        "transitions": {
            "flow": np.repeat(_FLOWS, len(lengths)),
            "T": np.tile(lengths, len(_FLOWS)),
            **{f"t{n}": np.array([x[n - 1] for x in transitions]) for n in (1, 2, 3)},
        },
    }


def _start(T: int) -> np.ndarray:
    """Noise on the blocks only, the same for every T: where no pattern is, it makes no difference but in cost."""
    noise = _EPS * np.random.default_rng(0).uniform(-1, 1, (_HEADS, _STRENGTHS.size))
    return np.pad(noise, [(0, 0), (0, T - _STRENGTHS.size)])


def _transitions(T: int, flow: theory.HeadFlow) -> np.ndarray:
    return theory.head_flow(theory.patterns(_STRENGTHS, T=T), _HEADS, start=_start(T), flow=flow).transitions


def _curve(task: theory.Patterns, flow: theory.HeadFlow, eps: float, noisy: theory.HeadTrajectory) -> Table:
    """Loss and attention, as dense at the first transition as at the last."""
    end = 1.5 * noisy.transitions[-1]
    times = np.append(0.0, np.geomspace(0.02 * noisy.transitions[0], end, _POINTS))
    start = _start(task.T) * (eps / _EPS)
    line = theory.head_flow(task, _HEADS, start=start, flow=flow, times=times)
    mass = {f"head{h + 1}_block{k + 1}": line.mass[:, h, k] for h in range(_HEADS) for k in range(task.K)}
    same = {"flow": np.full(times.size, flow), "eps": np.full(times.size, eps)}
    return same | {"time": times, "loss": line.loss} | mass


def _judge(tables: Tables) -> Findings:
    levels = theory.plateau_levels(theory.patterns(_STRENGTHS, T=_T))
    curves, transitions = tables["curves"], tables["transitions"]
    where = f"H = {_HEADS}, K = 3, m = 2.89, 1.7, 1, T = {_T}, blocks of one position"
    rests, spreads, ends = {}, [], []
    for flow in _FLOWS:
        noisy = select(curves, (curves["flow"] == flow) & (curves["eps"] > 0))
        still = select(curves, (curves["flow"] == flow) & (curves["eps"] == 0))
        (row,) = np.flatnonzero((transitions["flow"] == flow) & (transitions["T"] == _T))
        at = np.array([transitions[f"t{n}"][row] for n in (1, 2, 3)])
        before = at[:-1] + 0.8 * np.diff(at)
        rests[flow] = at, np.interp(before, noisy["time"], noisy["loss"]) / levels[1:3] - 1
        ends.append(still["loss"][-1] / levels[1] - 1)
        spreads.append(
            max(np.abs(still[f"head1_block{k}"] - still[f"head{h}_block{k}"]).max() for k in (1, 2) for h in (2, 3))
        )
    ratios = {T: _ratio(transitions, T) for T in np.unique(transitions["T"]).tolist()}
    claims = (
        Claim(
            id="B10",
            sentence="The flow of the regression variant learns one pattern after the other: a staircase with plateaus L_1 and L_2.",
            paper="seen in the plot",
            ours="; ".join(
                f"{flow}: transitions at {at[0]:.1f}, {at[1]:.0f}, {at[2]:.0f}, loss {off[0]:+.1%} and {off[1]:+.1%} off L_1 and L_2"
                for flow, (at, off) in rests.items()
            ),
            verdict=verdict(all(np.all(np.diff(at) > 0) and abs(off).max() <= 0.05 for at, off in rests.values())),
            note=f"{where}, noise ±{_EPS:g}. A transition is half-way between two plateaus; the loss is read when four fifths of the time "
            "to the next have passed. Holds if all three come in order and the loss is then within 5 % of the plateau.",
        ),
        Claim(
            id="B10-zero",
            sentence="Without noise (ε = 0) the heads stay equal and the loss stays on the first plateau.",
            paper="seen in the plot",
            ours=f"at 1.5 times the third transition the loss is {ends[0]:+.1%} (logits) and {ends[1]:+.1%} (published) off L_1; heads "
            f"differ by {max(spreads):g}",
            verdict=verdict(max(np.abs(ends)) <= 0.05 and max(spreads) == 0),
            note=f"{where}. Holds if it is within 5 % of L_1 and the heads are equal to the last bit.",
        ),
        Claim(
            id="B10-published",
            sentence="The flow that the paper simulates, with Π once, is another; it is faster, the more so the longer the sequence.",
            paper="ours, not the paper's",
            ours="second transition sooner by a factor " + ", ".join(f"{x:.1f} (T = {T:g})" for T, x in ratios.items()),
            verdict=verdict(bool(np.all(np.diff(list(ratios.values())) > 0)) and min(ratios.values()) > 1),
            note="For vanishing noise the factor tends to 2T/(|block 1| + |block 2|), here T (docs/incremental.md). Holds if it is above 1 "
            "and grows with T.",
        ),
    )
    return Findings(claims)


def _ratio(transitions: Table, T: int) -> float:
    slow, fast = (transitions["t2"][(transitions["flow"] == flow) & (transitions["T"] == T)][0] for flow in _FLOWS)
    return float(slow / fast)


def _draw(tables: Tables, findings: Findings):
    titles = ["loss", *(f"head {h + 1}" for h in range(_HEADS))]
    figure, axes = pictures.panels(
        [*(f"{t}, logits" for t in titles), *(f"{t}, published" for t in titles)], columns=4, width=3.0, height=2.4
    )
    levels = theory.plateau_levels(theory.patterns(_STRENGTHS, T=_T))
    curves, colours = tables["curves"], pictures.shades(_STRENGTHS.size)
    for i, flow in enumerate(_FLOWS):
        top, *heads = axes[4 * i : 4 * i + 4]
        noisy = select(curves, (curves["flow"] == flow) & (curves["eps"] > 0) & (curves["time"] > 0))
        still = select(curves, (curves["flow"] == flow) & (curves["eps"] == 0) & (curves["time"] > 0))
        top.plot(noisy["time"], noisy["loss"], color=pictures.OURS, label=f"ε = {_EPS:g}")
        top.plot(still["time"], still["loss"], "--", color=pictures.PAPER, label="ε = 0")
        for n, level in enumerate(levels):
            top.axhline(level, color=pictures.NEUTRAL, lw=0.7, ls=":")
            top.annotate(f"$L_{n}$", (noisy["time"][0], level), color=pictures.NEUTRAL, fontsize=8, va="bottom")
        top.legend(loc="upper right")
        for h, ax in enumerate(heads):
            for k, colour in enumerate(colours):
                ax.plot(noisy["time"], noisy[f"head{h + 1}_block{k + 1}"], color=colour, label=f"block {k + 1}")
            ax.set(ylim=(0, 1.03), ylabel="attention" if h == 0 else None)
        heads[0].legend(loc="center left")
        for ax in (top, *heads):
            ax.set(xscale="log", xlabel="flow time")
    return figure


STUDY = Study(
    name="b-fig10",
    paper="incremental",
    title="Regression flow: one pattern after the other",
    minutes={"smoke": 0.2, "laptop": 0.3, "paper": 0.3},
    measure=_measure,
    judge=_judge,
    draw=_draw,
)
