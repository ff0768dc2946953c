"""`daybreak doctor`: is this machine ready?"""

import platform
import shutil
import time
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import final

from rich.console import Console

from daybreak import __version__
from daybreak._machine import cores
from daybreak.cli._answer import Answer, Json, table

_PACKAGES = ("jax", "jaxlib", "diffrax", "numpy", "scipy", "pyarrow", "matplotlib", "tyro", "rich")


@final
@dataclass(frozen=True)
class Doctor:
    """Versions, devices, free disk, and a self-check of a few seconds.

    Example: daybreak doctor
    """

    json: Json = False

    def answer(self) -> Answer:
        """Read versions and devices, then compare the flow and the closed form where they must agree."""
        import jax

        from daybreak import theory

        start = time.monotonic()
        flow, closed = theory.plateau(1e6, 64), theory.plateau_estimate(1e6, 64)
        difference = float(closed / flow - 1)
        data = {
            "versions": {"daybreak": __version__} | {name: _version(name) for name in _PACKAGES},
            "python": platform.python_version(),
            "system": f"{platform.system()} {platform.machine()}",
            "cores": len(cores()),
            "devices": [f"{device.platform}: {device.device_kind}" for device in jax.devices()],
            "free_disk_gb": round(shutil.disk_usage(Path.cwd()).free / 1e9, 1),
            "self_check": {
                "plateau_by_flow": float(flow),
                "by_closed_form": float(closed),
                "relative_difference": difference,
                "seconds": round(time.monotonic() - start, 1),
                "passed": abs(difference) < 1e-3,
            },
        }
        if not data["self_check"]["passed"]:
            raise ArithmeticError(
                f"The self-check failed: plateau {flow:g} by flow, {closed:g} by closed form. Reinstall with 'make clean demo'."
            )
        return Answer(data, lambda console: _show(console, data))


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _show(console: Console, data: dict) -> None:
    check = data["self_check"]
    rows = [
        ("versions", ", ".join(f"{k} {v}" for k, v in data["versions"].items())),
        ("python", f"{data['python']} on {data['system']}, {data['cores']} cores"),
        ("devices", ", ".join(data["devices"])),
        ("free disk", f"{data['free_disk_gb']} GB"),
        (
            "self-check",
            f"passed in {check['seconds']} s: flow and closed form differ by {abs(check['relative_difference']):.1e}",
        ),
    ]
    rendered = table("Daybreak is ready", ["", ""], rows)
    rendered.show_header = False
    console.print(rendered)
