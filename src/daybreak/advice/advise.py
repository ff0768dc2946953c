"""All advice for a setting in one answer."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, final

from daybreak.advice.options import Option, options, recommended
from daybreak.advice.reference import Beyond, Reference
from daybreak.lab.reading.published import Published
from daybreak.measure import Interval


@final
@dataclass(frozen=True)
class Advice:
    """What theory, laws and studies predict for a setting.

    Args:
        T: sequence length.
        d: dimension.
        reference: the law that gives the number of steps.
        plateau: steps without repetition.
        interval: in which 95 % of runs should emerge; None if the law has no intervals.
        beyond: settings outside of the range that the law was fitted on.
        options: forms of repetition, and what each gains.
        recommended: the schedule to take.
        command: trains with that schedule.
        cautions: limits of this advice.
    """

    T: int
    d: int
    reference: Reference
    plateau: float
    interval: Interval | None
    beyond: tuple[Beyond, ...]
    options: tuple[Option, ...]
    recommended: Option
    command: str
    cautions: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """The same as plain data."""
        return {
            "T": self.T,
            "d": self.d,
            "law": {"source": self.reference.source, "formula": self.reference.formula},
            "plateau": self.plateau,
            "interval": self.interval,
            "beyond": [{**asdict(x), "factor": x.factor} for x in self.beyond],
            "options": [asdict(x) for x in self.options],
            "recommended": asdict(self.recommended),
            "command": self.command,
            "cautions": list(self.cautions),
        }


def advise(T: int, d: int, reference: Reference, results: Path) -> Advice:
    """Expected plateau, what each form of repetition gains, and the schedule to take."""
    steps, interval = reference.plateau(T, d)
    best, lever = recommended(T, d, reference, results)
    return Advice(
        T=T,
        d=d,
        reference=reference,
        plateau=steps,
        interval=interval,
        beyond=reference.beyond(T, d),
        options=options(T, d, reference, steps),
        recommended=best,
        command=f"daybreak train single-location --task.T {T} --task.d {d} {lever} --schedule.name adaptive",
        cautions=_cautions(reference, steps),
    )


def _cautions(reference: Reference, steps: float) -> tuple[str, ...]:
    cautions = [
        "The law is for single-location regression with the paper's network, Adam at 1e-4 and batches of 32.",
        "In recall, copies in the context allow counting instead of recalling: repeat queries (p) there.",
        "The factors of p are theory only: the toy model has no biases. With biases a Transformer memorises the repeated token.",
        "In our study (docs/repetition.md) p slowed regression down. Copies helped if they were removed early enough.",
        "The adaptive rule watches a loss that falls towards zero. If noise keeps it high, raise restore_below.",
    ]
    if isinstance(reference.law, Published):
        cautions.append(
            "The paper gives neither intervals nor its grid: how far this extrapolates is unknown. Runs of your own (--lab) give both."
        )
    if steps < 200:
        cautions.append(f"A plateau of {steps:,.0f} steps is too short to need a schedule.")
    return tuple(cautions)
