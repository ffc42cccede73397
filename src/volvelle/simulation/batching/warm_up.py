"""The start of a closed loop, which clients measure but users of a running service never see.

All clients send their first request at the same moment, so the first prompts wait for each other. The rule: the first
request of each client is warm-up. Rates are taken from when every client has finished its first request until the last
request is sent, when clients begin to fall idle.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Real = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SteadyPart:
    """The part of a run after its warm-up."""

    counted: NDArray[np.bool_]
    """Whether a request is counted; the first of each client is not."""
    begin: float
    """Seconds since the load began, here and below: when every client had finished its first request."""
    end: float
    """When the last request was sent."""

    @property
    def seconds(self) -> float:
        """How long the steady part is."""
        return self.end - self.begin

    def inside(self, sent: Real, end: Real) -> Real:
        """Return the share of each request's time that lies in the steady part."""
        overlap = np.minimum(end, self.end) - np.maximum(sent, self.begin)
        share: Real = np.maximum(overlap, 0.0) / np.maximum(end - sent, 1e-12)
        return share


def steady_part(sent: Real, end: Real, clients: int) -> SteadyPart | None:
    """Return the part of a closed loop after its warm-up; None: the load has no warm-up, or the run is too short.

    `sent` and `end` are in the order of the load, so the first `clients` requests are the first of each client.
    """
    if clients <= 0 or sent.size <= clients:
        return None
    found = SteadyPart(counted=np.arange(sent.size) >= clients, begin=float(end[:clients].max()), end=float(sent.max()))
    return found if found.seconds > 0.0 else None
