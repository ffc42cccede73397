"""Constants of a chip that software changes, in the order in which slopes and covariances have them."""

import numpy as np
from numpy.typing import NDArray

Table = NDArray[np.float64]

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
NETWORK = "network_time"
"""All that exchanges take: rates, steps and launches of links together. No published run tells it of software."""
CONSTANTS = (*FACTORED, WIDE, NETWORK)
"""All that runs may tell."""
_SLOWS = {"matrix_efficiency": -1.0, "memory_efficiency": -1.0, "kernel_launch_time": 1.0, "host_dispatch_time": 1.0}
_OF_THE_CHIP = np.array([_SLOWS.get(name, _SLOWS["matrix_efficiency"] if name == WIDE else 0.0) for name in CONSTANTS])
"""What becomes of each constant where all that a chip does by itself takes longer."""


def felt_variance(slopes: Table, covariance: Table) -> Table:
    """Variance of ln(time) of steps (a row each) that is open with constants."""
    return np.asarray(np.einsum("rc,cd,rd->r", slopes, covariance, slopes))


def open_variance(slopes: Table, covariance: Table, *, scatter: float, network: float) -> Table:
    """Variance of ln(measured / predicted) of steps (a row each) by what is open of constants, and of runs around that.

    Each run scatters by itself: its own time, and what it waits for the network, as far off as collectives are.
    """
    return felt_variance(slopes, covariance) + run_variance(slopes, scatter=scatter, network=network)


def run_variance(slopes: Table, *, scatter: float, network: float) -> Table:
    """What of it is each run's own."""
    return np.asarray(scatter**2 + (network * network_shares(slopes)) ** 2)


def network_shares(slopes: Table) -> Table:
    """Share of a step's time that waits for the network, from its slopes."""
    return np.asarray(np.clip(slopes[..., CONSTANTS.index(NETWORK)], 0.0, 1.0))


def chip_shares(slopes: Table) -> Table:
    """Share of a step's time that is the chip's own, from slopes of ln(time) in logarithms of constants."""
    return np.asarray(slopes @ _OF_THE_CHIP)
