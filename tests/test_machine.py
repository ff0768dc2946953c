"""Cores and memory, also where the system does not report them."""

import os

import pytest

from daybreak import _machine


def test_cores_and_memory_of_this_machine() -> None:
    assert 1 <= len(_machine.cores()) <= (os.cpu_count() or 1)
    assert 1e8 < _machine.memory() < 1e16


def test_where_the_system_reports_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("sched_getaffinity", "sched_setaffinity", "sysconf"):
        monkeypatch.delattr(os, name, raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    assert _machine.cores() == [0, 1, 2]
    for name, value in _machine.thread_limit(2).items():
        monkeypatch.setenv(name, value)
    assert _machine.cores() == [0, 1]
    _machine.pin([0])
    assert _machine.memory() == 8e9
