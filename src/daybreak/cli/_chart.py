"""A curve drawn in the terminal, in braille: each character holds two by four dots."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

# Which bit of a braille character is the dot in row i, column j.
_DOTS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])


def chart(
    x: ArrayLike, y: ArrayLike, *, log: bool = False, width: int = 64, height: int = 8, mark: float | None = None
) -> list[str]:
    """Lines of text that show y against x, with the ends of both axes named.

    Args:
        x: increasing.
        y: values that are not finite leave a gap.
        log: whether the vertical axis is logarithmic, if all values are positive.
        width: characters of the drawing itself.
        height: lines of it.
        mark: a place on the horizontal axis to point at.
    """
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    finite = y[np.isfinite(y)]
    if not finite.size:
        return ["(no finite value)"]
    low, high = float(finite.min()), float(finite.max())
    log = log and low > 0
    across = (x - x[0]) / max(float(x[-1] - x[0]), 1e-300) * (2 * width - 1)
    up = _height(y, low, high, log=log) * (4 * height - 1)
    rows = _braille(_dots(across, 4 * height - 1 - up, width, height))
    labels = [f"{high:.3g}", *[""] * (height - 2), f"{low:.3g}"]
    if log:
        labels[height // 2] = "log"
    margin = max(len(label) for label in labels)
    lines = [f"{label:>{margin}} ┤{row}" for label, row in zip(labels, rows, strict=True)]
    lines.append(f"{'':>{margin}} └{'─' * width}")
    ends = f"{x[0]:g}", f"{x[-1]:g}"
    lines.append(f"{'':>{margin}}  {ends[0]}{ends[1]:>{width - len(ends[0])}}")
    if mark is not None and x[0] <= mark <= x[-1] and x[-1] > x[0]:
        place = round((mark - x[0]) / (x[-1] - x[0]) * (width - 1))
        lines[-2] = lines[-2][: margin + 2 + place] + "┴" + lines[-2][margin + 3 + place :]
    return lines


def _height(y: NDArray, low: float, high: float, *, log: bool) -> NDArray:
    """The height of each value, from 0 to 1; a half if all are equal."""
    if high == low:
        return np.where(np.isfinite(y), 0.5, np.nan)
    if log:
        return (np.log(y) - np.log(low)) / (np.log(high) - np.log(low))
    return (y - low) / (high - low)


def _dots(across: NDArray, down: NDArray, width: int, height: int) -> NDArray[np.bool_]:
    """The dots that a line through all points sets."""
    dots = np.zeros((4 * height, 2 * width), np.bool_)
    whole = np.isfinite(down)
    dots[down[whole].round().astype(int), across[whole].round().astype(int)] = True
    for i in np.flatnonzero(whole[:-1] & whole[1:]):
        count = int(max(abs(across[i + 1] - across[i]), abs(down[i + 1] - down[i]))) + 2
        rows, columns = (np.linspace(z[i], z[i + 1], count).round().astype(int) for z in (down, across))
        dots[rows, columns] = True
    return dots


def _braille(dots: NDArray[np.bool_]) -> list[str]:
    height, width = dots.shape[0] // 4, dots.shape[1] // 2
    cells = (dots.reshape(height, 4, width, 2) * _DOTS[:, None, :]).sum(axis=(1, 3))
    return ["".join(chr(0x2800 + cell) if cell else " " for cell in row).rstrip() for row in cells]
