"""Training that is not ours: probes and callbacks for PyTorch models, and curves from files.

    from daybreak.watch import Watch

PyTorch is needed at the first use of `Watch`, not before: it is the extra `daybreak[torch]`. No other package imports it.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from daybreak.watch.watch import Watch as Watch

__all__ = ["Watch"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'daybreak.watch' has no attribute {name!r}")
    try:
        import torch  # noqa: F401
    except ImportError:
        raise ImportError(
            "Watch needs PyTorch, which is not installed: install it, or run pip install 'daybreak[torch]'."
        ) from None
    from daybreak.watch.watch import Watch

    return Watch


def __dir__() -> list[str]:
    return __all__
