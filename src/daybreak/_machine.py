"""Cores and memory of this machine. Not every system reports them, or lets a process choose its cores."""

import os
from collections.abc import Iterable

_ASSUMED = 8e9  # bytes of memory where the system does not report them


def cores() -> list[int]:
    """The cores that this process may use; where the system does not report them, NPROC of them, or all."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(int(os.environ.get("NPROC", 0)) or os.cpu_count() or 1))


def pin(cores: Iterable[int]) -> None:
    """Let this process use only these cores; without effect where the system cannot do that."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, cores)


def thread_limit(threads: int) -> dict[str, str]:
    """Environment variables that limit JAX, and `cores` where there is no pinning, to this number of threads."""
    return dict.fromkeys(("PJRT_NPROC", "NPROC"), str(threads))


def memory() -> float:
    """Bytes of memory of this machine."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return _ASSUMED
