"""Constants of a chip that software changes, in the order in which slopes and covariances have them."""

import numpy as np
from numpy.typing import NDArray

FACTORED = (
    "matrix_efficiency",
    "memory_efficiency",
    "kernel_launch_time",
    "host_dispatch_time",
    "attention_efficiency",
    "communication_sm_share",
    "tensor_exposure",
    "hand_over_exposure",
    "routing_dispatch",
    "plain_dispatch",
)
"""Constants that software changes."""
WIDE = "matrix_efficiency in 16 bits"
"""Of products that stay in 16 bits, where others are narrower."""
CONSTANTS = (*FACTORED, WIDE)
"""All that runs may tell."""
_SLOWS = {"matrix_efficiency": -1.0, "memory_efficiency": -1.0, "kernel_launch_time": 1.0, "host_dispatch_time": 1.0}
_OF_THE_CHIP = np.array([_SLOWS.get(name, _SLOWS["matrix_efficiency"] if name == WIDE else 0.0) for name in CONSTANTS])
"""What becomes of each constant where all that a chip does by itself takes longer."""


def felt_variance(slopes: NDArray[np.float64], covariance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Variance of ln(time) of steps (a row each) that is open with constants."""
    return np.asarray(np.einsum("rc,cd,rd->r", slopes, covariance, slopes))


def chip_shares(slopes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Share of a step's time that is the chip's own, from slopes of ln(time) in logarithms of constants."""
    return np.asarray(slopes @ _OF_THE_CHIP)
