"""What does watching cost, and how good is its forecast at half of a plateau?

    python benchmarks/watch.py overhead [--text FILE]     ratio of a watched to a bare loop, step by step in turn; share in each example
    python benchmarks/watch.py forecasts [--text FILE] [--lab DIR]    examples/watch/trainer.py with seeds 0, 1 and 2

Forecasts are made twice: from the run alone, and with what the other two seeds took as a law. Runs that the lab has are not trained
again. Both print one JSON document.
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

import numpy as np

from daybreak.lab import rows
from daybreak.measure import Forecast, Plateau
from daybreak.measure.transfer import transfer
from daybreak.watch.outlook import outlook
from daybreak.watch.record import Emerges, Record

EXAMPLES = Path(__file__).parent.parent / "examples" / "watch"
INDUCTION = Emerges("induction", 0.3, "up")
SEEDS = (0, 1, 2)


def example(name: str, lab: Path, *options: str) -> str:
    """What an example prints."""
    command = [sys.executable, str(EXAMPLES / f"{name}.py"), "--lab", str(lab), *options]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603


def overhead(text: list[str], steps: int) -> dict[str, Any]:
    """Share of the time in each example, as it reports; and the ratio of a watched loop to a bare one."""
    shares = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in ("plain_loop", "trainer", "lightning_trainer"):
            said = example(name, Path(folder) / "lab", "--steps", str(steps), *text)
            (percent,) = re.findall(r"probes took ([\d.]+)% of the time", said)
            shares[name] = float(percent) / 100
        return {"share": shares, "ratio": _ratio(Path(folder) / "lab", steps)}


def _ratio(lab: Path, steps: int) -> float:
    """Two equal models take turns, step by step, so that whatever else the machine does is in both."""
    sys.path.append(str(EXAMPLES))
    import language  # pyright: ignore
    import torch

    from daybreak.watch import Watch

    torch.set_num_threads(1)
    data = language.Passages(np.random.default_rng(0).integers(0, 1000, 100_000), 0.5, 0)
    batches = iter(torch.utils.data.DataLoader(data, batch_size=language.BATCH))
    models = [language.Language(1000) for _ in range(2)]
    optimizers = [torch.optim.AdamW(one.parameters(), language.LEARNING_RATE) for one in models]
    watch = Watch(models[1], lab, "ratio")
    seconds = [0.0, 0.0]
    for step in range(steps):
        tokens = next(batches)
        for watched in (step % 2, 1 - step % 2):
            start = time.perf_counter()
            loss = language.loss_of(models[watched](tokens), tokens)
            optimizers[watched].zero_grad()
            loss.backward()
            optimizers[watched].step()
            if watched:
                watch.step(step, loss=loss)
            seconds[watched] += time.perf_counter() - start
    watch.close()
    return seconds[1] / seconds[0]


def forecasts(text: list[str], lab: Path) -> list[dict[str, Any]]:
    """At half of the plateau of each seed: the forecast, its error, and whether its 80 % interval holds the truth."""
    records = {seed: _record(lab, seed) or _trained(lab, seed, text) for seed in SEEDS}
    truths = {seed: outlook(record, INDUCTION, None) for seed, record in records.items()}
    found = []
    for seed, record in records.items():
        truth = truths[seed]
        if not isinstance(truth, Plateau):
            found.append({"seed": seed, "truth": None, "why": str(truth)})
            continue
        others = [x.length for one, x in truths.items() if one != seed and isinstance(x, Plateau)]
        half = _until(record, truth.length / 2)
        row: dict[str, Any] = {"seed": seed, "truth": truth.length}
        row["alone"] = _scored(outlook(half, INDUCTION, "induction"), truth.length)
        row["with_other_seeds"] = _scored(outlook(half, INDUCTION, "induction", _prior(others)), truth.length)
        found.append(row)
    return found


def _scored(answer: Any, truth: float) -> dict[str, Any]:
    if not isinstance(answer, Forecast):
        return {"none": str(answer)}
    low, high = answer.interval
    error = answer.median / truth - 1
    return {"median": answer.median, "interval": [low, high], "error": error, "holds": low <= truth <= high}


def _prior(plateaus: list[float]) -> tuple[float, float] | None:
    """What the law of runs that differ only in the seed predicts."""
    if not plateaus:
        return None
    table = {"plateau": np.array(plateaus), "censored": np.zeros(len(plateaus), bool)}
    law = transfer("C", table | {"configuration": np.zeros(len(plateaus), int)}, {}, {})
    return law.median, law.spread


def _trained(lab: Path, seed: int, text: list[str]) -> Record:
    example("trainer", lab, "--seed", str(seed), *text)
    record = _record(lab, seed)
    assert record is not None  # noqa: S101
    return record


def _record(lab: Path, seed: int) -> Record | None:
    """The rows of the finished run of a seed."""
    for folder in sorted((lab / "runs").glob("*")):
        about = json.loads((folder / "run.json").read_text())
        if (folder / "result.json").exists() and about["settings"].get("seed") == seed:
            record = Record(None, "", {}, INDUCTION, print)
            steps, curves = rows.read(folder)
            for step, value in zip(steps, curves["induction"], strict=True):
                if not np.isnan(value).all():
                    record.append(int(step), {"induction": value})
            return record
    return None


def _until(record: Record, step: float) -> Record:
    part = Record(None, "", {}, INDUCTION, print)
    for at, value in zip(*record.curve("induction"), strict=True):
        if at <= step:
            part.append(int(at), {"induction": value})
    return part


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["overhead", "forecasts"])
    parser.add_argument("--text", help="a text file instead of the one that comes with Daybreak")
    parser.add_argument("--lab", type=Path, default=Path("labs/watch"))
    parser.add_argument("--steps", type=int, default=1000, help="of each example, for the overhead")
    chosen = parser.parse_args()
    text = [] if chosen.text is None else ["--text", chosen.text]
    result = overhead(text, chosen.steps) if chosen.what == "overhead" else forecasts(text, chosen.lab)
    print(json.dumps(result, indent=1))
