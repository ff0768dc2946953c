"""What the explorer costs, measured in a real browser: a slider, a lab of 10 000 runs, memory of the server.

    python -m benchmarks.explorer [--runs 10000] [--moves 1000]

Allowed: 150 ms from a slider's move to the last picture redrawn (median of the theory view), 3 s to open a lab of
10 000 runs whose index is warm, and a server that does not grow by more than 5 % over the last nine tenths of the
moves. Needs chromium and chromedriver. Writes to a temporary folder below the current one, and removes it.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from benchmarks.lab import run
from benchmarks.report import Report
from rich.console import Console
from rich.table import Table
from tests.explorer.browsing import Page, chromium

from daybreak.lab import Lab

ALLOWED = {"slider_ms": 150.0, "open_s": 3.0, "memory_growth": 1.05}
REPORTED = {
    "start_s": ("from the command to its address", "s"),
    "open_s": ("open a lab of 10,000 runs", "s"),
    "slider_ms": ("from a slider's move to the last picture", "ms"),
    "slider_ms_p90": ("the same, 90th percentile", "ms"),
    "memory_mb_after_all": ("memory of the server after 1,000 moves", "MB"),
    "memory_growth": ("its growth over the last nine tenths of them", "times"),
}

# Move a slider to each of some places, and time until all pictures of the view were drawn again and shown.
MOVES = """
const [places, done] = arguments, times = [];
const slider = document.querySelector("#theory-T"), plots = [...document.querySelectorAll(".js-plotly-plot")];
const place = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set;
function move() {
  if (!places.length) return done(times);
  if (+slider.value === places[0]) return places.shift(), move();  // nothing would be drawn
  const left = new Set(plots), start = performance.now();
  for (const plot of plots) {
    const drawn = () => {
      plot.removeListener("plotly_afterplot", drawn);
      left.delete(plot);
      if (!left.size) requestAnimationFrame(() => { times.push(performance.now() - start); setTimeout(move, 30); });
    };
    plot.on("plotly_afterplot", drawn);
  }
  place.call(slider, places.shift());
  slider.dispatchEvent(new Event("input", {bubbles: true}));
}
move();
"""


@contextmanager
def command(lab: Path) -> Iterator[tuple[str, int, float]]:
    """`daybreak explore` over a lab: its address, its process, and how long it took to answer."""
    start = time.perf_counter()
    line = [sys.executable, "-m", "daybreak", "explore", "--lab", str(lab), "--port", "0"]
    with subprocess.Popen(line, stderr=subprocess.PIPE, text=True) as process:  # noqa: S603
        try:
            found = re.search(r"http://\S+", process.stderr.readline() if process.stderr else "")
            if found is None:
                raise RuntimeError("the explorer printed no address")
            yield found[0], process.pid, time.perf_counter() - start
        finally:
            process.terminate()


def memory_mb(process: int) -> float:
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())
    return int(found[1]) / 1024 if found else float("nan")


def slide(page: Page, moves: int) -> list[float]:
    """Milliseconds of each move, up and down the slider, in batches that a browser's script may last."""
    up = np.arange(8, 48)  # a quarter of an octave apart
    places = np.resize(np.concatenate([up, up[-2:0:-1]]), moves).tolist()
    times: list[float] = []
    for i in range(0, moves, 10):
        times += page.browser.execute_async_script(MOVES, places[i : i + 10])
    return times


def opened(page: Page, address: str) -> float:
    start = time.perf_counter()
    page.open(address)
    return time.perf_counter() - start


def measure(folder: Path, runs: int, moves: int) -> dict[str, float]:
    lab = Lab(folder / "lab").open()
    for made, record in map(run, range(runs)):
        lab.save(made, record, seconds=1.0, command="bench", device="none")
    lab.close()
    with command(lab.path) as (url, process, start), chromium() as browser:
        browser.set_script_timeout(300)
        page = Page(browser, url)
        page.resize(1280, 800)
        page.open("/claims")  # the browser has the JavaScript
        opening = [opened(page, "/runs") for _ in range(3)]
        page.open("/theory")
        slide(page, 50)  # the programs are compiled
        first = slide(page, max(moves // 10, 50))
        before = memory_mb(process)
        later = slide(page, moves - len(first))
        after = memory_mb(process)
    times = first + later
    return {
        "start_s": round(start, 2),
        "runs": runs,
        "open_s": round(statistics.median(opening), 2),
        "moves": len(times),
        "slider_ms": round(statistics.median(times), 1),
        "slider_ms_p90": round(float(np.quantile(times, 0.9)), 1),
        "memory_mb_after_a_tenth": round(before, 1),
        "memory_mb_after_all": round(after, 1),
        "memory_growth": round(after / before, 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--moves", type=int, default=1000)
    options = parser.parse_args()
    document = Report("explorer")
    with tempfile.TemporaryDirectory() as folder:
        report = measure(Path(folder), options.runs, options.moves)
    for name, (sentence, unit) in REPORTED.items():
        document.add(sentence, report[name], unit, at_most=ALLOWED.get(name))
    document.write()
    table = Table("", "measured", "allowed", box=None)
    for name, value in report.items():
        table.add_row(name, f"{value:g}", f"{ALLOWED[name]:g}" if name in ALLOWED else "")
    Console(stderr=True).print(table)
    print(json.dumps(report | {"allowed": ALLOWED, "within": all(report[x] <= ALLOWED[x] for x in ALLOWED)}))


if __name__ == "__main__":
    main()
