"""The curves of a run so far, whether it is done or still trains."""

import json
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from daybreak.errors import RequestError
from daybreak.lab import _files, _settings, rows
from daybreak.lab._folder import CHECKPOINT, RUN
from daybreak.lab.curves import Curves

if TYPE_CHECKING:
    from daybreak.lab.store import Lab
    from daybreak.training import Stop


@final
@dataclass(frozen=True)
class RunCurves:
    """A run as far as it got: to its end, or to its last checkpoint.

    Args:
        id: name of the run.
        settings: what was asked for, as plain data. Its task or model may not be known here.
        steps: of evaluation.
        curves: by name. A run that something else recorded may have other ones than ours, and none of ours.
        done: whether it is done.
    """

    id: str
    settings: dict[str, Any]
    steps: NDArray[np.int64]
    curves: Curves
    done: bool

    @property
    def stop(self) -> "Stop":
        """Its stop rule."""
        return _settings.stop_rule(self.settings)

    @property
    def level(self) -> float:
        """The level of its stop rule, or of an observed run; 0 if it has none."""
        return _settings.level(self.settings)

    @property
    def heads(self) -> NDArray[np.floating]:
        """Attention to relevant positions: (evaluations, layers, heads); no heads if that was not measured."""
        empty = np.zeros((self.steps.size, 1, 0), np.float32)
        attention = self.curves.get("attention", empty)
        return attention if attention.ndim == empty.ndim else attention.reshape(self.steps.size, 1, -1)


def note(settings: dict[str, Any]) -> str:
    """A sentence about a run that cannot be constructed here, such as one of a task that is not installed; else empty."""
    if _settings.is_observed(settings):
        return "An observed run: something else trained it."
    what = _settings.unknown(settings)
    return what and f"A record whose {what} is not known here."


def run_curves(lab: "Lab", prefix: str) -> RunCurves:
    """The run whose name starts with a prefix, among those that are done and those that have begun."""
    name = lab.find(prefix)
    return _finished(lab, name) if lab.is_done(name) else _unfinished(lab, name)


def settings_of_unfinished(lab: "Lab", name: str) -> dict[str, Any]:
    """What was asked for, of a run that is not done."""
    try:
        return dict(json.loads(_files.read(lab.path / "runs" / name / RUN)))
    except (OSError, ValueError, TypeError):
        raise RequestError(f"run {name} has begun, and its {RUN} cannot be read.") from None


def _finished(lab: "Lab", name: str) -> RunCurves:
    saved = lab.load(name)
    if saved.record is None:
        raise RequestError(f"run {name} failed and has no curves.")
    return RunCurves(name, saved.settings, saved.record.steps, saved.record.curves, True)


def _observed(lab: "Lab", name: str, settings: dict[str, Any]) -> RunCurves:
    try:
        steps, measured = rows.read(lab.path / "runs" / name)
    except OSError as error:
        raise RequestError(f"the rows of run {name} cannot be read: {error.strerror}.") from None
    if not steps.size:
        raise RequestError(f"run {name} has begun, and has no rows yet.")
    return RunCurves(name, settings, steps, dict(measured), False)


def _unfinished(lab: "Lab", name: str) -> RunCurves:
    from daybreak.training import DamagedCheckpoint
    from daybreak.training.checkpoint import curves

    settings = settings_of_unfinished(lab, name)
    if _settings.is_observed(settings):
        return _observed(lab, name, settings)
    try:
        measured = curves(name, _files.read(lab.path / "runs" / name / CHECKPOINT))
    except FileNotFoundError:
        raise RequestError(f"run {name} has begun, and has no checkpoint yet.") from None
    except OSError as error:
        raise RequestError(f"the checkpoint of run {name} cannot be read: {error.strerror}.") from None
    except DamagedCheckpoint as damage:
        raise RequestError(str(damage)) from None
    count = max(map(len, measured.values()), default=0)
    steps = np.array([*islice(_settings.stop_rule(settings).steps(), count)], np.int64)
    return RunCurves(name, settings, steps, measured, False)
