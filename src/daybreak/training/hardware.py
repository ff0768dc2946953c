"""Whether the machine can compute in the precision of a run: where it cannot, XLA would emulate it, slowly."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import jax

from daybreak.errors import RequestError
from daybreak.training.run import Run

_X86 = frozenset({"avx512_bf16", "amx_bf16"})  # as Linux names what multiplies bfloat16
_CAPABILITY = (8, 0)  # of the first GPUs that do
_CPU = Path("/proc/cpuinfo")


def check_hardware(runs: Iterable[Run]) -> None:
    """Refuse runs in a precision that this machine does not have.

    Raises:
        RequestError: one sentence that says what is missing.

    Example:
        >>> from daybreak.models import Transformer
        >>> from daybreak.tasks import SingleLocation
        >>> check_hardware([Run(SingleLocation(T=8, d=4), Transformer())])  # float32: every machine has it
    """
    if any(run.precision == "bfloat16" for run in runs) and not has_bfloat16():
        raise RequestError(
            f"precision = 'bfloat16' is not allowed on this machine: its {jax.default_backend().upper()} is not known to "
            "multiply bfloat16 numbers, and without that they are slower than float32. Leave the setting out."
        )


def has_bfloat16() -> bool:
    """Whether the devices of this process multiply bfloat16: known of x86 processors under Linux, of GPUs and of TPUs."""
    match jax.default_backend():
        case "cpu":
            return _CPU.is_file() and bool(_X86 & _flags(_CPU.read_text()))
        case "gpu":
            return all(_version(device) >= _CAPABILITY for device in jax.local_devices())
        case backend:
            return backend == "tpu"


def _flags(cpuinfo: str) -> frozenset[str]:
    """The features of the first processor in the text that Linux gives."""
    lines = (line.partition(":") for line in cpuinfo.splitlines())
    return frozenset(next((value for name, _, value in lines if name.strip() == "flags"), "").split())


def _version(device: Any) -> tuple[int, ...]:
    """The compute capability of an NVIDIA GPU; of others, which do not state one, the least that will do."""
    stated = str(getattr(device, "compute_capability", ""))
    return tuple(int(x) for x in stated.split(".")) if stated.replace(".", "").isdigit() else _CAPABILITY
