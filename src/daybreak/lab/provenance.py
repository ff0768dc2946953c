"""Where a measurement comes from: versions, source, device, command, time."""

import platform
import subprocess
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import daybreak

PROVENANCE = ("daybreak", "commit", "jax", "jaxlib", "python", "device", "command", "time", "seconds")


@cache
def device() -> str:
    """What this process computes on. Wakes JAX up: call it only where training happens."""
    import jax

    first = jax.devices()[0]
    return f"{first.platform}: {first.device_kind}"


def provenance(*, seconds: float, command: str, device: str) -> dict[str, Any]:
    """All that is known of how a result came about, apart from the run itself."""
    return {
        **_software(),
        "device": device,
        "command": command,
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(seconds, 3),
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

    Installed below somebody else's repository we are not part of it: our own file must be tracked there.
    """
    git = ["git", "-C", str(folder)]
    try:
        for question in (
            ["ls-files", "--error-unmatch", Path(__file__).name],
            ["describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"],
        ):
            said = subprocess.run([*git, *question], capture_output=True, text=True, check=True, timeout=10)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return None
    return said.stdout.strip()
