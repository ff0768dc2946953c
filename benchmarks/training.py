"""Training: Daybreak against plain PyTorch and against the machine's limit; also memory and time to compile.

    python benchmarks/training.py               # all cases, about twenty minutes
    python benchmarks/training.py recall length # those whose name contains one of the words

One JSON line per case on stdout, a table on stderr. Each case runs in a separate process, so that peak memory and the time to the
first step are those of the case alone. Both sides use one thread for each core of the process, and both sample their data. The
timed parts alternate (ours, each peer, ours, …); reported are median, min and max over the rounds.

- Daybreak is timed through `Lanes.advance`, which `daybreak train` calls. A call also evaluates, so a call of no steps is
  timed before each call of many and subtracted. The time of evaluation at the default interval is reported as a fraction.
- PyTorch runs eagerly and under `torch.compile`, each in float32 and under bfloat16 autocast; the fastest of the four counts. The ratio
  is taken within a round. Daybreak trains in bfloat16 where its model can and the hardware has it, otherwise in float32.
- The limit is the best product of two large matrices in the precision of the run, measured directly before and after each round,
  because a shared machine is not equally fast all the time. The operations a step requires are those of `flops.py`.
- `two-seeds`: two seeds on all cores against one seed in a process that has one core, in turn.
- `cost`: time of a step at four lengths, of one, two and four seeds, and of twice as many steps, in turn.
- Time to the first step starts after all imports and ends after `begin` and one step, with nothing cached on disk.
- Memory is the peak resident size of the process after its first steps, before PyTorch is imported. Its growth with T is
  taken from what XLA allocates for the program (`memory_analysis`); the resident size also contains the compiler's memory.
- A busy machine makes all of it wrong, and PyTorch's side more: its threads wait for each other at every operation. Each line
  has the load at the start of the case; a warning follows if it was above a quarter of the cores.
"""

import json
import os
import platform
import resource
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from multiprocessing import get_context
from typing import Any, final

import jax
import jax.numpy as jnp
import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.optimize import nnls

import flops
from daybreak import _machine
from daybreak.models import MinimalAttention, Precision, Transformer
from daybreak.tasks import MarkovChain, Recall, SingleLocation, Text
from daybreak.training import Optimizer, Run, cohort
from daybreak.training.hardware import has_bfloat16
from daybreak.training.lanes import Lanes
from daybreak.training.presets import PRESETS
from report import Report as Document

ROUNDS = 9
CHUNK = 1.0  # seconds of steps in a timed part
MEMBERS = 8
LENGTHS = (64, 128, 256)
GROWTH, COST, TWO_SEEDS = "growth", "cost", "two-seeds"
GROWTH_LENGTHS = (64, 128, 256, 512)
SHARE, FIRST_STEP = 0.6, 5.0  # of the limit, at least; seconds, at most
SIDE_BY_SIDE = 1.7  # times as many seed-steps on two cores as on one, at least

Report = dict[str, Any]


@final
@dataclass(frozen=True)
class Case:
    """What is measured of one run; a ratio if there is a peer, the fraction of the limit if `limit`."""

    run: Run
    ratio: float | None = None
    limit: bool = False
    members: int = 1


FASTEST: Precision = "bfloat16" if has_bfloat16() else "float32"
PAPER_A = {T: Run(SingleLocation(T=T, d=16), Transformer(), precision=FASTEST) for T in (32, *LENGTHS)}
RECALL = Run(Recall(N=16, V=256), Transformer(layers=4, norm="pre", causal=True), precision=FASTEST)
MINIMAL = Run(MarkovChain(L=2), MinimalAttention(), Optimizer(name="adamw", learning_rate=0.08), batch=3000)

CASES = {
    "two-layers": Case(PAPER_A[32], ratio=1.5),
    "two-layers-128": Case(PAPER_A[128], ratio=1.5),
    "one-layer": Case(Run(SingleLocation(T=64, d=16), Transformer(layers=1), precision=FASTEST), ratio=4.0),
    "recall": Case(RECALL, ratio=1.5),
    "markov": Case(MINIMAL, ratio=5.0),
    "markov-full": Case(replace(PRESETS["paper-b-full"], precision=FASTEST), ratio=1.5),
    "text": Case(replace(PRESETS["text-induction"], precision=FASTEST), ratio=1.0),
    "cohort": Case(PAPER_A[32], members=MEMBERS),
    **{f"length-{T}": Case(PAPER_A[T], limit=True) for T in LENGTHS},
    "length-128-float32": Case(replace(PAPER_A[128], precision="float32"), limit=True),
}


@final
class Ours:
    """A cohort in training, timed."""

    def __init__(self, runs: Sequence[Run]):
        self.runs, self.lanes, self.count, self.step = runs, Lanes(runs), len(runs), 0
        self.seconds(1)

    def seconds(self, steps: int) -> float:
        """Seconds of a call that trains all members for some steps and evaluates them."""
        self.step += steps
        yes = [True] * self.count
        start = time.perf_counter()
        self.lanes.advance([self.step] * self.count, yes, yes)
        return time.perf_counter() - start

    def per_step(self, steps: int) -> tuple[float, float]:
        """Seconds of a step of one member without evaluation, and of an evaluation of one member."""
        evaluation = self.seconds(0)
        return (self.seconds(steps) - evaluation) / (steps * self.count), evaluation / self.count


def program_mb(members: Run) -> float:
    """Megabytes that XLA allocates for the program that trains a cohort, not run: arguments, results and temporaries."""
    learners, world_and_data = jax.eval_shape(cohort.begin, members)
    count = jax.tree.leaves(members)[0].shape
    until, yes = jax.ShapeDtypeStruct(count, jnp.int32), jax.ShapeDtypeStruct(count, bool)
    memory = cohort.advance.lower(members, learners, world_and_data, until, yes, yes).compile().memory_analysis()
    assert memory is not None  # noqa: S101
    sizes = memory.argument_size_in_bytes, memory.output_size_in_bytes, memory.temp_size_in_bytes
    return sum(sizes) / 2**20


def peers(run: Run, ours: cohort.WorldAndData) -> dict[str, Any]:
    """The same training in PyTorch, four ways, in the same world; imported here, after memory was read."""
    import torch  # pyright: ignore[reportMissingImports]

    import peer

    torch.set_num_threads(cores())
    torch.manual_seed(run.seed)
    world, train = (jax.tree.map(lambda x: torch.tensor(np.array(x[0])), part) for part in (ours.world, ours.train))
    task, model, interface = run.task, run.model, run.interface

    def sampler() -> Callable[[], Any]:
        if isinstance(task, SingleLocation):
            settings = {"T": task.T, "B": int(task.B), "p": task.p, "batch": run.batch}
            return lambda: peer.single_location(world.W, world.repeated, **settings)
        if isinstance(task, Recall):
            settings = {"N": task.N, "V": task.V, "B": task.B, "batch": run.batch}
            return lambda: peer.recall(**settings)
        if isinstance(task, Text):
            return text_sampler(task, run.batch)
        return peer.Epochs(train.inputs.long(), train.target.long(), run.batch)

    def network() -> torch.nn.Module:
        size = interface.tokens or interface.features or 0
        if isinstance(model, MinimalAttention):
            return peer.MinimalAttention(
                size, interface.length, interface.reads[0], heads=model.heads, epsilon=model.epsilon
            )
        assert isinstance(model, Transformer)  # noqa: S101
        if isinstance(task, MarkovChain):
            sizes = {name: getattr(model, name) for name in ("heads", "width", "head_width", "mlp", "dropout")}
            return peer.FullModel(size, interface.length, interface.reads[0], **sizes)
        sizes = {name: getattr(model, name) for name in ("layers", "heads", "width", "head_width", "mlp", "causal")}
        embed = (torch.nn.Linear if interface.tokens is None else torch.nn.Embedding)(size, model.width)
        kind = {"rotary": model.positions == "rotary", "read_all": len(interface.reads) == interface.length}
        return peer.Transformer(embed, interface.outputs, interface.length, norm=model.norm == "pre", **sizes, **kind)

    def training(compiled: bool, bfloat16: bool) -> Any:
        net = network()
        rule = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[run.optimizer.name]
        optimizer = rule(net.parameters(), lr=run.optimizer.learning_rate, fused=True)
        loss = peer.regression_loss if interface.tokens is None else peer.token_loss
        settings = {"compiled": compiled, "bfloat16": bfloat16, "clip": run.optimizer.clip}
        return peer.Training(net, loss, sampler(), optimizer, **settings)

    kinds = {"eager": (False, False), "compiled": (True, False)}
    kinds |= {"eager bfloat16": (False, True), "compiled bfloat16": (True, True)}
    return {name: training(*kind) for name, kind in kinds.items()}


def text_sampler(task: Text, batch: int) -> Callable[[], Any]:
    """Batches of the text, from the places from which Daybreak draws them."""
    import torch  # pyright: ignore[reportMissingImports]

    import peer

    split, tokens = task.split, torch.tensor(task.corpus.tokens.astype(np.int64))
    inside = torch.arange(split.length - task.T)
    places = (split.first + split.stride * torch.arange(split.parts)[:, None] + inside).flatten()
    settings = {"T": task.T, "q": task.q, "passage": task.passage or task.T // 4, "copies": task.copies, "batch": batch}
    return lambda: peer.text(tokens, places, **settings)


def cores() -> int:
    """Number of cores that this process may use; XLA starts the same number of threads."""
    return len(_machine.cores())


def peer_seconds(training: Any, steps: int) -> float:
    """Seconds of one step of the peer."""
    start = time.perf_counter()
    for _ in range(steps):
        training.step()
    return (time.perf_counter() - start) / steps


def matmul_peak(precision: Precision) -> float:
    """Operations a second of the best product of two large matrices, summed in float32."""
    size = 2048
    x = jax.random.normal(jax.random.key(0), (size, size)).astype(precision)
    product = jax.jit(partial(jnp.matmul, preferred_element_type=jnp.float32))
    best = float("inf")
    for _ in range(6):  # the first compiles
        start = time.perf_counter()
        product(x, x).block_until_ready()
        best = min(best, time.perf_counter() - start)
    return 2 * size**3 / best


def measure(name: str) -> Report:
    """Everything that is measured of one case, in this process."""
    jax.config.update("jax_enable_compilation_cache", False)
    if name in ALONE:
        return {"case": name} | ALONE[name]()
    case, load = CASES[name], os.getloadavg()[0]
    start = time.perf_counter()
    ours = Ours([replace(case.run, seed=seed) for seed in range(case.members)])
    first = time.perf_counter() - start
    steps = enough(lambda n: ours.per_step(n)[0] * n * case.members)
    report: Report = {
        "case": name,
        "cores": cores(),
        "load_before": load,
        "first_step_seconds": first,
        "first_step_met": first <= FIRST_STEP,
        "peak_memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    if case.ratio is not None:
        return report | against_peer(case, case.ratio, ours, steps)
    if case.members > 1:
        return report | against_one(case, ours, steps)
    return report | against_limit(case, ours, steps)


def enough(seconds: Callable[[int], float]) -> int:
    """Number of steps that makes a timed part long enough, by doubling; the program must already be compiled."""
    steps = 1
    while seconds(steps) < CHUNK / 2:
        steps *= 2
    return steps


def own(case: Case, rounds: Sequence[tuple[float, float]]) -> Report:
    """Of our own rounds: time of a step, and the fraction of the time that evaluation takes."""
    steps, evaluations = zip(*rounds, strict=True)
    interval = case.run.stop.every * statistics.median(steps)
    evaluation = statistics.median(evaluations)
    return {"milliseconds_per_step": spread(steps, 1e3), "evaluation_share": evaluation / (evaluation + interval)}


def against_peer(case: Case, wanted: float, ours: Ours, steps: int) -> Report:
    """Seed-steps a second relative to the fastest peer."""
    rivals, failed, counts = peers(case.run, ours.lanes.worlds_and_data[0]), {}, {}
    for name, training in list(rivals.items()):
        try:
            training.step()  # compiles
            counts[name] = enough(lambda n, training=training: peer_seconds(training, n) * n)
        except Exception as problem:  # torch.compile needs a C++ compiler: report it, and continue with the other peer
            failed[name] = f"{type(problem).__name__}: {str(problem).splitlines()[0]}"
            del rivals[name]
    rounds, theirs = [], {name: [] for name in rivals}
    for _ in range(ROUNDS):
        rounds.append(ours.per_step(steps))
        for name, training in rivals.items():
            theirs[name].append(peer_seconds(training, counts[name]))
    fastest = min(theirs, key=lambda name: statistics.median(theirs[name]))
    ratio = spread([b / a[0] for a, b in zip(rounds, theirs[fastest], strict=True)])
    return own(case, rounds) | {
        "peer_milliseconds_per_step": {name: spread(x, 1e3) for name, x in theirs.items()},
        "peer_failed": failed,
        "fastest_peer": fastest,
        "ratio": ratio,
        "ratio_wanted": wanted,
        "ratio_met": ratio["median"] >= wanted,
    }


def against_one(case: Case, ours: Ours, steps: int) -> Report:
    """Time of a member's step in a cohort relative to that of a run alone."""
    alone = Ours([case.run])
    rounds, single = [], []
    for _ in range(ROUNDS):
        rounds.append(ours.per_step(steps))
        single.append(alone.per_step(steps * case.members))
    ratio = spread([a[0] / b[0] for a, b in zip(rounds, single, strict=True)])
    return own(case, rounds) | {
        "members": case.members,
        "alone_milliseconds_per_step": spread([x[0] for x in single], 1e3),
        "per_seed_over_alone": ratio,
        "per_seed_met": ratio["median"] <= 1,
    }


def against_limit(case: Case, ours: Ours, steps: int) -> Report:
    """Required operations a second relative to a large matrix product."""
    precision = case.run.precision
    required, rounds, peaks = flops.required(case.run), [], [matmul_peak(precision)]
    for _ in range(ROUNDS):
        rounds.append(ours.per_step(steps))
        peaks.append(matmul_peak(precision))
    around = [(before + after) / 2 for before, after in pairwise(peaks)]
    share = spread([required / step / peak for (step, _), peak in zip(rounds, around, strict=True)])
    return own(case, rounds) | {
        "T": case.run.interface.length,
        "precision": precision,
        "required_gflop_per_step": required / 1e9,
        "matmul_peak_gflops": spread(peaks, 1e-9),
        "share_of_peak": share,
        "share_wanted": SHARE,
        "share_met": share["median"] >= SHARE,
    }


def spread(values: Sequence[float], scale: float = 1.0) -> dict[str, float]:
    """Median and range."""
    return {"median": statistics.median(values) * scale, "min": min(values) * scale, "max": max(values) * scale}


def growth() -> Report:
    """How the program's memory grows with T, compiled but not run: its exponent from length to length, at most 2.

    The fit a + bT + cT² without negative terms is for information and has no limit: a peak is the larger of two phases, training
    and evaluation, and which one is larger changes with T.
    """
    memory = []
    for T in GROWTH_LENGTHS:
        members = cohort.stack([Run(SingleLocation(T=T, d=16), Transformer())])
        memory.append(program_mb(members))
    T, megabytes = np.array(GROWTH_LENGTHS, float), np.array(memory)
    terms = np.stack([np.ones_like(T), T, T**2], axis=1)
    parts, _ = nnls(terms / megabytes[:, None], np.ones_like(megabytes))
    exponents = np.diff(np.log(megabytes)) / np.diff(np.log(T))
    return {
        "T": list(GROWTH_LENGTHS),
        "program_memory_mb": memory,
        "constant_linear_quadratic_mb": parts.tolist(),
        "largest_misfit": float(abs(terms @ parts / megabytes - 1).max()),
        "exponents": exponents.tolist(),
        "growth_met": bool((exponents <= 2).all()),
    }


def cost() -> Report:
    """How the time of a step grows with T, with seeds, and with the number of steps; all timed in turn."""
    runs = {T: Run(SingleLocation(T=T, d=16), Transformer(), precision=FASTEST) for T in GROWTH_LENGTHS}
    lengths = {T: Ours([run]) for T, run in runs.items()}
    seeds = {n: Ours([replace(runs[64], seed=i) for i in range(n)]) for n in (1, 2, 4)}
    by_length: dict[int, list[float]] = {T: [] for T in lengths}
    by_seeds: dict[int, list[float]] = {n: [] for n in seeds}
    longer = []
    for _ in range(ROUNDS):
        for T, ours in lengths.items():
            by_length[T].append(ours.per_step(max(2, 1024 // T))[0])
        for n, ours in seeds.items():
            by_seeds[n].append(n * ours.per_step(16)[0])
        few, many = (lengths[64].per_step(n)[0] * n for n in (16, 32))
        longer.append(many / few)
    steps = {T: statistics.median(x) for T, x in by_length.items()}
    exponents = [np.log(steps[b] / steps[a]) / np.log(b / a) for a, b in pairwise(GROWTH_LENGTHS)]
    more = {n: statistics.median([a / b for a, b in zip(by_seeds[n], by_seeds[1], strict=True)]) for n in (2, 4)}
    return {
        "milliseconds_by_T": {str(T): 1e3 * x for T, x in steps.items()},
        "exponents": [float(x) for x in exponents],
        "times_one_seed": {str(n): x for n, x in more.items()},
        "times_half_the_steps": spread(longer),
        "cost_met": max(exponents) <= 2 and all(x <= 1.1 * n for n, x in more.items()),
    }


def two_seeds() -> Report:
    """Seed-steps a second of two seeds on all cores, relative to one seed on one core, each in a process of its own."""
    everywhere = _machine.cores()
    with _trained_on(everywhere[:1], seeds=1) as one, _trained_on(everywhere, seeds=2) as two:
        steps = one.submit(_enough).result()
        two.submit(_enough).result()
        ratios = []
        for _ in range(ROUNDS):
            alone, both = (pool.submit(_per_step, steps).result() for pool in (one, two))
            ratios.append(alone / both)
    ratio = spread(ratios)
    return {"seed_steps": ratio, "seed_steps_met": ratio["median"] >= SIDE_BY_SIDE}


def _trained_on(cores: list[int], seeds: int) -> ProcessPoolExecutor:
    """A process that has these cores from its start, for JAX decides then how many threads it has."""
    everywhere = _machine.cores()
    _machine.pin(cores)
    try:
        pool = ProcessPoolExecutor(1, get_context("spawn"))
        pool.submit(_begin, seeds).result()
    finally:
        _machine.pin(everywhere)
    return pool


_held: list[Ours] = []  # of a process of `two_seeds`


def _begin(seeds: int) -> None:
    jax.config.update("jax_enable_compilation_cache", False)
    _held.append(Ours([replace(PAPER_A[32], seed=seed) for seed in range(seeds)]))


def _enough() -> int:
    (ours,) = _held
    return enough(lambda n: ours.per_step(n)[0] * n * ours.count)


def _per_step(steps: int) -> float:
    (ours,) = _held
    return ours.per_step(steps)[0]


ALONE: dict[str, Callable[[], Report]] = {GROWTH: growth, COST: cost, TWO_SEEDS: two_seeds}
"""Cases that are not about one run."""


def chosen(words: Sequence[str]) -> list[str]:
    """Cases whose name contains one of the words; all cases if there are no words."""
    names = [*CASES, *ALONE]
    for word in words:
        if not any(word in name for name in names):
            sys.stderr.write(f"no case contains {word!r}: the cases are {', '.join(names)}.\n")
            sys.exit(2)
    return [name for name in names if not words or any(word in name for word in words)]


def rounded(value: Any) -> Any:
    """Four significant digits, also in nested values."""
    match value:
        case dict():
            return {key: rounded(x) for key, x in value.items()}
        case list():
            return [rounded(x) for x in value]
        case float():
            return float(f"{value:.4g}")
        case _:
            return value


def table(reports: Sequence[Report]) -> Table:
    """The results, one row for each case."""

    def ranged(x: dict[str, float]) -> str:
        return f"{x['median']:.3g} ({x['min']:.3g}–{x['max']:.3g})"

    def measured(report: Report) -> tuple[str, str, bool]:
        if "ratio" in report:
            return (
                f"{ranged(report['ratio'])} × {report['fastest_peer']} PyTorch",
                f"≥ {report['ratio_wanted']}",
                report["ratio_met"],
            )
        if "per_seed_over_alone" in report:
            return f"{ranged(report['per_seed_over_alone'])} × a run alone, per seed", "≤ 1", report["per_seed_met"]
        return (
            f"{ranged(report['share_of_peak'])} of the matmul peak",
            f"≥ {report['share_wanted']}",
            report["share_met"],
        )

    shown = Table(title=f"Training on {cores()} cores, {platform.machine()}; median (min–max) of {ROUNDS} rounds")
    for heading in ("case", "ms a seed-step", "measured", "wanted", "met", "first step s", "evaluation", "peak MB"):
        shown.add_column(heading)
    for report in reports:
        text, wanted, met = measured(report)
        shown.add_row(
            report["case"],
            ranged(report["milliseconds_per_step"]),
            text,
            wanted,
            "yes" if met else "no",
            f"{report['first_step_seconds']:.1f}",
            f"{report['evaluation_share']:.0%}",
            f"{report['peak_memory_mb']:.0f}",
        )
    return shown


def add(document: Document, report: Report) -> None:
    """What is measured of a case, as rows of the page of benchmarks."""
    case = report["case"]
    if case in ALONE:
        _add_alone(document, case, report)
        return
    rows = {
        "ratio": ("against the fastest PyTorch", "times faster", {"at_least": report.get("ratio_wanted")}),
        "per_seed_over_alone": ("time of a step, per seed", "of a run alone", {"at_most": 1}),
        "share_of_peak": ("required operations", "of a matrix product's", {"at_least": SHARE}),
        "milliseconds_per_step": ("a step", "ms", {}),
    }
    for key, (name, unit, goal) in rows.items():
        if key in report:
            x = report[key]
            document.add(f"{case}: {name}", x["median"], unit, span=(x["min"], x["max"]), **goal)
    document.add(f"{case}: first step", report["first_step_seconds"], "s", at_most=FIRST_STEP)


def _add_alone(document: Document, case: str, report: Report) -> None:
    if case == TWO_SEEDS:
        x = report["seed_steps"]
        goal = {"span": (x["min"], x["max"]), "at_least": SIDE_BY_SIDE}
        document.add("two seeds on two cores: seed-steps a second", x["median"], "times one seed on one core", **goal)
        return
    what = "memory of the program" if case == GROWTH else "time of a step"
    document.add(f"{what}, largest exponent of T", max(report["exponents"]), "", at_most=2)
    if case == COST:
        for n, x in report["times_one_seed"].items():
            document.add(f"{n} seeds", x, "times the time of one", at_most=1.1 * int(n))
        x = report["times_half_the_steps"]
        document.add("twice as many steps", x["median"], "times the time", span=(x["min"], x["max"]))


def main() -> None:
    """Measure the chosen cases one after the other."""
    names, document = chosen(sys.argv[1:]), Document("training")
    reports = []
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), max_tasks_per_child=1) as fresh:
        for name in names:
            reports.append(rounded(fresh.submit(measure, name).result()))
            print(json.dumps(reports[-1]), flush=True)
            add(document, reports[-1])
    document.write()
    console = Console(stderr=True, width=140)
    console.print(table([report for report in reports if report["case"] not in ALONE]))
    if any(report.get("load_before", 0) > cores() / 4 for report in reports[:1]):
        console.print("The machine was busy at the start: these figures are not reliable.")


if __name__ == "__main__":
    main()
