"""How long help takes to appear, as a multiple of a bare `python -c pass`; `daybreak --help` may take ten times as long.

    python benchmarks/startup.py

Prints one JSON document: milliseconds (median of the rounds), and the median and range over the rounds of the ratio.
"""

import json
import statistics
import subprocess
import sys
import time

from report import Report

ROUNDS, ALLOWED = 15, 10.0
COMMANDS = {
    "python -c pass": ["-c", "pass"],
    "import daybreak": ["-c", "import daybreak"],
    "daybreak --version": ["-m", "daybreak", "--version"],
    "daybreak --help": ["-m", "daybreak", "--help"],
    "daybreak theory --help": ["-m", "daybreak", "theory", "--help"],
    "daybreak train --help": ["-m", "daybreak", "train", "--help"],
}


def seconds(arguments: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True)  # noqa: S603
    return time.perf_counter() - start


def main() -> None:
    """Measure and print."""
    document = Report("startup")
    for arguments in COMMANDS.values():  # compiles the sources, fills the disk cache
        seconds(arguments)
    rounds = [  # alternating, so that a slow moment of the machine hits all
        {name: seconds(arguments) for name, arguments in COMMANDS.items()} for _ in range(ROUNDS)
    ]
    report = {}
    for name in COMMANDS:
        ratios = [one[name] / one["python -c pass"] for one in rounds]
        report[name] = {
            "milliseconds": round(1e3 * statistics.median(one[name] for one in rounds), 1),
            "ratio": round(statistics.median(ratios), 1),
            "range": [round(min(ratios), 1), round(max(ratios), 1)],
        }
        goal = ALLOWED if name == "daybreak --help" else None
        if name != "python -c pass":
            document.add(f"`{name}`", ratios, "times a bare Python", at_most=goal)
    document.write()
    within = report["daybreak --help"]["ratio"] <= ALLOWED
    print(json.dumps(report | {"allowed": ALLOWED, "within": within}, indent=2))


if __name__ == "__main__":
    main()
