"""What a benchmark leaves besides its printed output: `results/benchmarks/NAME.json`, from which `make docs` writes docs/benchmarks.md.

A benchmark that is called with options measures something smaller, and leaves nothing.
"""

import json
import os
import platform
import statistics
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any, final

from daybreak._machine import cores
from daybreak.lab.provenance import processor

FOLDER = Path(__file__).parent.parent / "results" / "benchmarks"
_VERSIONS = ("daybreak", "jax", "numpy", "scipy", "torch")


def machine() -> dict[str, Any]:
    """Processor, cores, system, versions, date, and the load of the last minute."""
    return {
        "cpu": processor().removeprefix("cpu: "),
        "cores": len(cores()),
        "system": f"{platform.system()} {platform.machine()}",
        "versions": {"python": platform.python_version()} | {name: x for name in _VERSIONS if (x := _version(name))},
        "date": datetime.now(UTC).date().isoformat(),
        "load": round(os.getloadavg()[0], 2),
    }


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


@final
class Report:
    """The rows of one benchmark. Make it before anything is measured: it notes the load of the machine."""

    def __init__(self, name: str):
        self.name, self.machine, self.rows = name, machine(), []

    def add(
        self,
        name: str,
        values: float | Sequence[float],
        unit: str,
        *,
        at_least: float | None = None,
        at_most: float | None = None,
        span: tuple[float, float] | None = None,
    ) -> None:
        """A row: the median of some values and their range, or a number with a range that is known already."""
        many = [values] if isinstance(values, int | float) else list(values)
        low, high = span or ((min(many), max(many)) if len(many) > 1 else (None, None))
        median = statistics.median(many)
        goals = [f"{sign} {goal:g}" for sign, goal in (("≥", at_least), ("≤", at_most)) if goal is not None]
        met = (at_least is None or median >= at_least) and (at_most is None or median <= at_most)
        row = {"name": name, "median": median, "low": low, "high": high, "unit": unit}
        self.rows.append(row | {"goal": ", ".join(goals) or None, "met": met if goals else None})

    def write(self, folder: Path = FOLDER, options: Sequence[str] | None = None) -> Path | None:
        """Write the file, unless the benchmark was called with options."""
        if sys.argv[1:] if options is None else options:
            return None
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.name}.json"
        document = {"schema": 1, "name": self.name, "machine": self.machine, "rows": [_short(row) for row in self.rows]}
        path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        return path


def _short(row: dict[str, Any]) -> dict[str, Any]:
    """Numbers with four significant digits."""
    return {key: float(f"{x:.4g}") if isinstance(x, float) else x for key, x in row.items()}
