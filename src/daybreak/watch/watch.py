"""`Watch`: probes a PyTorch model while somebody's loop trains it, stores what it sees in a lab, and forecasts emergence.

Training never ends because it is watched. What cannot be measured or stored is said once, as a warning, and left out.
"""

import os
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, final

import numpy as np
import torch

from daybreak.errors import RequestError, refuse
from daybreak.measure import Forecast, NotEnoughEvidence, Plateau
from daybreak.watch._loss import MeanLoss, as_number
from daybreak.watch.attention import AttentionFunction
from daybreak.watch.measurement import Inputs, Measurement
from daybreak.watch.outlook import checked, outlook
from daybreak.watch.probes import DEFAULT, Probe, in_context_learning
from daybreak.watch.record import Emerges, Record, sentence
from daybreak.watch.spacing import Spacing

_LEVELS = {"induction": 0.3}  # of the best head: far above chance (1 / position), and before it is finished
_ATTENTION = ("induction", "previous_token", "duplicate_token", "sink")
_UP = (*_ATTENTION, "copying")
_NO_LAW, _OF_SEEDS = "none", ""  # instead of the form of a law


@final
class Watch:
    """Watches one training. Call `step` after each training step, and `close` at the end.

    Args:
        model: any module. `torch.compile` and data parallelism around it are looked through.
        lab: folder of the lab that gets an observed run; it is made if there is none. None: nothing is stored.
        name: of the run, for people.
        settings: plain values such as `{"context": 256, "batch": 8}`: columns of `daybreak runs list`, and of laws.
        probes: functions by name, see `daybreak.watch.probes`; by default `probes.DEFAULT`.
        every: steps between probes. By default as often as `share` allows, more often while something changes.
        share: largest fraction of the training time that watching takes.
        curve: what is waited for: a probe, or `loss`.
        level: value of it that counts as emerged; 0.3 for `induction`.
        direction: `up` if the curve rises to the level, `down` if it falls to it.
        attention: `attention(model, tokens)` that returns the attention of each layer, (batch, head, query, key), for a model
            whose attention is not found.
        vocabulary: number of token ids, or the ids that the probe batch is drawn from.
        context: longest sequence that the model takes, if it does not state it.
        law: of the lab's other finished runs, such as `C * context**a`, or `none`. By default runs of the same settings, but for the
            seed, predict this one.
        prior: such a prediction of your own instead: the median step of emergence, and the standard deviation of its logarithm.
        text: ids of held-out text, (batch, length), for the in-context-learning score.
        log: `log(values, step)` gets what is measured, as plain numbers: a line for wandb, MLflow, TensorBoard.
        on_emergence: called once with the step of emergence.
        on_forecast: called with a forecast and the step, after each probe for which there is one.
    """

    def __init__(
        self,
        model: torch.nn.Module,
        lab: str | Path | None = "lab",
        name: str = "model",
        settings: Mapping[str, Any] | None = None,
        *,
        probes: Mapping[str, Probe] | None = None,
        every: int | None = None,
        share: float = 0.01,
        curve: str = "induction",
        level: float | None = None,
        direction: Literal["up", "down"] | None = None,
        attention: AttentionFunction | None = None,
        vocabulary: int | Iterable[int] | None = None,
        context: int | None = None,
        law: str | None = None,
        prior: tuple[float, float] | None = None,
        text: Any = None,
        log: Callable[[dict[str, float], int], Any] | None = None,
        on_emergence: Callable[[float], Any] | None = None,
        on_forecast: Callable[[Forecast, int], Any] | None = None,
    ):
        self._model = model
        self._said: set[str] = set()
        chosen = dict(DEFAULT if probes is None else probes)
        if text is not None and probes is None:
            chosen["in_context_learning"] = in_context_learning()
        self._emerges = _emerges(curve, level, direction, chosen)
        self._law, self._prior = None if prior is not None or lab is None else law or _OF_SEEDS, prior
        self._spacing = Spacing(share, every, abs(self._emerges.level) / 20)
        ids = vocabulary if vocabulary is None or isinstance(vocabulary, int) else tuple(vocabulary)
        self._measurement = Measurement(chosen, Inputs(ids, context), text, attention, self._warn)
        self._record = Record(None if lab is None else Path(lab), name, dict(settings or {}), self._emerges, self._warn)
        self._functions = {"log": log, "on_emergence": on_emergence, "on_forecast": on_forecast}
        self._loss = MeanLoss()
        self._clock: float | None = None
        self._last: int | None = None
        self._probing = self._watching = True
        self._emerged: float | None = None

    def step(self, step: int, loss: Any = None, **values: Any) -> None:
        """Note a training step: cheap, and a probe now and then.

        Args:
            step: its number; it must increase.
            loss: of this step, a number or a tensor. It is not read from the device before it is stored, with others, as a mean.
            values: further numbers to store when the loss is.
        """
        if not self._watching or not first_rank():
            return
        with self._never_raising():
            self._step(int(step), loss, values)

    def note(self, step: int, **values: Any) -> None:
        """Store numbers of a step at once, such as a loss that something else has averaged. No probe."""
        if not self._watching or not first_rank():
            return
        with self._never_raising():
            if self._last is None or int(step) >= self._last:
                self._last = int(step)
                self._store({}, values)

    def forecast(
        self, name: str | None = None, level: float | None = None, direction: Literal["up", "down"] | None = None
    ) -> Forecast | NotEnoughEvidence | Plateau:
        """When it emerges, with an 80 % interval; or when it did; or why there is not enough evidence.

        Args:
            name: a curve; by default the one that is waited for.
            level: of that curve, if it is another one.
            direction: likewise; `up` or `down`.
        """
        emerges = self._emerges
        if name not in (None, emerges.curve) or level is not None:
            emerges = checked(self._record, name or emerges.curve, level, direction or emerges.direction)
        leading = emerges.curve if emerges.curve in _ATTENTION else "induction"
        prior = self._prediction() if emerges == self._emerges else None
        return outlook(self._record, emerges, leading if leading in self._record.names() else None, prior)

    def _prediction(self) -> tuple[float, float] | None:
        """What the user or the lab's other runs predict; looked up once, at the first forecast."""
        form, self._law = self._law, None
        if form is not None and form != _NO_LAW:
            try:
                self._prior = self._record.prediction(form or None)
            except (OSError, ValueError) as error:
                self._warn(f"no law is used: {sentence(error)}")
        return self._prior

    @property
    def cost(self) -> float:
        """The share of the training time that watching took so far."""
        return self._spacing.cost

    @property
    def id(self) -> str | None:
        """The id of the observed run in the lab; None before the first row."""
        return self._record.id

    @property
    def emerged(self) -> float | None:
        """The step of emergence; None before it."""
        return self._emerged

    def close(self) -> None:
        """Store what is left, and mark the run as done. Nothing happens if it was never stepped."""
        if self._watching and first_rank():
            with self._never_raising():
                self._store({}, {})
                self._record.finish()
        self._watching = False

    def __enter__(self) -> "Watch":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:  # otherwise the run stays unfinished, and can be resumed
            self.close()

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint needs to go on with the same record: plain values."""
        if self._watching and first_rank():
            with self._never_raising():
                self._store({}, {})
        return {
            "run": self._record.id,
            "step": self._last,
            "elapsed": self._spacing.elapsed,
            "spent": self._spacing.spent,
            "emerged": self._emerged,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on with the record of a checkpoint. Rows after it no longer count."""
        if not first_rank() or state.get("run") is None or state.get("step") is None:
            return
        self._record.resume(str(state["run"]), int(state["step"]))
        self._last = int(state["step"])
        self._spacing.elapsed, self._spacing.spent = float(state["elapsed"]), float(state["spent"])
        self._emerged = state.get("emerged")

    @contextmanager
    def _never_raising(self) -> Iterator[None]:
        """Training goes on whatever happens inside; watching then ends, with a warning."""
        try:
            yield
        except Exception as error:
            self._watching = False
            self._warn(f"watching has ended: {sentence(error)}")

    def _step(self, step: int, loss: Any, values: Mapping[str, Any]) -> None:
        start = time.perf_counter()
        since = 0.0 if self._clock is None else start - self._clock
        self._clock = start
        if self._last is not None and step <= self._last:
            self._warn(f"a step that is not after the one before is left out, first at step {step}.")
            return
        self._last = step
        self._loss.add(loss)
        probing = self._spacing.due(step, since) and self._probing
        found: dict[str, np.ndarray] = {}
        if probing or self._loss.due(step):
            _finish_on_device()  # or watching would be charged for training that is under way
            start = time.perf_counter()
            found = self._probe(step) if probing else found
            self._store(found, values)
        self._clock = time.perf_counter()
        if probing:
            best = self._emerges.best(found[self._emerges.curve]) if self._emerges.curve in found else None
            self._spacing.probed(step, self._clock - start, best)
        else:
            self._spacing.worked(self._clock - start)

    def _probe(self, step: int) -> dict[str, np.ndarray]:
        """What the probes say; nothing if the model cannot be probed, and then it is not tried again."""
        try:
            found = self._measurement.values(self._model)
        except Exception as error:
            self._probing = False
            self._warn(f"the model is not probed: {sentence(error)}")
            return {}
        if not all(np.isfinite(value).any() for value in found.values()):
            self._warn(f"probes are stored but not finite, and forecasts leave them out, first at step {step}.")
        return found

    def _store(self, found: Mapping[str, np.ndarray], values: Mapping[str, Any]) -> None:
        """Write a row: what was probed, the mean loss since the last row, and the user's values."""
        if self._last is None:
            return
        row: dict[str, Any] = {name: as_number(value) for name, value in values.items()} | dict(found)
        mean = self._loss.take(self._last)
        row |= {} if mean is None else {"loss": mean}
        if not np.isfinite(row.get("loss", 0.0)):
            self._warn(f"the loss is stored but not finite, and forecasts leave it out, first at step {self._last}.")
        if found:
            row["probe_share"] = self.cost
        if not row:
            return
        self._record.append(self._last, row)
        shown = {f"watch/{label}": x for name, value in row.items() for label, x in _numbers(name, value)}
        if self._emerges.curve in row and self._emerged is None:
            shown |= self._tell(self._last)
        self._call("log", shown, self._last)

    def _tell(self, step: int) -> dict[str, float]:
        """Call those who wait for a forecast or for emergence; the answer as numbers to log."""
        answer = self.forecast()
        if isinstance(answer, Plateau):
            self._emerged = answer.length
            self._call("on_emergence", answer.length)
            return {"watch/emerged": answer.length}
        if not isinstance(answer, Forecast):
            return {}
        self._call("on_forecast", answer, step)
        low, high = answer.interval
        return {"watch/forecast": answer.median, "watch/forecast_low": low, "watch/forecast_high": high}

    def _call(self, name: str, *arguments: Any) -> None:
        """Call a function of the user's, if there is one; one that fails is not called again."""
        function = self._functions.get(name)
        if function is None:
            return
        try:
            function(*arguments)
        except Exception as error:
            self._functions[name] = None
            self._warn(f"{name} failed ({type(error).__name__}: {error}) and is not called any more.")

    def _warn(self, message: str) -> None:
        """Say something once."""
        if message.split(", first at step ")[0] not in self._said:
            self._said.add(message.split(", first at step ")[0])
            warnings.warn(f"Daybreak: {message}", stacklevel=2)


def first_rank() -> bool:
    """Whether this is the only process, or the first one of a distributed training."""
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return torch.distributed.get_rank() == 0
    return os.environ.get("RANK", "0") == "0"


def _emerges(curve: str, level: float | None, direction: str | None, probes: Mapping[str, Any]) -> Emerges:
    """What is waited for, checked: it must be measured and have a level."""
    if curve != "loss" and curve not in probes:
        raise RequestError(
            f"curve = {curve!r} is not allowed: choose 'loss' or a probe, {', '.join(map(repr, probes))}."
        )
    level = _LEVELS.get(curve) if level is None else level
    if level is None:
        raise RequestError(f"level is missing: state the value of {curve} that counts as emerged.")
    refuse("level", level, not (isinstance(level, int | float) and np.isfinite(level)), "it must be a finite number")
    return Emerges(curve, float(level), "up" if (direction or _usual(curve)) == "up" else "down")


def _usual(curve: str) -> str:
    return "up" if curve in _UP else "down"


def _numbers(name: str, value: Any) -> list[tuple[str, float]]:
    """A value as numbers to log: of many heads the largest and the mean."""
    array = np.asarray(value, np.float64)
    if array.ndim == 0:
        return [(name, float(array))]
    finite = array[np.isfinite(array)]
    return [(f"{name}_max", float(finite.max())), (f"{name}_mean", float(finite.mean()))] if finite.size else []


def _finish_on_device() -> None:
    if torch.cuda.is_initialized():
        torch.cuda.synchronize()
