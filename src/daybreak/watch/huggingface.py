"""A callback for the `Trainer` of Hugging Face: `Trainer(…, callbacks=[WatchCallback(lab="lab", name="my-gpt")])`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, final

from transformers import TrainerCallback
from transformers.trainer_callback import ExportableState

from daybreak.watch.watch import Watch

_PLAIN = (str, int, float, bool, type(None), dict)


@final
class WatchCallback(TrainerCallback, ExportableState):
    """Watches the model of a `Trainer`. A resumed training goes on with the record of its checkpoint.

    The loss is what the Trainer logs, at its `logging_steps`. Batch size, learning rate and seed are settings of the run.

    Args:
        lab: folder of the lab.
        name: of the run, for people.
        settings: further settings, or others than those of the Trainer.
        options: every other argument of `Watch`.
    """

    def __init__(
        self,
        lab: str | Path | None = "lab",
        name: str = "model",
        settings: Mapping[str, Any] | None = None,
        **options: Any,
    ):
        self._given = {"lab": lab and str(lab), "name": name, "settings": dict(settings or {}), **options}
        self.watch: Watch | None = None
        self.restored: dict[str, Any] | None = None  # the state of a checkpoint, until training begins

    def on_train_begin(self, args: Any, state: Any, control: Any, model: Any = None, **kwargs: Any) -> None:
        """Begin to watch, or go on."""
        settings = {
            "batch": args.per_device_train_batch_size * args.gradient_accumulation_steps * args.world_size,
            "learning_rate": float(args.learning_rate),
            "seed": args.seed,
        }
        self.watch = Watch(model, **self._given | {"settings": settings | self._given["settings"]})
        restored = self.restored or _stored(state.stateful_callbacks.get(type(self).__name__))
        if restored is not None and state.global_step > 0:
            self.watch.load_state_dict(restored)

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Probe now and then."""
        if self.watch is not None and state.is_world_process_zero:
            self.watch.step(state.global_step)

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **kwargs: Any) -> None:
        """Store the losses that the Trainer has logged."""
        losses = {name: logs[name] for name in ("loss", "eval_loss") if name in (logs or {})}
        if self.watch is not None and state.is_world_process_zero and losses:
            self.watch.note(state.global_step, **losses)

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """The run is done."""
        if self.watch is not None:
            self.watch.close()

    def state(self) -> dict[str, Any]:
        """What the Trainer puts into a checkpoint. Functions cannot be stored: give them again when you resume."""
        arguments = {name: value for name, value in self._given.items() if isinstance(value, _PLAIN)}
        restored = self.restored if self.watch is None else self.watch.state_dict()
        return {"args": arguments, "attributes": {"restored": restored}}


def _stored(saved: Any) -> dict[str, Any] | None:
    """The state of a checkpoint, of the last one if there are several callbacks of this kind."""
    last = saved[-1] if isinstance(saved, list) and saved else saved
    return last["attributes"].get("restored") if isinstance(last, dict) else None
