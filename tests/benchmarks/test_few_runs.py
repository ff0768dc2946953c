"""Laws of few runs: the tables that the benchmark draws from are there, with the columns that it selects by."""

from benchmarks.few_runs import SOURCES, measured


def test_every_source_has_runs_that_emerged() -> None:
    found = {name: runs for name, runs, _ in measured()}
    assert len(found) == len(SOURCES)
    for name, runs in found.items():
        assert sum(~runs["censored"]) > 8, name  # labs of eight runs, and one to predict
