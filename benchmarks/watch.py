"""What does watching cost, and how good is its forecast at half of a plateau?

    python benchmarks/watch.py [overhead|forecasts]

Overhead: the share of the time in each example, and the ratio of a watched to a bare loop, step by step in turn. Forecasts:
examples/watch/trainer.py with three seeds, and `daybreak forecast` at half of each plateau.

Forecasts are made twice: from the run alone (`--law none`), and with the other two seeds, which are in the same lab. Runs that the
lab has are not trained again; three take about a quarter of an hour. Prints one JSON document.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from daybreak.lab import Lab

EXAMPLES = Path(__file__).parent.parent / "examples" / "watch"
NAMES = ("plain_loop", "trainer", "lightning_trainer")
SEEDS = (0, 1, 2)
STEPS = 1000  # of each example, for the overhead
ALLOWED, NEAR = 0.01, 25.0  # share of the time; percent of the plateau


def output(*command: str | Path) -> str:
    """What a Python program prints."""
    return subprocess.run([sys.executable, *map(str, command)], check=True, capture_output=True, text=True).stdout  # noqa: S603


def overhead(steps: int) -> dict[str, Any]:
    """Share of the time in each example, as it reports; and the ratio of a watched loop to a bare one."""
    shares = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in NAMES:
            shown = output(EXAMPLES / f"{name}.py", "--lab", Path(folder) / "lab", "--steps", str(steps))
            (percent,) = re.findall(r"watching took ([\d.]+)% of the time", shown)
            shares[name] = float(percent) / 100
        return {"steps": steps, "share": shares, "ratio": _ratio(Path(folder) / "lab", steps)}


def _ratio(lab: Path, steps: int) -> list[float]:
    """Watched over bare, once with each of two equal models as the watched one: where a model lies in memory changes its speed."""
    return [_in_turn(lab, steps, watched) for watched in (0, 1)]


def _in_turn(lab: Path, steps: int, which: int) -> float:
    """Two equal models take turns, step by step, so that whatever else the machine does is in both."""
    sys.path.append(str(EXAMPLES))
    import language  # pyright: ignore
    import model  # pyright: ignore
    import torch

    from daybreak.tasks import Text
    from daybreak.watch import Watch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    data = language.Passages(Text(T=language.CONTEXT), 0.5, 0)
    batches = [iter(torch.utils.data.DataLoader(data, batch_size=language.BATCH)) for _ in range(2)]
    models = [model.Language(data.vocabulary) for _ in range(2)]
    optimizers = [torch.optim.AdamW(one.parameters(), language.LEARNING_RATE) for one in models]
    watch = Watch(models[which], lab, f"ratio {which}", context=language.CONTEXT)
    seconds = [0.0, 0.0]
    for step in range(steps):
        for i in (step % 2, 1 - step % 2):
            start = time.perf_counter()
            if i == which:  # the share is of the time of this loop, without the steps of the other model
                watch._clock = start
            loss = language.loss_of(models[i], next(batches[i]))
            optimizers[i].zero_grad()
            loss.backward()
            optimizers[i].step()
            if i == which:
                watch.step(step, loss=loss)
            seconds[i] += time.perf_counter() - start
    watch.close()
    return seconds[which] / seconds[1 - which]


def forecasts(lab: Path) -> list[dict[str, Any]]:
    """At half of the plateau of each seed: the forecast, its error, and whether its 80 % interval holds the truth."""
    for seed in SEEDS:
        if seed not in trained(lab):
            output(EXAMPLES / "trainer.py", "--lab", lab, "--seed", str(seed))
    runs = trained(lab)
    return [{"seed": seed} | at_half(lab, *runs[seed]) for seed in SEEDS]


def trained(lab: Path) -> dict[int, tuple[str, float, bool]]:
    """The finished runs of the example, by seed: id, plateau, and whether it is censored."""
    columns = Lab(lab).columns("name = 'trainer'") if (lab / "runs").exists() else {}
    names = ("seed", "id", "plateau", "censored")
    rows = zip(*(columns[x].tolist() for x in names), strict=True) if columns else ()
    return {int(seed): (run, plateau, bool(censored)) for seed, run, plateau, censored in rows}


def at_half(lab: Path, run: str, plateau: float, censored: bool) -> dict[str, Any]:
    """What the command says of a run at half of its plateau: alone, and with the other runs of the lab."""
    if censored:
        return {"run": run, "truth": None}
    command = ("-m", "daybreak", "forecast", run, "--at", str(int(plateau / 2)), "--lab", lab, "--json")
    alone, with_lab = (json.loads(output(*command, *more)) for more in (("--law", "none"), ()))
    return {"run": run, "truth": plateau, "alone": scored(alone, plateau), "with_lab": scored(with_lab, plateau)}


def scored(answer: dict[str, Any], truth: float) -> dict[str, Any]:
    """A forecast next to the truth; percent."""
    if answer["outcome"] != "forecast":
        return {"none": answer["reason"]}
    low, high = answer["interval"]
    rows = 0 if answer["law"] is None else answer["law"]["rows"]
    error = 100 * (answer["median"] / truth - 1)
    found = {"median": answer["median"], "interval": [low, high], "error": error, "holds": low <= truth <= high}
    return found | {"other_runs": rows}


def report_overhead(document: Any, found: dict[str, Any]) -> None:
    """The rows of docs/benchmarks.md."""
    for name, share in found["share"].items():
        label = f"watching in `examples/watch/{name}.py`, {found['steps']:,} steps"
        document.add(label, 100 * share, "% of the time", at_most=100 * ALLOWED)
    document.add(
        "a watched loop, each of two models watched once", found["ratio"], "times a bare one", at_most=1 + ALLOWED
    )


def report_forecasts(document: Any, found: list[dict[str, Any]]) -> None:
    """The rows of docs/benchmarks.md."""
    document.add("emergence", [x["truth"] for x in found if x["truth"]], "steps")
    for how, label in (("alone", "from the run alone"), ("with_lab", "with the two other seeds in the lab")):
        scores = [x[how] for x in found if x["truth"] and "median" in x[how]]
        goal = {"at_least": 2} if how == "with_lab" else {}
        document.add(f"{label}: forecasts at half of the plateau", len(scores), f"of {len(found)} runs")
        near = sum(abs(x["error"]) <= NEAR for x in scores)
        document.add(f"{label}: within {NEAR:g} % of the truth", near, f"of {len(found)} runs", **goal)
        holds = sum(x["holds"] for x in scores)
        document.add(f"{label}: the 80 % interval holds the truth", holds, f"of {len(found)} runs", **goal)
        if scores:
            document.add(f"{label}: size of the error", [abs(x["error"]) for x in scores], "%")


def main() -> None:
    from report import Report  # not above: tests import this file as a module of a package

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("only", nargs="?", choices=["overhead", "forecasts"], help="one of the two parts")
    parser.add_argument("--lab", type=Path, default=Path("labs/watch"))
    parser.add_argument("--steps", type=int, default=STEPS, help="of each example, for the overhead")
    chosen = parser.parse_args()
    found = {}
    if chosen.only != "forecasts":
        document = Report("watch")
        found["overhead"] = overhead(chosen.steps)
        report_overhead(document, found["overhead"])
        document.write(options=[] if chosen.steps == STEPS else ["--steps"])
    if chosen.only != "overhead":
        document = Report("watch_forecasts")
        found["forecasts"] = forecasts(chosen.lab)
        report_forecasts(document, found["forecasts"])
        document.write(options=[])
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
