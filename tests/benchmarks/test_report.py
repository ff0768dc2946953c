"""What benchmarks leave, and the page that is written from it."""

import json
import re
from pathlib import Path

import pytest
from benchmarks.report import Report
from docs.writing import benchmarks

ROOT = Path(__file__).parents[2]


def test_a_row_has_median_range_goal_and_whether_it_is_met(tmp_path: Path) -> None:
    report = Report("startup")
    report.add("slow", [3.0, 1.0, 2.0], "s", at_most=1.5)
    report.add("in between", 5, "%", at_least=4, at_most=6)
    report.add("known range", 2.0, "×", span=(1.0, 4.0), at_least=2.0)
    report.add("no goal", 1 / 3, "")
    path = report.write(tmp_path, options=[])
    assert path == tmp_path / "startup.json"
    document = json.loads((tmp_path / "startup.json").read_text())
    assert [tuple(row.values()) for row in document["rows"]] == [
        ("slow", 2.0, 1.0, 3.0, "s", "≤ 1.5", False),
        ("in between", 5, None, None, "%", "≥ 4, ≤ 6", True),
        ("known range", 2.0, 1.0, 4.0, "×", "≥ 2", True),
        ("no goal", 0.3333, None, None, "", None, None),
    ]
    assert document["machine"]["cores"] >= 1
    assert document["machine"]["versions"].keys() >= {"python", "daybreak", "jax"}


def test_a_benchmark_with_options_leaves_nothing(tmp_path: Path) -> None:
    report = Report("sweep")
    report.add("part", 1.0, "s")
    assert report.write(tmp_path, options=["workers"]) is None
    assert not list(tmp_path.iterdir())


def test_the_page_shows_what_was_measured_and_says_what_was_not(tmp_path: Path) -> None:
    report = Report("laws")
    report.machine |= {"cpu": "a processor", "cores": 2, "date": "2026-11-18", "load": 0.04}
    report.add("a law", [0.51234, 0.4, 0.6], "s", at_most=5)
    report.add("slow", 12345.6, "s", at_most=5)
    report.write(tmp_path, options=[])
    page = benchmarks.page(tmp_path)
    sections = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL))
    assert "a processor, 2 cores" in sections["Laws"]
    assert "2026-11-18, load 0.04 at the start" in sections["Laws"]
    assert "| a law | 0.512 | 0.4 to 0.6 | s | ≤ 5 | yes |" in sections["Laws"]
    assert "| slow | 12,350 |  | s | ≤ 5 | **no** |" in sections["Laws"]
    assert len(sections) == len(benchmarks.BENCHMARKS)
    assert all("Not measured yet." in text for title, text in sections.items() if title != "Laws")


@pytest.mark.parametrize("name", benchmarks.BENCHMARKS)
def test_each_benchmark_of_the_page_is_in_make_bench_and_leaves_its_file(name: str) -> None:
    _, command, _ = benchmarks.BENCHMARKS[name]
    assert f"$(BIN)/python {command}\n" in (ROOT / "Makefile").read_text()
    file = command.removeprefix("-m ").replace("benchmarks.", "benchmarks/").split()[0].removesuffix(".py")
    source = (ROOT / f"{file}.py").read_text()
    assert re.search(rf'(?:Report|Document)\("{name}"\)', source)
    assert re.search(r"\b(?:document|report)\.write\(", source)
