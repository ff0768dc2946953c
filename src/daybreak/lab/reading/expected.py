"""How many steps runs are expected to train: as long as runs of their kind did, or as a published law predicts."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median_low
from typing import TYPE_CHECKING, Any, final

from daybreak.lab import index

if TYPE_CHECKING:
    from daybreak.lab.store import Lab
    from daybreak.training import Run

_WITHOUT_EFFECT = frozenset({"seed", "budget", "every", "margin", "evaluation"})  # settings that do not move a plateau


@final
@dataclass(frozen=True)
class ExpectedSteps:
    """Steps that runs are expected to train, and how that is known.

    Args:
        steps: by the id of a run; without those of which nothing is known.
        source: in words; empty if nothing is known.
    """

    steps: dict[str, float]
    source: str


def expected_steps(lab: "Lab", runs: "Sequence[Run]") -> ExpectedSteps:
    """Steps that runs will train until they have emerged and trained for their margin; at most their budgets.

    The plateau of a run is the median of the lab's runs that differ only in seed and stop rule, but not in its level; if there is
    none, that of the published law. A run without a level trains for its budget.
    """
    from daybreak.lab.reading.published import published
    from daybreak.training import to_json

    measured = _plateaus(lab)
    steps, sources = {}, set()
    for run in runs:
        settings = index.settings(to_json(run))
        law = None if run.schedule.name != "constant" else published({name: [x] for name, x in settings.items()})
        if not run.stop.level:
            plateau, source = math.inf, "their budgets"
        elif alike := measured.get(_kind(settings)):
            plateau, source = median_low(alike), "runs of this kind in the lab"
        elif law is not None:
            plateau, source = float(law.predict({name: [settings[name]] for name in law.exponents})[0]), law.source
        else:
            continue
        steps[run.id] = min(plateau * (1 + run.stop.margin), float(run.stop.budget))
        sources.add(source)
    return ExpectedSteps(steps, " and ".join(sorted(sources)))


def _plateaus(lab: "Lab") -> dict[frozenset, list[float]]:
    """Plateaus of the lab's runs by kind; infinite for those that did not emerge."""
    table = lab.query()
    if not table.num_rows:
        return {}
    names = [*index.setting_columns(table.column_names), "plateau", "censored"]
    plateaus: dict[frozenset, list[float]] = {}
    for row in table.select(names).to_pylist():
        length, censored = row.pop("plateau"), row.pop("censored")
        if length is not None:
            plateaus.setdefault(_kind(row), []).append(math.inf if censored else length)
    return plateaus


def _kind(settings: dict[str, Any]) -> frozenset:
    """What runs of one kind share."""
    return frozenset((name, x) for name, x in settings.items() if x is not None and name not in _WITHOUT_EFFECT)
