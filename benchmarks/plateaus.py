"""10 000 plateau lengths: Daybreak's batch against a loop over SciPy's LSODA, per plateau, warm, in the same run.

Both integrate the same flow to the same tolerance, 1e-8; the loop gets the field written out by hand in plain Python,
the fastest form for LSODA here. Errors are measured against SciPy's DOP853 at 1e-12.
"""

import json
import math
import resource
import statistics
import time
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from daybreak import theory
from report import Report

_COUNT, _LOOP, _REPEATS = 10_000, 60, 5


def draw(count: int, seed: int = 0) -> dict[str, Any]:
    """Settings like those of figures 1c and 2, with repetition of both kinds in a part of them."""
    random = np.random.default_rng(seed)
    return {
        "T": np.exp(random.uniform(np.log(64), np.log(4096), count)).round(),
        "d": np.exp(random.uniform(np.log(16), np.log(512), count)).round(),
        "B": np.exp(random.uniform(0, np.log(16), count)).round(),
        "p": np.where(random.random(count) < 0.5, 0.0, random.uniform(0, 0.5, count)),
    }


def by_scipy(T: float, d: float, B: float, p: float, *, method: str, tolerance: float) -> float:
    """One plateau, tied logits, in scaled time, with the field in plain Python."""
    scale = B * math.sqrt(1 + p * p * (d - 1)) / (math.sqrt(d) * T)
    sigma, goal, noise = (1 - p) / d, math.sqrt(d - 1), 1 / (d * (T - B))
    sigma_tilde = p + sigma

    def attention(delta_a: float) -> tuple[float, float]:
        odds = (T - B) * math.exp(-delta_a)
        return 1 / (odds + B), odds / (odds + B)

    def field(_, state):
        w_tilde, w, delta_a = state
        alpha, rest = attention(delta_a)
        signal = B * alpha
        pull_tilde, pull = sigma_tilde * (1 - signal * w_tilde), sigma * (goal - signal * w)
        return (
            (signal * pull_tilde - noise * rest * rest * w_tilde) / scale,
            (signal * pull - noise * rest * rest * w) / scale,
            signal * rest * (w_tilde * pull_tilde + w * pull + noise * rest * (w * w + w_tilde * w_tilde)) / scale,
        )

    def excess(_, state):
        w_tilde, w, delta_a = state
        alpha, rest = attention(delta_a)
        signal = B * alpha
        spread = noise * rest * rest * (w * w + w_tilde * w_tilde)
        return spread + ((signal * w_tilde - 1) ** 2 + (signal * w - goal) ** 2) / d - 0.2

    excess.terminal = True  # pyright: ignore[reportFunctionMemberAccess]
    options = {"method": method, "rtol": tolerance, "atol": tolerance, "events": excess}
    return float(solve_ivp(field, (0, 1e9), (0.0, 0.0, 0.0), **options).t_events[0][0] / scale)


def seconds(work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    document = Report("plateaus")
    settings = draw(_COUNT)
    rows = list(zip(*(x[:_LOOP].tolist() for x in settings.values()), strict=True))
    theory.plateau(**settings)  # compiles
    batch, loop = [], []
    for _ in range(_REPEATS):  # alternating, so that a slow moment of the machine affects both
        batch.append(seconds(lambda: theory.plateau(**settings)) / _COUNT)
        loop.append(seconds(lambda: [by_scipy(*x, method="LSODA", tolerance=1e-8) for x in rows]) / _LOOP)
    ratios = [b / a for a, b in zip(batch, loop, strict=True)]
    exact = np.array([by_scipy(*x, method="DOP853", tolerance=1e-12) for x in rows])
    lsoda = np.array([by_scipy(*x, method="LSODA", tolerance=1e-8) for x in rows])
    ours = theory.plateau(**{k: v[:_LOOP] for k, v in settings.items()})
    cost = {}
    for count in (2_000, 10_000, 50_000):
        many = draw(count, seed=1)
        cost[count] = statistics.median(seconds(lambda m=many: theory.plateau(**m)) for _ in range(3)) / count * 1e6
    report = {
        "microseconds_per_plateau": round(statistics.median(batch) * 1e6, 1),
        "lsoda_microseconds_per_plateau": round(statistics.median(loop) * 1e6, 1),
        "ratio_median": round(statistics.median(ratios), 1),
        "ratio_spread": [round(min(ratios), 1), round(max(ratios), 1)],
        "largest_relative_error": {
            "daybreak": float(abs(ours / exact - 1).max()),
            "lsoda": float(abs(lsoda / exact - 1).max()),
        },
        "microseconds_per_plateau_by_count": {str(k): round(v, 1) for k, v in cost.items()},
        "peak_memory_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }
    document.add(f"{_COUNT:,} plateaus at once, against a loop over LSODA", ratios, "times faster")
    document.add("one of them", [1e6 * x for x in batch], "µs")
    document.add("one in the loop", [1e6 * x for x in loop], "µs")
    document.add("largest relative error", report["largest_relative_error"]["daybreak"], "")
    document.add("largest relative error of the loop", report["largest_relative_error"]["lsoda"], "")
    document.write()
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
