"""What was measured so far: in memory for forecasts, and in a lab as an observed run. A lab that fails ends the second only."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple, final

import numpy as np

from daybreak.errors import RequestError
from daybreak.lab import rows
from daybreak.lab.observed import ObservedRun, described

Warn = Callable[[str], None]


class Emerges(NamedTuple):
    """When the model counts as emerged: its curve reaches a level; of a curve with many heads, the best head."""

    curve: str
    level: float
    direction: Literal["down", "up"]

    def best(self, value: Any) -> float:
        """The head that is furthest, or the number itself; NaN if there is none."""
        array = np.asarray(value, np.float64)
        finite = array[np.isfinite(array)]
        return float((finite.max() if self.direction == "up" else finite.min()) if finite.size else np.nan)


@final
class Record:
    """The rows of a watched training, and where they are stored. The run begins with its first row."""

    def __init__(self, lab: Path | None, name: str, settings: Mapping[str, Any], emerges: Emerges, warn: Warn):
        self._lab, self._about, self._warn = lab, (name, settings, emerges), warn
        self._run: ObservedRun | None = None
        self._failed = lab is None
        self._curves: dict[str, tuple[list[int], list[np.ndarray]]] = {}

    @property
    def id(self) -> str | None:
        """The id in the lab; None before the first row, or if the lab cannot be written."""
        return None if self._run is None else self._run.id

    def append(self, step: int, values: Mapping[str, Any]) -> None:
        """A row, in memory and in the lab."""
        for name, value in values.items():
            self._keep(step, name, np.asarray(value, np.float64))
        if self._failed:
            return
        try:
            self._run = self._run or self._begin()
            self._run.append(step, values)
        except (OSError, ValueError) as error:
            self._fail(error)

    def _begin(self) -> ObservedRun:
        assert self._lab is not None  # noqa: S101
        name, settings, emerges = self._about
        return ObservedRun.begin(self._lab, name, settings, **emerges._replace(level=max(emerges.level, 0.0))._asdict())

    def prediction(self, form: str | None = None) -> tuple[float, float] | None:
        """What the lab's other finished runs predict, as `daybreak forecast` has it: median, and deviation of the logarithm.

        Args:
            form: of a law of them. By default those count that differ only in the seed; None if there are none.
        """
        from daybreak.lab.reading.laws import prior
        from daybreak.lab.store import Lab

        name, settings, emerges = self._about
        if self._lab is None:
            return None
        try:
            law = prior(Lab(self._lab), described(name, settings, **emerges._asdict()), form)
        except RequestError:
            if form is not None:
                raise
            return None
        return law.median, law.spread

    def curve(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Steps and values of one curve, without rows that are not finite: (rows,), and (rows, heads)."""
        steps, values = self._curves.get(name, ([], []))
        table = np.stack(values).reshape(len(values), -1) if values else np.zeros((0, 1))
        table = table[:, np.isfinite(table).any(axis=0)]  # a layer may have fewer heads than another
        good = np.isfinite(table).all(axis=1) & (table.shape[1] > 0)
        return np.asarray(steps, np.float64)[good], table[good]

    def names(self) -> list[str]:
        """The curves that there are."""
        return list(self._curves)

    def resume(self, id: str, step: int) -> None:  # noqa: A002
        """Go on with the run of a checkpoint. If the lab does not have it, a new run begins, with a warning."""
        if self._lab is None:
            return
        try:
            self._run = ObservedRun.resume(self._lab, id, step)
            steps, curves = rows.read(self._lab / "runs" / id)
        except (OSError, ValueError) as error:
            self._run = None
            self._warn(f"the record before the checkpoint is lost, and a new run begins: {sentence(error)}")
            return
        for name, table in curves.items():
            for at, value in zip(steps, table, strict=True):
                if not np.isnan(value).all():
                    self._keep(int(at), name, np.asarray(value, np.float64))

    def finish(self) -> None:
        """Mark the stored run as done."""
        if self._run is None or self._failed:
            return
        try:
            self._run.finish()
        except (OSError, ValueError) as error:
            self._fail(error)

    def _keep(self, step: int, name: str, value: np.ndarray) -> None:
        steps, values = self._curves.setdefault(name, ([], []))
        if values and (value.shape != values[0].shape or step < steps[-1]):
            return
        if steps and steps[-1] == step:
            values[-1] = value
        else:
            steps.append(step)
            values.append(value)

    def _fail(self, error: Exception) -> None:
        self._failed = True
        what = "is not used" if self._run is None else "takes no more rows, and those before can be read"
        self._warn(f"lab {str(self._lab)!r} {what}: {sentence(error)} Training goes on.")


def sentence(error: Exception) -> str:
    """What an error says, ended by a point; with its kind, unless it was written for people."""
    text = str(error).strip()
    known = isinstance(error, RequestError) and text
    return f"{text if known else f'{type(error).__name__}: {text}'}".removesuffix(".") + "."
