"""How often to evaluate a run so that it can be forecast: often enough until half of its plateau, and not more often than that."""

from typing import TYPE_CHECKING

import numpy as np

from daybreak.lab import index
from daybreak.lab.reading.published import published

if TYPE_CHECKING:
    from daybreak.training import Run

_BY_HALF = 10  # evaluations until half of the plateau; small networks needed 7 to 9 (docs/guides/forecast.md)
_LEAST, _MOST = 2, 20  # steps between two evaluations; an evaluation costs about as much as three steps
_ROUND = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


def spacing(run: "Run") -> int:
    """Steps between two evaluations, from the plateau that the published law predicts; 20 where there is no law."""
    from daybreak.training import to_json

    settings = {name: np.array([x]) for name, x in index.settings(to_json(run)).items()}
    paper = published(settings)
    if paper is None:
        return _MOST
    return int(np.clip(round_down(float(paper.predict(settings)[0]) / (2 * _BY_HALF)), _LEAST, _MOST))


def round_down(steps: float) -> int:
    """The largest round number of steps that is not larger; at least 1.

    Example:
        >>> round_down(7.5), round_down(0.3)
        (5, 1)
    """
    return max((x for x in _ROUND if x <= steps), default=1)
