"""How good an estimate of the time is: `daybreak sweep --dry-run` against the sweep itself, with runs that spend their budgets.

    python benchmarks/cost.py [regression|recall|markov]

Each sweep is estimated twice: before anything was trained, by programs that are timed for this; and with the first sweep in the lab, for
as many runs with other seeds, by the rates of its runs. Both are divided by the seconds that the sweep took. What is reported is that
ratio or its inverse, whichever is larger; at most 1.5 is wanted. Compiled programs and rates are kept in a new folder, so nothing
is known in advance. Prints one JSON document.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from report import Report

WANTED = 1.5
SWEEPS = {
    "regression": """
preset = "paper-a-regression"
[task]
T = 32
d = 16
[stop]
budget = 400
level = 0.0
""",
    "recall": """
[task]
name = "recall"
N = 8
V = 64
[model]
name = "transformer"
layers = 2
heads = 2
width = 64
head_width = 32
mlp = 256
causal = true
[stop]
budget = 4_000
every = 50
level = 0.0
""",
    "markov": """
preset = "paper-b-minimal"
[stop]
budget = 200
level = 0.0
""",
}
_SEEDS = 4


def check(name: str, folder: Path) -> dict[str, Any]:
    """Estimate a sweep, train it, and estimate it once more for other seeds."""
    file, lab = folder / f"{name}.toml", folder / f"{name} lab"
    file.write_text(f"seeds = {_SEEDS}\n{SWEEPS[name]}")
    before = estimate(file, lab)
    began = time.perf_counter()
    daybreak(file, lab)
    seconds = time.perf_counter() - began
    file.write_text(f"seeds = {2 * _SEEDS}\n{SWEEPS[name]}")
    after = estimate(file, lab)
    return {
        "seconds": round(seconds, 1),
        "estimated": round(before["seconds_at_most"], 1),
        "by": before["rates_by"],
        "ratio": round(before["seconds_at_most"] / seconds, 2),
        "estimated_later": round(after["seconds_at_most"], 1),
        "by_later": after["rates_by"],
        "ratio_later": round(after["seconds_at_most"] / seconds, 2),
        "seconds_to_estimate": round(before["took"], 1),
    }


def estimate(file: Path, lab: Path) -> dict[str, Any]:
    """The plan of a sweep, and how long it took to make it."""
    began = time.perf_counter()
    plan = json.loads(daybreak(file, lab, "--dry-run", "--json"))
    return plan | {"took": time.perf_counter() - began}


def daybreak(file: Path, lab: Path, *options: str) -> str:
    """The output of a sweep."""
    command = [sys.executable, "-m", "daybreak", "sweep", str(file), "--lab", str(lab), *options]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout  # noqa: S603


def larger(ratio: float) -> float:
    """A ratio or its inverse."""
    return max(ratio, 1 / ratio)


def main() -> None:
    """Measure and print."""
    document, answers = Report("cost"), {}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["JAX_COMPILATION_CACHE_DIR"] = str(Path(folder) / "programs")
        for name in sys.argv[1:] or SWEEPS:
            answers[name] = check(name, Path(folder))
    print(json.dumps(answers, indent=2))
    for name, answer in answers.items():
        for key, how in (("ratio", "by timed programs"), ("ratio_later", "by runs in the lab")):
            document.add(f"{name}: estimate against the sweep, {how}", larger(answer[key]), "times", at_most=WANTED)
        document.add(f"{name}: the sweep", answer["seconds"], "s")
        document.add(f"{name}: the estimate, with timing programs", answer["seconds_to_estimate"], "s")
    document.write()


if __name__ == "__main__":
    main()
