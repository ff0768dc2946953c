"""What `forecast` and `watch` share: options that name a curve, a file or a run as an outlook, and a forecast as data and as a sentence."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, final

import tyro

from daybreak.errors import RequestError

if TYPE_CHECKING:
    from daybreak.lab import Lab
    from daybreak.lab.reading.laws import LawPrior
    from daybreak.lab.reading.outlook import Outlook
    from daybreak.lab.reading.progress import RunCurves
    from daybreak.measure import Forecast, NotEnoughEvidence, Plateau

Value = Annotated[
    str | None,
    tyro.conf.arg(
        metavar="NAME",
        help="Curve or column that decides when it has emerged. By default clean accuracy or loss of a run, the curve that an "
        "observed run names, 'loss' of a file.",
    ),
]
Level = Annotated[
    float | None,
    tyro.conf.arg(
        metavar="X",
        help="Value of it that counts as emerged. By default that of the run's stop rule or of the observed run; a file needs one.",
    ),
]
Direction = Annotated[
    Literal["down", "up"] | None,
    tyro.conf.arg(
        help="Whether it falls to the level or rises to it. By default from its first value towards the level."
    ),
]
Probe = Annotated[
    str | None,
    tyro.conf.arg(
        metavar="NAME",
        help="Columns of attention, between 0 and 1, one per head: 'induction' means induction_1_2 and so on, 'heads/*' all that match. "
        "By default attention or induction of a run, none of a file.",
    ),
]
StepColumn = Annotated[
    str | None,
    tyro.conf.arg(
        metavar="NAME", help="Column of a file with the step. By default step, global_step, _step or iteration."
    ),
]


@final
@dataclass(frozen=True)
class Wanted:
    """Which curve, level, direction and probe were asked for; None where the default counts."""

    value: str | None = None
    level: float | None = None
    direction: Literal["down", "up"] | None = None
    probe: str | None = None
    step: str | None = None


@final
@dataclass(frozen=True)
class Seen:
    """A file or a run as far as it got.

    Args:
        outlook: its curve and probes.
        source: `file` or `run`, and which.
        done: whether nothing will follow, as far as one can tell: a file may always grow.
        run: the run, if it is one.
        about: more about a file, as data.
        notes: what was used and what was left out, in sentences.
    """

    outlook: "Outlook"
    source: tuple[Literal["file", "run"], str]
    done: bool
    run: "RunCurves | None" = None
    about: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def is_file(text: str) -> bool:
    """Whether an argument names a file or a folder of curves, and not a run.

    Raises:
        RequestError: it can only be a path, and there is none.
    """
    from daybreak.watch.curves import is_curves

    path = Path(text)
    if is_curves(path):
        return True
    try:
        folder = path.is_dir()
    except OSError:
        folder = False
    if folder and not set(text) <= set("0123456789abcdef"):
        raise RequestError(f"{text!r} is a folder without event files of TensorBoard (*tfevents*): name a file in it.")
    if "/" in text or "." in text:
        raise RequestError(f"there is no file or folder {text!r}.")
    return False


def of_file(path: Path, wanted: Wanted, *, growing: bool = False) -> Seen:
    """A file or folder of curves.

    Args:
        path: as `is_file` accepts it.
        wanted: which column decides, and so on.
        growing: whether it is still written: then probes may come later.
    """
    from daybreak.lab.reading.columns import matching, outlook_of
    from daybreak.watch.curves import default_value, read

    curves = read(path, wanted.step, growing=growing)
    notes, names = list(curves.notes), list(curves.columns)
    value, probe, probes = wanted.value or default_value(names), wanted.probe, []
    used = matching("value", value, names)
    if probe is not None:
        try:
            probes = matching("probe", probe, names)
        except RequestError:
            if not growing:
                raise
            notes.append(f"There is no column {probe!r} yet.")
            probe = None
    view = outlook_of(
        curves.steps, curves.columns, value=value, level=wanted.level, direction=wanted.direction, probe=probe
    )
    about = {"file": str(path), "step_column": curves.step, "columns": names, "value": used, "probes": probes}
    heads = (
        "" if not probes else f" Attention: {probes[0]}" + (f" and {len(probes) - 1} more" * (len(probes) > 1)) + "."
    )
    several = f"the furthest of {len(used)} columns {value!r}" if len(used) > 1 else f"column {used[0]!r}"
    notes.insert(0, f"Used: {several} by {curves.step!r}.{heads}")
    return Seen(view, ("file", str(path)), False, None, about, tuple(notes))


def law_of_others(
    lab: "Lab", run: "RunCurves", wanted: Wanted, form: str | None = None
) -> tuple["LawPrior | None", str | None]:
    """The prediction of the law of the lab's other runs; or why there is none.

    Args:
        lab: of the run.
        run: to predict.
        wanted: another curve or level than the run's own has no law.
        form: of the law; 'none' for none.
    """
    from daybreak.lab.reading.laws import prior

    if form == "none":
        return None, "--law none was given."
    if wanted.value is not None or wanted.direction is not None:
        return None, "the plateaus in the lab were measured on the curve of each run, not on another one."
    if wanted.level is not None and wanted.level != run.level:
        return None, f"the plateaus in the lab were measured at the level of each stop rule, not at {wanted.level:g}."
    try:
        return prior(lab, run.settings, form), None
    except RequestError as error:
        if form is not None:
            raise
        return None, str(error)


def of_run(run: "RunCurves", wanted: Wanted, prior: tuple[float, float] | None) -> Seen:
    """A run of a lab."""
    from daybreak.lab.reading.outlook import outlook

    view = outlook(
        run, level=wanted.level, prior=prior, value=wanted.value, direction=wanted.direction, probe=wanted.probe
    )
    return Seen(view, ("run", run.id), run.done, run)


def forecast_data(forecast: "Forecast | NotEnoughEvidence | Plateau") -> dict[str, Any]:
    """A forecast as plain data."""
    from daybreak import measure

    match forecast:
        case measure.Forecast():
            return {
                "outcome": "forecast",
                "median": forecast.median,
                "interval": list(forecast.interval),
                "evidence": [one.as_json() for one in forecast.evidence],
            }
        case measure.NotEnoughEvidence():
            return {"outcome": "not enough evidence", "reason": forecast.reason, "evaluations": forecast.evaluations}
    return {"outcome": "emerged", "step": forecast.length}


def sentence(data: dict[str, Any]) -> str:
    """What a forecast says, in one sentence."""
    if data["outcome"] == "forecast":
        low, high = data["interval"]
        return f"Forecast: step {data['median']:,.0f}; 80 % between {low:,.0f} and {high:,.0f}."
    if data["outcome"] == "emerged":
        return f"It has emerged at step {data['step']:,.0f}."
    return f"Not enough evidence: {data['reason']}"
