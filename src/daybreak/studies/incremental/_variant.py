"""A study of one change to the published run: the same tables and picture, its own claims."""

from collections.abc import Callable, Mapping

from daybreak.lab import Saved
from daybreak.studies._study import Claim, Findings, Scale, Study, Tables, TrainedData
from daybreak.studies.incremental._picture import staircase
from daybreak.studies.incremental._trained import curves, median_and_range, seeded, stages, verdict_over_seeds
from daybreak.training import Run


def variant(
    name: str,
    title: str,
    minutes: Mapping[Scale, float],
    run: Run,
    claims: Callable[[Tables], tuple[Claim, ...]],
    paper: Run | None = None,
) -> Study:
    """The study of a run over its seeds; `paper` is that run at paper scale where it is longer."""

    def tables(saved: list[Saved]) -> Tables:
        return {"curves": curves(saved), "stages": stages(saved)}

    return Study(
        name=name,
        paper="incremental",
        title=title,
        minutes=minutes,
        data=TrainedData(lambda scale: seeded(paper if paper and scale == "paper" else run, scale), tables),
        judge=lambda tables: Findings(claims(tables)),
        draw=lambda tables, findings: staircase(tables["curves"]),
    )


def in_order(tables: Tables, id: str, sentence: str, where: str) -> Claim:  # noqa: A002 (a claim's own word)
    """The claim that the three stages and their order stay the same after a change."""
    rows = tables["stages"]
    return Claim(
        id=id,
        sentence=sentence,
        paper="seen in the plot",
        ours=f"in order in {rows['in_order'].sum()} of {rows['seed'].size} seeds, transitions at {median_and_range(rows['second'])} and "
        f"{median_and_range(rows['third'])}",
        verdict=verdict_over_seeds(rows["in_order"]),
        note=f"{where} Steps are median (range). Holds for a seed if the nearest truncated truth is 1, then 2, then 3. The claim "
        "holds if four fifths of the seeds show it.",
    )
