"""Where the time of a training step goes, by XLA's own trace.

    python benchmarks/step_trace.py                     # the four cases of docs/benchmarks.md
    python benchmarks/step_trace.py recall --steps 20   # one case of training.py

Prints for each case the milliseconds of a step by kind of operation, and what is not a product. XLA runs several operations at the same
time, so the sum over kinds is larger than the time of a step. An evaluation is left out.
"""

import argparse
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import jax
import jax.numpy as jnp
from jax.profiler import ProfileData
from rich.console import Console
from rich.table import Table

from daybreak.training import cohort
from report import Report
from training import CASES, Ours

_DEFAULT = ("two-layers-128", "recall", "markov", "markov-full")
_SHOWN = 12  # kinds of operations


def operations(folder: Path) -> Iterator[tuple[str, float]]:
    """Name and milliseconds of every operation in a trace."""
    for file in folder.rglob("*.xplane.pb"):
        for plane in ProfileData.from_file(str(file)).planes:
            for line in plane.lines:
                for event in line.events:
                    name = dict(event.stats).get("hlo_op")
                    if name is not None:
                        yield str(name), event.duration_ns / 1e6


def kinds(program: str) -> dict[str, str]:
    """The kind of each operation of a compiled program, by its name; those of the evaluation are left out."""
    found = {}
    for line in program.splitlines():
        match = re.match(r"\s*(?:ROOT )?%([\w.-]+) = (\w+)\[([\d,]*)\]", line)
        if match and "jit(evaluate)" not in line:
            name, _, shape = match.groups()
            found[name] = _kind(name, shape)
    return found


def _kind(name: str, shape: str) -> str:
    if not name.startswith(("ynn_fusion", "dot")):
        return re.sub(r"[.\d]+$", "", name)
    return "product with weights" if shape.count(",") == 1 else "product of attention"


def times(case: str, steps: int) -> tuple[float, dict[str, float]]:
    """Milliseconds of a step by the clock, and by kind of operation in the trace."""
    ours = Ours([CASES[case].run])
    clock, _ = ours.per_step(steps)
    with tempfile.TemporaryDirectory() as folder:
        with jax.profiler.trace(folder):
            ours.seconds(steps)
        found = list(operations(Path(folder)))
    program = kinds(_program(ours))
    total: dict[str, float] = defaultdict(float)
    for name, milliseconds in found:
        if name in program and not name.startswith(("while", "conditional", "call")):
            total[program[name]] += milliseconds / steps
    return 1e3 * clock, dict(sorted(total.items(), key=lambda x: -x[1]))


def _program(ours: Ours) -> str:
    """The program that trains, as XLA compiled it."""
    members = cohort.stack(ours.runs)
    shapes = jax.eval_shape(cohort.begin, members)
    until, yes = jax.ShapeDtypeStruct((1,), jnp.int32), jax.ShapeDtypeStruct((1,), bool)
    return cohort.advance.lower(members, *shapes, until, yes, yes).compile().as_text() or ""


def main() -> None:
    """Trace the chosen cases."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", help="cases of training.py")
    parser.add_argument("--steps", type=int, default=20)
    chosen = parser.parse_args()
    document, console = Report("step_trace"), Console(width=100)
    for case in chosen.cases or _DEFAULT:
        clock, total = times(case, chosen.steps)
        shown = Table(title=f"{case}: {clock:.1f} ms a step")
        for heading in ("operation", "ms", "of all"):
            shown.add_column(heading)
        whole = sum(total.values())
        for kind, milliseconds in [*total.items()][:_SHOWN]:
            shown.add_row(kind, f"{milliseconds:.2f}", f"{milliseconds / whole:.0%}")
        console.print(shown)
        products = sum(x for kind, x in total.items() if kind.startswith("product"))
        largest = next(kind for kind in total if not kind.startswith("product"))
        for name, part in (("products", products), (f"largest of the rest, {largest}", total[largest])):
            document.add(f"{case}: {name}", 100 * part / whole, "% of the operations' time")
    document.write()


if __name__ == "__main__":
    main()
