"""Watch a training loop of your own. An induction head forms while it runs.

python examples/watch/plain_loop.py [--text my.txt] [--seed 1]
daybreak runs show ID
"""

import torch
from language import (
    BATCH,
    CLIP,
    LEARNING_RATE,
    Language,
    Passages,
    loss_of,
    options,
    rate,
    settings,
    show_emergence,
    show_forecast,
    text_of,
)

from daybreak.watch import Watch

chosen = options("A plain loop of PyTorch, watched.")
data = Passages(text_of(chosen.text), chosen.repeat, chosen.seed)
batches = iter(torch.utils.data.DataLoader(data, batch_size=BATCH))
model = Language(data.vocabulary)
optimizer = torch.optim.AdamW(model.parameters(), LEARNING_RATE)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)

with Watch(
    model,
    chosen.lab,
    "plain-loop",
    settings(chosen),
    on_forecast=show_forecast,
    on_emergence=show_emergence,
) as watch:
    for step in range(chosen.steps):
        tokens = next(batches)
        loss = loss_of(model(tokens), tokens)
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

print(f"run {watch.id} in lab {chosen.lab!r}; probes took {watch.cost:.2%} of the time")
