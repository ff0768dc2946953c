"""Seconds to fit a law to 10 000 rows with 1 000 draws of the cluster bootstrap over configurations, by method; at most 5 are allowed.

    python benchmarks/laws.py

Prints one JSON document: the median of five measurements for each method.
"""

import json
import statistics
import time

import numpy as np

from daybreak.measure import fit_law
from report import Report

ROWS, DRAWS, REPEATS, ALLOWED = 10_000, 1_000, 5, 5.0


def table() -> dict[str, np.ndarray]:
    """2 000 configurations of five seeds, noise 20 %, the longest 30 % censored."""
    rng = np.random.default_rng(0)
    configuration = np.repeat(np.arange(ROWS // 5), 5)
    d, T, B = (2.0 ** rng.uniform(low, high, ROWS // 5)[configuration] for low, high in ((4, 9), (6, 12), (0, 4)))
    plateau = 0.76 * d**1.29 * (T / B) ** 0.8 * np.exp(0.2 * rng.standard_normal(ROWS))
    budget = np.quantile(plateau, 0.7)
    return {
        "d": d,
        "T": T,
        "B": B,
        "configuration": configuration,
        "full": plateau,
        "plateau": np.minimum(plateau, budget),
        "censored": plateau > budget,
    }


def seconds(data: dict[str, np.ndarray], method: str) -> float:
    """One fit of the law, with its draws."""
    start = time.perf_counter()
    form = "C * d**a * T**b * B**c"
    if method == "tobit":
        fit_law(form, data, censored="censored", cluster="configuration", bootstrap=DRAWS)
    elif method == "huber":
        fit_law(form, data, y="full", method="huber", cluster="configuration", bootstrap=DRAWS)
    else:
        fit_law(form, data, y="full", cluster="configuration", bootstrap=DRAWS)
    return time.perf_counter() - start


def main() -> None:
    """Measure and print."""
    document, data, medians = Report("laws"), table(), {}
    for method in ("ols", "huber", "tobit"):
        times = [seconds(data, method) for _ in range(REPEATS)]
        medians[method] = round(statistics.median(times), 3)
        document.add(f"a law of {ROWS:,} rows, {DRAWS:,} draws, {method}", times, "s", at_most=ALLOWED)
    document.write()
    within = max(medians.values()) <= ALLOWED
    print(
        json.dumps({"rows": ROWS, "draws": DRAWS, "seconds": medians, "allowed": ALLOWED, "within": within}, indent=2)
    )


if __name__ == "__main__":
    main()
