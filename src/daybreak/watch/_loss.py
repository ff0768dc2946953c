"""The loss of somebody's training, as means over steps: read from the device when a row is written, not at every step."""

from typing import Any, final

import torch

_CLOSEST, _PART = 10, 200  # steps between rows of the loss: at least ten, later a part of the steps so far


@final
class MeanLoss:
    """Adds up losses where they are, and gives their mean."""

    def __init__(self):
        self._sum: Any = None
        self._count = 0
        self._next = 0

    def add(self, loss: Any) -> None:
        """Count a loss, a number or a tensor of any shape; None is no loss."""
        if loss is None:
            return
        value = loss.detach().float().mean() if torch.is_tensor(loss) else float(loss)
        self._sum = value if self._sum is None else self._sum + value
        self._count += 1

    def due(self, step: int) -> bool:
        """Whether it is time for a row."""
        return self._count > 0 and step >= self._next

    def take(self, step: int) -> float | None:
        """The mean since the last row; None if there was no loss."""
        self._next = step + max(_CLOSEST, step // _PART)
        if not self._count:
            return None
        mean = float(self._sum) / self._count
        self._sum, self._count = None, 0
        return mean


def as_number(value: Any) -> float:
    """A number, or a tensor with one element, as a float."""
    return float(value.detach()) if torch.is_tensor(value) else float(value)
