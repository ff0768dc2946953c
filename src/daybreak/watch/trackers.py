"""Where our runs can be logged while they train: TensorBoard, and trackers that are installed. None is imported before it is asked for."""

import logging
import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout, suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, final

from daybreak.errors import RequestError, nearest

_log = logging.getLogger("daybreak.watch")

Log = Callable[[Mapping[str, float], int], None]
"""Takes numbers by name, and the step."""


class Opened(NamedTuple):
    """A run of a tracker."""

    log: Log
    close: Callable[[], None]


def _tensorboard(folder: str, run: str, settings: Mapping[str, Any]) -> Opened:
    from daybreak.watch.tensorboard import EventWriter

    writer = EventWriter(Path(folder) / run)
    return Opened(writer.log, writer.close)


def _wandb(project: str, run: str, settings: Mapping[str, Any]) -> Opened:
    opened = import_module("wandb").init(project=project, name=run, config=dict(settings), reinit="create_new")
    return Opened(lambda values, step: opened.log(dict(values), step=step), opened.finish)


def _trackio(project: str, run: str, settings: Mapping[str, Any]) -> Opened:
    module = import_module("trackio")
    opened = module.init(project=project, name=run, config=dict(settings))

    def close() -> None:
        opened.finish()
        with suppress(RuntimeError):
            module.finish()  # otherwise it ends, and prints, when Python does

    return Opened(lambda values, step: opened.log(dict(values), step=step), close)


def _mlflow(experiment: str, run: str, settings: Mapping[str, Any]) -> Opened:
    client = import_module("mlflow").MlflowClient()
    known = client.get_experiment_by_name(experiment)
    number = client.create_experiment(experiment) if known is None else known.experiment_id
    name = client.create_run(number, run_name=run).info.run_id
    for key, value in settings.items():
        client.log_param(name, key, value)

    def log(values: Mapping[str, float], step: int) -> None:
        for key, value in values.items():
            client.log_metric(name, key, value, step=step)

    return Opened(log, lambda: client.set_terminated(name))


TRACKERS: dict[str, Callable[[str, str, Mapping[str, Any]], Opened]] = {
    "tensorboard": _tensorboard,
    "wandb": _wandb,
    "trackio": _trackio,
    "mlflow": _mlflow,
}
"""By name: opens a run. Takes the folder, project or experiment, the name of the run, and its settings."""
_FIRST_WORDS = {"tensorboard": "DIR", "wandb": "PROJECT", "trackio": "PROJECT", "mlflow": "EXPERIMENT"}


@final
class Tracker:
    """A tracker that was asked for as `tensorboard:DIR` or `wandb:PROJECT`; it opens one run for each of ours."""

    def __init__(self, text: str):
        name, colon, target = text.partition(":")
        forms = ", ".join(f"{x}:{target}" for x, target in _FIRST_WORDS.items())
        if name not in TRACKERS:
            near = nearest(name, TRACKERS)
            raise RequestError(
                f"log = {text!r} is not allowed: {f'perhaps you meant {near}; ' if near else ''}choose one of {forms}."
            )
        if not (colon and target.strip()):
            raise RequestError(f"log = {text!r} is not allowed: write {name}:{_FIRST_WORDS[name]}.")
        if name != "tensorboard" and find_spec(name) is None:
            raise RequestError(
                f"log = {text!r} is not allowed: the package {name!r} is not installed. 'pip install {name}' does it."
            )
        self.folder = Path(target) if name == "tensorboard" else None
        self._name, self._text, self._target = name, text, target
        self._runs: dict[str, Opened] = {}
        self._last: dict[str, int] = {}
        self._silent = False  # it failed: training goes on without it

    def open(self, run: str, settings: Mapping[str, Any]) -> None:
        """Open a run, if it is not open yet.

        Raises:
            RequestError: the tracker refuses; before any training that is better than later.
        """
        if run in self._runs:
            return
        try:
            with redirect_stdout(sys.stderr):  # some print, and stdout is for the answer
                self._runs[run] = TRACKERS[self._name](self._target, run, settings)
        except Exception as error:
            raise RequestError(f"log = {self._text!r} cannot be opened: {_first_line(error)}.") from None

    def log(self, run: str, settings: Mapping[str, Any], values: Mapping[str, float], step: int) -> None:
        """Log a row of a run, if its step is later than that of its last one. A tracker that fails gets no more rows."""
        if self._silent or step <= self._last.get(run, -1):
            return
        try:
            self.open(run, settings)
            with redirect_stdout(sys.stderr):
                self._runs[run].log(values, step)
        except Exception as error:  # of any package: it must not end a training
            self._silent = True
            _log.warning("Nothing more is logged to %s, and training goes on: %s.", self._text, _first_line(error))
        self._last[run] = step

    def close(self) -> None:
        """End all runs."""
        with redirect_stdout(sys.stderr):
            for opened in self._runs.values():
                try:
                    opened.close()
                except Exception as error:
                    _log.warning("%s could not be closed: %s.", self._text, _first_line(error))
        self._runs.clear()


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
