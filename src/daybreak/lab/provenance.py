"""Where a measurement comes from: versions, source, device, command, time."""

import platform
import subprocess
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import daybreak

_ALWAYS = ("daybreak", "commit", "jax", "jaxlib", "python", "device", "command", "time", "seconds")
PROVENANCE = (*_ALWAYS, "from_run", "step_seconds")


@cache
def device() -> str:
    """What this process computes on; of a CPU the name of the processor. Starts JAX: call it only where training happens.

    Example:
        >>> device().partition(":")[0] in ("cpu", "gpu", "tpu")
        True
    """
    import jax

    first = jax.devices()[0]
    return processor() if first.platform == "cpu" else f"{first.platform}: {first.device_kind}"


@cache
def processor() -> str:
    """The device of a process that computes on the CPU, with the processor's name: JAX calls each of them `cpu`. Does not start JAX."""
    about = Path("/proc/cpuinfo")
    lines = about.read_text(encoding="utf-8").splitlines() if about.is_file() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return f"cpu: {next(names, '') or platform.processor() or platform.machine()}"


def provenance(
    *, seconds: float, command: str, device: str, from_run: str | None = None, step_seconds: float | None = None
) -> dict[str, Any]:
    """How a result was produced, apart from the run itself.

    `from_run` is the run with another budget whose record it shares, or whose end it started from. `step_seconds` is how long a step
    took on one core, with its part of the evaluations. Both are left out if there is none.
    """
    optional = {"from_run": from_run, "step_seconds": step_seconds}
    return {
        **_software(),
        "device": device,
        "command": command,
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(seconds, 3),
        **{name: x for name, x in optional.items() if x is not None},
    }


@cache
def _software() -> dict[str, Any]:
    return {
        "daybreak": daybreak.__version__,
        "commit": _commit(Path(__file__).parent),
        "jax": _version("jax"),
        "jaxlib": _version("jaxlib"),
        "python": platform.python_version(),
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _commit(folder: Path) -> str | None:
    """The commit of the source, with `-dirty` if it was changed since; None if the source is not under git.

    A package installed inside another repository is not part of it: this file must be tracked there.
    """
    git = ["git", "-C", str(folder)]
    try:
        for arguments in (
            ["ls-files", "--error-unmatch", Path(__file__).name],
            ["describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"],
        ):
            output = subprocess.run([*git, *arguments], capture_output=True, text=True, check=True, timeout=10)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return None
    return output.stdout.strip()
