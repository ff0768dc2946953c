"""Watch a training loop of your own. An induction head forms while it runs.

python examples/watch/plain_loop.py [--text my.txt] [--seed 1]
daybreak runs show ID
"""

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

from daybreak.watch import Watch

chosen = options("A plain loop of PyTorch, watched.")
batches = iter(torch.utils.data.DataLoader(chosen.data, batch_size=BATCH))
model = Language(chosen.data.vocabulary)
optimizer = torch.optim.AdamW(model.parameters(), LEARNING_RATE, weight_decay=DECAY)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)

with Watch(
    model,
    chosen.lab,
    "plain-loop",
    settings(chosen, "attention-only"),
    context=CONTEXT,
    on_forecast=show_forecast,
    on_emergence=show_emergence,
) as watch:
    for step in range(chosen.steps):
        loss = loss_of(model, next(batches))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimizer.step()
        schedule.step()
        watch.step(step, loss=loss)
        if step % 500 == 0:
            print(f"step {step:>5}: loss {loss.item():.2f}; {watch.forecast('induction')}", flush=True)
        if watch.emerged is not None and step > 1.1 * watch.emerged:
            break

with torch.no_grad():
    print(f"loss on text that was not trained on: {loss_of(model, chosen.data.held_out()).item():.3f}")
print(f"run {watch.id} in lab {chosen.lab!r}; watching took {watch.cost:.2%} of the time")
