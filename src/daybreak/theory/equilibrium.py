"""The equilibrium of w, and the curvature of the loss: the late phase of learning (paper A, A.3.3 and figure 8)."""

import numpy as np

from daybreak._types import ArrayLike, Floats
from daybreak.errors import RequestError
from daybreak.theory._setting import check_setting
from daybreak.theory.flow import Trajectory
from daybreak.theory.reduced import hessian


def w_equilibrium(alpha: ArrayLike, T: float, d: float, B: float = 1) -> Floats:
    """Weight w∞(α) at which ∂L/∂w = 0 while attention is held at α (paper A, A.3.3).

    Example:
        >>> float(w_equilibrium(1.0, T=512, d=64))
        8.0
    """
    setting = check_setting(T, d, B, 0.0, "tied")
    signal = setting.B * np.asarray(alpha, dtype=np.float64)
    if np.any(~((signal >= 0) & (signal <= 1 + 1e-12))):
        raise RequestError("alpha is not allowed: the attention on the B relevant positions must add up to at most 1.")
    noise = (1 - signal) ** 2 / (setting.T - setting.B)
    return np.sqrt(setting.d) * signal / (noise + signal**2)


def sharpness(trajectory: Trajectory) -> tuple[Floats, Floats]:
    """Smallest and largest eigenvalue of the Hessian of the training loss along a trajectory (figure 8 right).

    Without cross-sample repetition the flow lives in the plane of (w, Δa), and so does the Hessian taken.

    Example:
        >>> from daybreak import theory
        >>> low, high = sharpness(theory.flow(T=64, d=16))
        >>> bool(low[0] < 0), bool(low[-1] > 0)  # it starts at a saddle, and ends in a minimum
        (True, True)
    """
    curvature = hessian(trajectory.state, trajectory.setting)
    if trajectory.setting.p == 0:
        d = trajectory.setting.d
        plane = np.array([[1 / np.sqrt(d), np.sqrt((d - 1) / d), 0.0], [0.0, 0.0, 1.0]])
        curvature = plane @ curvature @ plane.T
    eigenvalues = np.linalg.eigvalsh(curvature)
    return eigenvalues[:, 0], eigenvalues[:, -1]
