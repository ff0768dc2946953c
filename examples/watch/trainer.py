"""Watch a model that the Trainer of Hugging Face trains: a Llama of two layers, from scratch, offline.

python examples/watch/trainer.py [--text my.txt] [--seed 1]
daybreak runs show ID
"""

from typing import Any

import torch
from language import (
    BATCH,
    CLIP,
    CONTEXT,
    DECAY,
    HEADS,
    LAYERS,
    LEARNING_RATE,
    WARM_UP,
    WIDTH,
    options,
    settings,
    show_emergence,
    show_forecast,
)
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainerCallback, TrainingArguments

from daybreak.watch.huggingface import WatchCallback


class StopAfterEmergence(TrainerCallback):
    """Ends training some steps after the induction head has formed."""

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Stop a tenth later."""
        emerged = watch.watch and watch.watch.emerged
        control.should_training_stop |= bool(emerged and state.global_step > 1.1 * emerged)


def batch_of(pieces: list[torch.Tensor]) -> dict[str, torch.Tensor]:
    """Tokens are their own labels."""
    return {"input_ids": torch.stack(pieces), "labels": torch.stack(pieces)}


chosen = options("A Trainer of Hugging Face, watched.")
model = LlamaForCausalLM(
    LlamaConfig(
        vocab_size=chosen.data.vocabulary,
        hidden_size=WIDTH,
        intermediate_size=WIDTH // 4,  # small: attention is to do the work
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        max_position_embeddings=CONTEXT,
        attention_bias=True,  # positions alone can then decide where a head looks
        initializer_range=0.05,
        bos_token_id=None,
        eos_token_id=None,
    )
)
watch = WatchCallback(
    chosen.lab, "trainer", settings(chosen, "llama"), on_forecast=show_forecast, on_emergence=show_emergence
)
arguments = TrainingArguments(
    output_dir=f"{chosen.lab}-checkpoints",
    max_steps=chosen.steps,
    per_device_train_batch_size=BATCH,
    learning_rate=LEARNING_RATE,
    weight_decay=DECAY,
    lr_scheduler_type="constant_with_warmup",
    warmup_steps=WARM_UP,
    max_grad_norm=CLIP,
    seed=chosen.seed,
    logging_steps=200,
    save_strategy="no",
    report_to=[],
    disable_tqdm=True,
    use_cpu=True,
)
callbacks = [watch, StopAfterEmergence()]
Trainer(model, arguments, train_dataset=chosen.data, data_collator=batch_of, callbacks=callbacks).train()
if watch.watch is not None:
    print(f"run {watch.watch.id} in lab {chosen.lab!r}; watching took {watch.watch.cost:.2%} of the time")
