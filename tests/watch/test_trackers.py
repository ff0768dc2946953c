"""Trackers: rows arrive once and in order, and one that fails does not end a training."""

import logging
from pathlib import Path

import pytest

from daybreak.errors import RequestError
from daybreak.watch.curves import read
from daybreak.watch.trackers import TRACKERS, Tracker


def test_rows_arrive_once_and_in_order(tmp_path: Path) -> None:
    tracker = Tracker(f"tensorboard:{tmp_path / 'board'}")
    for step in (0, 10, 10, 5, 20):
        for run in ("a", "b"):
            tracker.log(run, {}, {"loss": float(step)}, step)
    tracker.close()
    for run in ("a", "b"):
        assert read(tmp_path / "board" / run).steps.tolist() == [0, 10, 20]


def test_a_tracker_that_fails_is_a_warning_and_no_end(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "a").write_text("a file is in the way")
    tracker = Tracker(f"tensorboard:{tmp_path}")
    with caplog.at_level(logging.WARNING):
        for step in range(3):
            tracker.log("a", {}, {"loss": 1.0}, step)
        tracker.close()
    (message,) = caplog.messages
    assert "training goes on" in message
    with pytest.raises(RequestError, match="cannot be opened"):
        Tracker(f"tensorboard:{tmp_path}").open("a", {})


def test_nothing_is_imported_before_it_is_asked_for() -> None:
    import subprocess
    import sys

    code = (
        "import sys; from daybreak.watch import curves, importing, tensorboard, trackers; "
        f"print(sorted({{'jax', 'torch', *{list(TRACKERS)!r}}} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"
