"""What does an evaluation cost, in training steps? Processor time of the same run, evaluated often and hardly ever.

python benchmarks/evaluations.py
"""

import time

from daybreak.tasks import SingleLocation
from daybreak.training import Run, Stop, train
from daybreak.training.presets import PRESETS
from report import Report

STEPS, OFTEN, SELDOM, ROUNDS = 200, 5, 100, 2


def seconds(T: int, d: int, every: int) -> float:
    """Processor time of a run, the least of a few rounds; the first of all also compiles."""
    run = Run(SingleLocation(T=T, d=d), PRESETS["paper-a-regression"].model, stop=Stop(STEPS, every, 0.0))
    taken = []
    for _ in range(ROUNDS):
        start = time.process_time()
        train([run])
        taken.append(time.process_time() - start)
    return min(taken)


def main() -> None:
    document = Report("evaluations")
    for T, d in ((16, 8), (32, 16)):
        seconds(T, d, SELDOM)
        often, seldom = (seconds(T, d, every) for every in (OFTEN, SELDOM))
        evaluation = (often - seldom) / (STEPS // OFTEN - STEPS // SELDOM)
        step = (seldom - evaluation * (1 + STEPS // SELDOM)) / STEPS
        share = {every: evaluation / (evaluation + every * step) for every in (OFTEN, 20)}
        text = ", ".join(f"{x:.0%} of the time if every {every} steps" for every, x in share.items())
        print(f"T = {T}, d = {d}: an evaluation costs {evaluation / step:.1f} steps; {text}")
        document.add(f"an evaluation at T = {T}, d = {d}", evaluation / step, "training steps")
        document.add(f"evaluating every 20 steps at T = {T}, d = {d}", 100 * share[20], "% of the time")
    document.write()


if __name__ == "__main__":
    main()
