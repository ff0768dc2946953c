"""A callback for the `Trainer` of Lightning: `Trainer(…, callbacks=[WatchCallback(lab="lab", name="my-gpt")])`."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from daybreak.watch.watch import Watch

if TYPE_CHECKING:
    from lightning.pytorch import Callback
else:
    try:
        from lightning.pytorch import Callback
    except ImportError:
        from pytorch_lightning import Callback  # the same under its older name


@final
class WatchCallback(Callback):
    """Watches the model of a Lightning `Trainer`. A resumed training goes on with the record of its checkpoint.

    Args:
        lab: folder of the lab.
        name: of the run, for people.
        settings: plain values, columns of `daybreak runs list`.
        model: from the LightningModule to the module that takes tokens; by default the LightningModule itself.
        options: every other argument of `Watch`.
    """

    def __init__(
        self,
        lab: str | Path | None = "lab",
        name: str = "model",
        settings: Mapping[str, Any] | None = None,
        *,
        model: Callable[[Any], Any] | None = None,
        **options: Any,
    ):
        super().__init__()
        self._given = {"lab": lab, "name": name, "settings": settings, **options}
        self._model = model
        self._restored: dict[str, Any] | None = None
        self._last: int | None = None
        self.watch: Watch | None = None

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        """Begin to watch, or go on."""
        self.watch = Watch(pl_module if self._model is None else self._model(pl_module), **self._given)
        if self._restored is not None:
            self.watch.load_state_dict(self._restored)

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        """Note the loss, and probe now and then. Batches whose gradients are added up are one step."""
        step = int(trainer.global_step)
        if self.watch is not None and trainer.is_global_zero and step != self._last:
            self._last = step
            self.watch.step(step, loss=outputs.get("loss") if isinstance(outputs, Mapping) else outputs)

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        """The run is done."""
        if self.watch is not None:
            self.watch.close()

    def state_dict(self) -> dict[str, Any]:
        """What Lightning puts into a checkpoint."""
        return {} if self.watch is None else self.watch.state_dict()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Keep the state of a checkpoint until training starts."""
        self._restored = state_dict or None
