"""A Hugging Face Trainer. `whole FOLDER`: 20 steps; then the same again, killed at step 13. `resume FOLDER`: the rest of it."""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments, set_seed

from daybreak.lab import rows
from daybreak.watch.huggingface import WatchCallback

STEPS, DIES = 20, 13


class Dies(TrainerCallback):
    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if state.global_step == DIES:
            os.kill(os.getpid(), signal.SIGKILL)


def trainer(folder: Path, *callbacks: TrainerCallback) -> tuple[Trainer, WatchCallback]:
    set_seed(0)
    special: dict[str, Any] = {"bos_token_id": 0, "eos_token_id": 0}
    model = GPT2LMHeadModel(GPT2Config(n_layer=2, n_head=2, n_embd=16, vocab_size=40, n_positions=64, **special))
    data = [{"input_ids": x, "labels": x} for x in torch.randint(1, 40, (96, 24))]
    arguments = TrainingArguments(
        output_dir=str(folder / "out"),
        max_steps=STEPS,
        per_device_train_batch_size=8,
        save_steps=5,
        logging_steps=2,
        report_to=[],
        disable_tqdm=True,
        use_cpu=True,
        seed=3,
    )
    watch = WatchCallback(folder / "lab", "gpt", {"context": 24}, every=2)
    return Trainer(model, arguments, train_dataset=data, callbacks=[watch, *callbacks]), watch  # pyright: ignore


def record(folder: Path) -> dict[str, Any]:
    (run,) = (folder / "lab" / "runs").iterdir()
    steps, curves = rows.read(run)
    return {
        "id": run.name,
        "steps": steps.tolist(),
        "loss": curves["loss"].tolist(),
        "induction": curves["induction"][1:].tolist(),
        "done": (run / "result.json").exists(),
        "settings": json.loads((run / "run.json").read_text())["settings"],
    }


what, folder = sys.argv[1], Path(sys.argv[2])
if what == "whole":
    trainer(folder / "whole")[0].train()
    trainer(folder / "killed", Dies())[0].train()
elif what == "resume":
    before = record(folder / "killed")
    one, watch = trainer(folder / "killed")
    one.train(resume_from_checkpoint=True)
    assert watch.watch is not None
    result = {"whole": record(folder / "whole"), "before": before, "after": record(folder / "killed")}
    print(json.dumps(result | {"id": watch.watch.id}))
