"""A Lightning Trainer: 12 steps; the same in two parts, of which the second resumes a checkpoint; and with added gradients."""

import json
import sys
from pathlib import Path
from typing import Any

import lightning
import torch
from torch.nn import functional

from daybreak.lab import rows
from daybreak.watch.lightning import WatchCallback
from tests.watch.scripts.models import Language


class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.model = Language("fused")

    def training_step(self, batch: Any, batch_idx: int) -> torch.Tensor:
        return functional.cross_entropy(self.model(batch)[:, :-1].transpose(1, 2), batch[:, 1:])

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.AdamW(self.parameters(), 1e-3)


def train(folder: Path, steps: int, checkpoint: Path | None = None, **options: Any) -> WatchCallback:
    lightning.seed_everything(0)
    data = torch.utils.data.DataLoader(torch.randint(40, (96, 24)).unbind(), batch_size=8)  # pyright: ignore
    watch = WatchCallback(folder / "lab", "lightning", {"context": 24}, model=lambda module: module.model, every=2)
    quiet = {
        "logger": False,
        "enable_progress_bar": False,
        "enable_model_summary": False,
        "enable_checkpointing": False,
    }
    trainer = lightning.Trainer(max_steps=steps, accelerator="cpu", callbacks=[watch], **quiet, **options)
    trainer.fit(Module(), data, ckpt_path=checkpoint, weights_only=checkpoint and False)
    trainer.save_checkpoint(folder / f"{steps}.ckpt")
    return watch


def record(folder: Path) -> dict[str, Any]:
    (run,) = (folder / "lab" / "runs").iterdir()
    steps, curves = rows.read(run)
    return {
        "id": run.name,
        "steps": steps.tolist(),
        "shape": curves["induction"].shape[1:],
        "done": (run / "result.json").exists(),
    }


folder = Path(sys.argv[1])
train(folder / "whole", 12)
train(folder / "parts", 6)
train(folder / "parts", 12, folder / "parts" / "6.ckpt")
train(folder / "added", 6, accumulate_grad_batches=2)
print(json.dumps({name: record(folder / name) for name in ("whole", "parts", "added")}))
