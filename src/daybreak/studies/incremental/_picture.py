"""Pictures of staircases: excess loss and divergences with the stages shaded, each head over time, seeds side by side."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from daybreak import pictures
from daybreak.studies._study import Table, select
from daybreak.studies.incremental._trained import by_seed, count, stages
from daybreak.studies.incremental._trained import staircase as stages_of


def staircase(curves: Table) -> Figure:
    """Excess loss and overlap of all seeds; divergences, attention by block and by lag of the median seed. At least three heads."""
    one = median_seed_first(curves)[0]
    K, heads, lags = (_count(curves, form) for form in ("kl_{}", "head{}_block1", "head1_lag{}"))
    seed = f"seed {one['seed'][0]}"
    titles = ["excess loss", f"divergence from p⁽ⁿ⁾, {seed}", "overlap of heads", *[""] * (heads - 3)]
    titles += [f"head {h + 1}, by {what}, {seed}" for what in ("block", "lag") for h in range(heads)]
    figure, axes = pictures.panels(titles, columns=heads, width=3.3, height=2.6)
    top, middle, bottom = (axes[i * heads : (i + 1) * heads] for i in range(3))
    plot_seeds(top[0], curves, "excess")
    for n, colour in enumerate(pictures.shades(K)):
        top[1].plot(one["step"], one[f"kl_{n + 1}"], color=colour, label=f"n = {n + 1}")
        for h in range(heads):
            middle[h].plot(one["step"], one[f"head{h + 1}_block{n + 1}"], color=colour, label=f"block {n + 1}")
    for ax, label in zip((*top[:3], middle[0]), ("nats", "nats", "cosine", "attention"), strict=True):
        ax.set(ylabel=label)
    top[1].legend()
    middle[0].legend()
    bottom[0].set(ylabel="lag")
    plot_seeds(top[2], curves, "overlap")
    for ax in (*top[2:], *middle):
        ax.set(ylim=(0, 1.03))
    for ax in (*top[:2], *middle):
        shade(ax, one)
        ax.set(xlabel="step")
    known = "shaded: stages of" if stages_of(one).number else "no stage:"
    top[0].legend(title=f"{known} {seed}", title_fontsize=8)
    maps = np.array([[one[f"head{h + 1}_lag{j + 1}"] for j in range(lags)] for h in range(heads)])
    meshes = [
        pictures.attention_map(ax, one["step"], attention.T, most=float(maps.max()))
        for ax, attention in zip(bottom, maps, strict=True)
    ]
    figure.colorbar(meshes[-1], ax=bottom, label="attention", pad=0.01)
    for ax in top[3:]:
        ax.set_visible(False)
    return figure


def side_by_side(curves: Table, column: str, symbol: str) -> Figure:
    """Excess loss of all seeds, one panel for each value of a column, with the number of stages of each seed."""
    values = np.unique(curves[column])
    rows = stages(curves, column)
    numbers = [", ".join(map(str, rows["stages"][rows[column] == value])) for value in values]
    titles = [f"{symbol} = {value:g}\nstages: {number}" for value, number in zip(values, numbers, strict=True)]
    figure, axes = pictures.panels(titles, width=3.0, height=3.0)
    for ax, value in zip(axes, values, strict=True):
        plot_seeds(ax, select(curves, curves[column] == value), "excess")
        some = select(rows, rows[column] == value)
        ax.set(ylim=(0, 1.05 * curves["excess"].max()))
        for name, style in (("second", "--"), ("third", ":")):
            middle = float(np.median(some[name]))
            if middle < some["budget"].max():
                ax.axvline(middle, color=pictures.PAPER, lw=1, ls=style)
            if ax is axes[0]:
                ax.plot([], [], color=pictures.PAPER, lw=1, ls=style, label=f"{name} transition, median")
    axes[0].set(ylabel="excess loss (nats)")
    axes[0].legend()
    return figure


def plot_seeds(ax: Axes, curves: Table, name: str) -> None:
    """One line per seed, the median one in front."""
    median, *others = median_seed_first(curves)
    for i, rows in enumerate(others):
        label = "other seeds" if i == 0 else None
        ax.plot(rows["step"], rows[name], color=pictures.NEUTRAL, lw=0.7, label=label)
    ax.plot(median["step"], median[name], color=pictures.OURS, label=f"seed {median['seed'][0]}")
    ax.set(xlabel="step", ylim=(0, None))


def plot_all(ax: Axes, curves: Table, name: str, colour: str | tuple[float, ...], label: str) -> None:
    """All seeds thin, their median at each step bold."""
    seeds = by_seed(curves)
    for one in seeds:
        ax.plot(one["step"], one[name], color=colour, lw=0.6, alpha=0.6)
    ax.plot(seeds[0]["step"], np.median([one[name] for one in seeds], axis=0), color=colour, lw=2.0, label=label)
    ax.set(xlabel="step")


def median_seed_first(curves: Table) -> list[Table]:
    """The curves of each seed; first the seed whose distance from the whole truth, mean over the run, is the median."""
    seeds = by_seed(curves)
    order = np.argsort([one[f"kl_{_count(curves, 'kl_{}')}"].mean() for one in seeds])
    middle = int(order[(len(seeds) - 1) // 2])
    return [seeds[middle], *seeds[:middle], *seeds[middle + 1 :]]


def shade(ax: Axes, one: Table) -> None:
    """Shade the stages of one run."""
    found = stages_of(one).stages
    spans = [(n, stage.start, stage.end) for n, stage in enumerate(found)]
    pictures.shade_stages(ax, spans, max(count(one), len(found)))


def _count(table: Table, form: str) -> int:
    """How many columns of a numbered kind there are."""
    return next(n for n in range(len(table) + 1) if form.format(n + 1) not in table)
