"""Compiled programs outlive the process that compiled them, and in no lab."""

import os
import subprocess
from pathlib import Path

from daybreak.lab.compute.programs import program_cache
from tests.end_to_end.test_command import COMMAND


def test_they_are_kept_where_jax_is_told_to(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", str(tmp_path))
    assert program_cache() == tmp_path


def test_or_in_the_users_cache(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.delenv("JAX_COMPILATION_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert program_cache().parent == tmp_path / "daybreak"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert program_cache().parent == tmp_path / ".cache" / "daybreak"


def test_a_second_command_compiles_nothing(tmp_path: Path) -> None:
    """Of all that takes JAX long, in another lab too; and a cache that cannot be used is no reason to fail, or to complain."""
    _train(tmp_path, "first", tmp_path / "programs")
    kept = _files(tmp_path / "programs")
    assert any("advance" in name for name in kept)
    _train(tmp_path, "second", tmp_path / "programs")
    after = _files(tmp_path / "programs")
    # On a busy machine a program of a moment may take long enough to be kept by the second command only.
    assert {name: after.get(name) for name in kept} == kept
    assert [name for name in after if "advance" in name and name not in kept] == []
    assert not {path.name for path in (tmp_path / "first").iterdir()} & {".cache", "programs"}

    (tmp_path / "file").touch()
    _train(tmp_path, "third", tmp_path / "file")


def _train(cwd: Path, lab: str, programs: Path) -> None:
    words = f"train toy --task.T 8 --task.d 4 --stop.budget 20 --lab {lab}".split()
    environment = {**os.environ, "JAX_COMPILATION_CACHE_DIR": str(programs)}
    command = [*COMMAND, *words]
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    assert "persistent" not in done.stderr


def _files(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
