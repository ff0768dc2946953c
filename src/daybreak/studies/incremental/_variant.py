"""A study of one change to the published run: the same tables and picture, its own claims."""

from collections.abc import Callable, Iterable, Mapping

from daybreak.lab import Saved
from daybreak.studies._study import Claim, Findings, Scale, Study, Tables, TrainedData
from daybreak.studies.incremental._picture import staircase
from daybreak.studies.incremental._trained import (
    PUBLISHED,
    SEEDS,
    curves,
    seeded,
    stages,
    to_be_confirmed,
    transition_steps,
    verdict_over_seeds,
)
from daybreak.training import Run


def variant(
    name: str,
    title: str,
    minutes: Mapping[Scale, float],
    run: Run,
    claims: Callable[[Tables], tuple[Claim, ...]],
    seeds: Iterable[int] = SEEDS,
) -> Study:
    """The study of a run over its seeds."""

    def tables(saved: list[Saved]) -> Tables:
        return {"curves": curves(saved)}

    return Study(
        name=name,
        paper="incremental",
        title=title,
        minutes=minutes,
        data=TrainedData(lambda scale: seeded(run, scale, seeds), tables),
        judge=lambda tables: Findings(claims(tables)),
        draw=lambda tables, findings: staircase(tables["curves"]),
    )


def in_order(tables: Tables, id: str, sentence: str, where: str, *, hours: float | None = None) -> Claim:  # noqa: A002 (a claim's own word)
    """The claim that the three stages and their order stay the same after a change.

    Args:
        tables: of the study.
        id: of the claim.
        sentence: of the claim.
        where: model and setting, for the note.
        hours: what the published number of steps costs, where fewer were trained: if these do not show it, the verdict is `outside`.
    """
    rows = stages(tables["curves"])
    verdict = verdict_over_seeds(rows["in_order"])
    regime = ""
    if hours and verdict == "fails" and rows["budget"].max() < PUBLISHED.budget:
        verdict, regime = "outside", outside(int(rows["budget"].max()), hours)
    return Claim(
        id=id,
        sentence=sentence,
        paper="seen in the plot",
        ours=f"in order in {rows['in_order'].sum()} of {rows['seed'].size} seeds; stages: {', '.join(map(str, rows['stages']))}; "
        f"transitions at {transition_steps(rows, 'second')} and {transition_steps(rows, 'third')}",
        verdict=verdict,
        note=f"{where} Steps are median (range). Holds for a seed if it has three stages and the "
        "nearest truncated truth contradicts none. The claim holds if four fifths of the seeds show it."
        f"{to_be_confirmed(rows)}{regime}",
    )


def outside(budget: int, hours: float) -> str:
    """What the note of a claim says of runs that are shorter than the published ones."""
    return (
        f" Trained for {budget} steps only. The sentence is about runs of {PUBLISHED.budget} steps. To reach it costs about "
        f"{hours:g} hours of a worker."
    )
