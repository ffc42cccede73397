"""How likely memory suffices, where the model of it may be off and a run takes more for a moment."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from volvelle.laws.citations import cites
from volvelle.quantities import Bytes
from volvelle.spread import model_nodes, model_share

_NODES = 48
_LEAST = 1e-100


@cites("student1908mean", place="section III, the distribution of z, of four degrees of freedom")
def chance_to_fit(
    capacity: Bytes, moved: Bytes, *, kept: Bytes = 0.0, error: float, spike: float
) -> NDArray[np.float64]:
    r"""How likely memory suffices.

    $$ P = \Pr\left[(M\,e^{a T_1} + K)\, e^{b |T_2|} \le C\right]
         = \int F\!\left(\tfrac{1}{a} \ln \frac{C e^{-b |t|} - K}{M}\right) f(t)\,dt $$

    M are bytes that the model may be off by, up or down, a the logarithm of the factor `error`; K such that are kept
    beside them; b the logarithm of the factor `spike`, by which a run takes more than both: for a moment, or between
    tensors, memory is taken that no tensor has, and never given. T_1 and T_2 are Student's of four degrees of freedom,
    as wide as a normal one for four cases in five; F is its share, f its density. Where the error is much the narrower
    of the two the integral is over it, and the spike's share is 2 F − 1. To 2e-4 of the chance; assumes that both are
    independent.
    """
    a, b = float(np.log(error)), float(np.log(spike))
    if max(a, b) == 0.0:
        return np.asarray(np.asarray(moved + kept) <= capacity, dtype=float)
    room, mass, beside = (np.asarray(size, dtype=float)[..., None] for size in (capacity, moved, kept))
    if a > _NARROW * b:
        deviations, weights = _spikes() if b else _CERTAIN
        left = _logarithm((room * np.exp(-b * deviations) - beside) / mass)
        return np.asarray(model_share(left / a) @ weights)
    deviations, weights = _errors() if a else _CERTAIN
    left = _logarithm(room / (mass * np.exp(a * deviations) + beside))
    return np.asarray(np.maximum(2.0 * model_share(left / b) - 1.0, 0.0) @ weights)


_NARROW = 0.5
_CERTAIN = (np.zeros(1), np.ones(1))


def _logarithm(ratio: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.log(np.clip(ratio, _LEAST, 1.0 / _LEAST)))


@cache
def _errors() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return model_nodes(_NODES)


@cache
def _spikes() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Of their size alone."""
    return model_nodes(_NODES // 2, upper=True)
