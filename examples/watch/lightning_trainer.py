"""Watch a model that the Trainer of Lightning trains. (A file named lightning.py would hide the package of that name.)

python examples/watch/lightning_trainer.py [--text my.txt] [--seed 1]
daybreak runs show ID
"""

from typing import Any

import lightning
import torch
from language import (
    BATCH,
    CLIP,
    CONTEXT,
    DECAY,
    LEARNING_RATE,
    loss_of,
    options,
    rate,
    settings,
    show_emergence,
    show_forecast,
)
from model import Language

from daybreak.watch.lightning import WatchCallback


class Module(lightning.LightningModule):
    """The model, its loss and its optimizer."""

    def __init__(self, vocabulary: int):
        super().__init__()
        self.model = Language(vocabulary)

    def training_step(self, batch: torch.Tensor, batch_idx: int) -> torch.Tensor:
        """Loss of a batch; and the end, some steps after the induction head has formed."""
        emerged = watch.watch and watch.watch.emerged
        self.trainer.should_stop |= bool(emerged and self.global_step > 1.1 * emerged)
        return loss_of(self.model, batch)

    def configure_optimizers(self) -> Any:
        """AdamW with warm-up."""
        optimizer = torch.optim.AdamW(self.parameters(), LEARNING_RATE, weight_decay=DECAY)
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}


chosen = options("A Trainer of Lightning, watched.")
watch = WatchCallback(
    chosen.lab,
    "lightning",
    settings(chosen, "attention-only"),
    model=lambda module: module.model,  # the part that takes tokens
    context=CONTEXT,
    on_forecast=show_forecast,
    on_emergence=show_emergence,
)
trainer = lightning.Trainer(
    max_steps=chosen.steps,
    gradient_clip_val=CLIP,
    accelerator="cpu",
    callbacks=[watch],
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
)
trainer.fit(Module(chosen.data.vocabulary), torch.utils.data.DataLoader(chosen.data, batch_size=BATCH))
if watch.watch is not None:
    print(f"run {watch.watch.id} in lab {chosen.lab!r}; watching took {watch.watch.cost:.2%} of the time")
