"""Where a measurement comes from."""

import subprocess
from datetime import UTC, datetime
from pathlib import Path

from daybreak.lab import provenance


def test_all_of_it_is_there() -> None:
    source = provenance.provenance(
        seconds=1.23456, command="daybreak train", device="cpu", from_run="a" * 16, step_seconds=0.25
    )
    assert tuple(source) == provenance.PROVENANCE
    assert source["seconds"] == 1.235
    assert source["jax"]
    assert datetime.fromisoformat(source["time"]).tzinfo == UTC


def test_a_commit_is_ours_or_none(tmp_path: Path) -> None:
    """Installed below a repository of the user's, we are not of that repository."""
    assert provenance._commit(tmp_path) is None
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "init", "-q"], check=True)
    (tmp_path / "mine.txt").write_text("x")
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-qm", "mine"], check=True)
    assert provenance._commit(tmp_path) is None
    (tmp_path / "provenance.py").write_text("x")
    subprocess.run([*git, "add", "."], check=True)
    assert (provenance._commit(tmp_path) or "").endswith("-dirty")
    subprocess.run([*git, "commit", "-qm", "ours"], check=True)
    assert len(provenance._commit(tmp_path) or "") == 40
