"""Where compiled programs are kept, so that no process compiles what another one has compiled."""

import hashlib
import os
import platform
from importlib.metadata import version
from pathlib import Path

WORTH_KEEPING = 0.1
"""Seconds to compile, at least."""


def cache_variables(folder: Path) -> dict[str, str]:
    """Environment variables that make JAX keep compiled programs in a folder."""
    return {
        "JAX_COMPILATION_CACHE_DIR": str(folder.absolute()),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": str(WORTH_KEEPING),
    }


def program_cache() -> Path:
    """The folder that `JAX_COMPILATION_CACHE_DIR` names, or one in the user's cache.

    It is not in a lab: programs are machine code, and a lab may come from another person. Each kind of processor has its own
    folder. If a killed process left an incomplete file, JAX notices and compiles again.
    """
    if folder := os.environ.get("JAX_COMPILATION_CACHE_DIR"):
        return Path(folder)
    about = Path("/proc/cpuinfo")
    lines = about.read_text().splitlines() if about.exists() else []
    flags = sorted({line for line in lines if line.startswith(("flags", "Features", "model name"))})
    kind = f"{platform.machine()} {flags} {version('jaxlib')}"
    caches = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    return caches / "daybreak" / hashlib.sha256(kind.encode()).hexdigest()[:12]
