"""What was measured along a run: one row per evaluation."""

from dataclasses import dataclass
from typing import Literal, final

import numpy as np
from numpy.typing import NDArray

Outcome = Literal["emerged", "completed", "censored", "diverged"]


@final
@dataclass(frozen=True)
class Record:
    """The measured time series of one run, and how it ended.

    Args:
        steps: steps of training before each evaluation; the first is 0.
        curves: by name, one row per evaluation: `clean_loss`, `train_loss`, `clean_accuracy` and `train_accuracy` where the
            task has one, `attention` (layers, heads) to relevant positions and `entropy` (layers, heads); of a run with
            a schedule, `repetition`: the fraction of examples that repeat.
        outcome: whether it emerged, spent its budget before that (censored), spent it as asked because its stop rule has no
            level (completed), or diverged.
    """

    steps: NDArray[np.int64]
    curves: dict[str, NDArray[np.floating]]
    outcome: Outcome
