"""How likely memory suffices, where the model of it may be off and runs fail by more than that."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from volvelle.laws.citations import cites
from volvelle.quantities import Bytes
from volvelle.spread import model_nodes, model_share

_NODES = 24
_LEAST = 1e-100


@cites("student1908mean", place="section III, the distribution of z, of four degrees of freedom")
def chance_to_fit(
    capacity: Bytes, moved: Bytes, *, kept: Bytes = 0.0, error: float, spike: float
) -> NDArray[np.float64]:
    r"""How likely memory suffices.

    $$ P = \Pr\left[(M\,e^{a T_1} + K)\, e^{b T_2} \le C\right]
         = \int F\!\left(\tfrac{1}{b} \ln \frac{C}{M e^{a t} + K}\right) f(t)\,dt $$

    M are bytes that the model may be off by, a the logarithm of the factor `error`; K such that are kept beside them;
    b the logarithm of the factor `spike`, by which a run takes more for a moment, or less, than both. T_1 and T_2 are
    Student's of four degrees of freedom, as wide as a normal one for four cases in five; F is its share, f its density.
    The integral is over the narrower of the two, as F of the wider is smooth: to 1e-4 of the chance. Assumes
    that both are independent.
    """
    narrow, wide = sorted((float(np.log(error)), float(np.log(spike))))
    if wide == 0.0:
        return np.asarray(np.asarray(moved + kept) <= capacity, dtype=float)
    deviations, weights = _nodes() if narrow else (np.zeros(1), np.ones(1))
    factors = np.exp(narrow * deviations)
    room, mass, beside = (np.asarray(size, dtype=float)[..., None] for size in (capacity, moved, kept))
    ratio = room / (mass * factors + beside) if error <= spike else (room / factors - beside) / mass
    return np.asarray(model_share(np.log(np.clip(ratio, _LEAST, 1.0 / _LEAST)) / wide) @ weights)


@cache
def _nodes() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return model_nodes(_NODES)
