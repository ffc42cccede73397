"""How far an answer may be from the optimum, and when that counts as proven."""

from math import inf

__all__ = ["PROVEN", "gap_of"]

PROVEN = 1e-6
"""Gap below which an answer counts as proven: what solvers round to."""


def gap_of(time: float, bound: float) -> float:
    """How much less than the answer the bound is, as a share; none where the bound says that there is no answer."""
    if bound == inf or time == 0:
        return 0.0
    return 1.0 if time == inf else max(0.0, 1.0 - bound / time)
