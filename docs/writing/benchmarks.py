"""The page of benchmarks, from the files that they leave in results/benchmarks."""

import json
from pathlib import Path
from typing import Any

_HEAD = """# Benchmarks

*For readers who want to know how fast Daybreak is, on which machine, and how that was measured.*

Written by `make bench` from what each benchmark leaves in `results/benchmarks`; no number here was typed. A time is a median with its
range. Most goals are ratios against a peer or a limit that is measured in the same minute, because times depend on the machine.
A load at the start above a quarter of the cores means that other programs ran too, and that the numbers are not reliable.
"""
BENCHMARKS = {
    "startup": ("The command starts", "benchmarks/startup.py", "Time until help is shown, against a bare Python."),
    "plateaus": ("Theory", "benchmarks/plateaus.py", "Plateau lengths of the flow, against a loop over SciPy's LSODA."),
    "laws": ("Laws", "benchmarks/laws.py", "A fit with its cluster bootstrap over configurations."),
    "training": ("Training", "benchmarks/training.py", "Steps against PyTorch, a run alone, and the machine's limit."),
    "step_trace": (
        "Where a step's time goes",
        "benchmarks/step_trace.py",
        "By XLA's own trace: products of matrices, and the largest kind of other operations.",
    ),
    "evaluations": ("Evaluations", "benchmarks/evaluations.py", "What an evaluation costs, in training steps."),
    "sweep": ("Sweeps", "benchmarks/sweep.py", "What a sweep costs besides training, and what a second worker gains."),
    "cost": ("Estimates of time", "benchmarks/cost.py", "What a dry run estimates, against the sweep itself."),
    "lab": ("The lab", "benchmarks/lab.py", "Saving, listing and fitting many runs."),
    "explorer": ("The explorer", "-m benchmarks.explorer", "Sliders, a large lab and memory, in a real browser."),
    "forecasts": ("Forecasts", "benchmarks/forecasts.py", "Error and coverage on runs that took no part in tuning."),
    "watch": ("Watching a model", "benchmarks/watch.py overhead", "What probes cost."),
    "watch_forecasts": ("Forecasts of a watched model", "benchmarks/watch.py forecasts", "At half of the plateau."),
    "thousand_workers": (
        "A thousand workers",
        "-m benchmarks.thousand_workers",
        "The driver of sweeps, against simulated workers that die, hang and raise.",
    ),
    "few_runs": ("Laws of few runs", "benchmarks/few_runs.py", "How well a law of a few runs predicts another run."),
}
"""Name of the file, and of each section the title, what to run, and what is measured."""


def page(folder: Path) -> str:
    """A section for each benchmark; one without a file says that it was not measured."""
    return "\n".join([_HEAD, *(_section(name, folder) for name in BENCHMARKS)])


def _section(name: str, folder: Path) -> str:
    title, command, about = BENCHMARKS[name]
    head = f"## {title}\n\n{about} Measured by `python {command}`.\n"
    path = folder / f"{name}.json"
    if not path.exists():
        return f"{head}\nNot measured yet.\n"
    document = json.loads(path.read_text(encoding="utf-8"))
    rows = "\n".join(_row(row) for row in document["rows"])
    columns = "| what | median | range | unit | goal | met |\n|---|---|---|---|---|---|"
    return f"{head}\n{_machine(document['machine'])}\n\n{columns}\n{rows}\n"


def _machine(machine: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    cores = f"{machine['cores']} core{'s' if machine['cores'] > 1 else ''}"
    return (
        f"{machine['cpu']}, {cores}, {machine['system']}; {machine['date']}, load {machine['load']:g} at the start.\n"
        f"Versions: {versions}."
    )


def _row(row: dict[str, Any]) -> str:
    span = "" if row["low"] is None else f"{_number(row['low'])} to {_number(row['high'])}"
    met = {True: "yes", False: "**no**", None: ""}[row["met"]]
    return f"| {row['name']} | {_number(row['median'])} | {span} | {row['unit']} | {row['goal'] or ''} | {met} |"


def _number(x: float) -> str:
    """Three significant digits; no exponent between a thousandth and a million."""
    return f"{x:.3g}" if abs(x) < 1e3 else f"{x:,.0f}"
