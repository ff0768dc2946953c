"""Compiled programs are kept, so that no process compiles what another one has compiled."""

import hashlib
import os
import platform
from importlib.metadata import version
from pathlib import Path

WORTH_KEEPING = 0.1
"""Seconds to compile, at least."""


def keeping(folder: Path) -> dict[str, str]:
    """Variables of the environment that have JAX keep compiled programs in a folder."""
    return {
        "JAX_COMPILATION_CACHE_DIR": str(folder.absolute()),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": str(WORTH_KEEPING),
    }


def program_cache() -> Path:
    """The folder that JAX is told by `JAX_COMPILATION_CACHE_DIR`, or one in the user's own cache.

    It is not in a lab, for programs are machine code, and a lab may come from somebody else; and apart for each kind of
    processor. A file that a killed process left half written is noticed by JAX, which compiles again.
    """
    if told := os.environ.get("JAX_COMPILATION_CACHE_DIR"):
        return Path(told)
    about = Path("/proc/cpuinfo")
    lines = about.read_text().splitlines() if about.exists() else []
    flags = sorted({line for line in lines if line.startswith(("flags", "Features", "model name"))})
    kind = f"{platform.machine()} {flags} {version('jaxlib')}"
    caches = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    return caches / "daybreak" / hashlib.sha256(kind.encode()).hexdigest()[:12]
