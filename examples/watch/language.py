"""What the three examples share: real text in which the sequences repeat a passage, sizes, and what is printed.

The same as `daybreak train text`: text, sequences, sizes and optimizer are those of the preset `text-induction`.
"""

import argparse
from collections.abc import Iterator

import numpy as np
import torch
from torch.nn import functional

from daybreak.errors import RequestError
from daybreak.tasks import Text

CONTEXT, BATCH, WIDTH, HEADS, LAYERS = 64, 16, 128, 4, 2
LEARNING_RATE, DECAY, WARM_UP, CLIP = 2e-3, 0.01, 100, 1.0
PASSAGE, COPIES = 10, 4  # tokens that repeat, and how often they occur


def options(description: str) -> argparse.Namespace:
    """The command line of an example, with the text that it names as `data`."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--text", default="classics", help="a text file; by default the text that comes with Daybreak")
    parser.add_argument("--repeat", type=float, default=1.0, help="share of the sequences that repeat a passage")
    parser.add_argument("--steps", type=int, default=8000, help="at most; training ends some steps after emergence")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--lab", default="lab", help="folder of the lab")
    chosen = parser.parse_args()
    torch.set_num_threads(1)  # more do not help a model this small
    torch.manual_seed(chosen.seed)
    try:
        chosen.data = Passages(Text(chosen.text, T=CONTEXT), chosen.repeat, chosen.seed)
    except RequestError as error:
        parser.error(str(error))
    return chosen


class Passages(torch.utils.data.IterableDataset):
    """Pieces of a text, one token longer than the context. In a share of them a passage occurs four times, at equal distances."""

    def __init__(self, task: Text, repeat: float, seed: int):
        super().__init__()
        self.task, self.repeat, self.seed = task, repeat, seed
        self.text, self.vocabulary = task.corpus.tokens.astype(np.int64), task.vocabulary

    def __iter__(self) -> Iterator[torch.Tensor]:
        draw, split = np.random.default_rng(self.seed), self.task.split  # the split leaves out a tenth of the text
        while True:
            start = split.first + split.stride * draw.integers(split.parts) + draw.integers(split.length - CONTEXT)
            piece = self.text[start : start + CONTEXT + 1].copy()
            if draw.random() < self.repeat:
                distance = draw.integers(PASSAGE, (CONTEXT + 1 - PASSAGE) // (COPIES - 1) + 1)
                begin = draw.integers(CONTEXT + 2 - PASSAGE - (COPIES - 1) * distance)
                for copy in range(1, COPIES):
                    at = begin + copy * distance
                    piece[at : at + PASSAGE] = piece[begin : begin + PASSAGE]
            yield torch.from_numpy(piece)

    def held_out(self, count: int = 256) -> torch.Tensor:
        """Pieces of the tenth that is never trained on, without repetition."""
        pieces = iter(Passages(self.task.clean(), 0.0, 0))
        return torch.stack([next(pieces) for _ in range(count)])


def loss_of(model: torch.nn.Module, pieces: torch.Tensor) -> torch.Tensor:
    """Cross-entropy of each next token."""
    return functional.cross_entropy(model(pieces[:, :-1]).flatten(0, 1), pieces[:, 1:].flatten())


def rate(step: int) -> float:
    """Warm-up, as a factor."""
    return min(1.0, (step + 1) / WARM_UP)


def settings(chosen: argparse.Namespace, model: str) -> dict[str, float | str]:
    """Columns of the lab. Runs that differ only in the seed predict each other."""
    return {"model": model, "context": CONTEXT, "batch": BATCH, "repeat": chosen.repeat, "seed": chosen.seed}


def show_forecast(forecast: object, step: int, shown: set[str] = set()) -> None:  # noqa: B006
    """A line for each new forecast: while only other runs are evidence, it stays the same."""
    if str(forecast) not in shown:
        shown.add(str(forecast))
        print(f"step {step:>5}: it will emerge at step {forecast}", flush=True)


def show_emergence(step: float) -> None:
    """A line for the event."""
    print(f"an induction head has emerged at step {step:.0f}", flush=True)
