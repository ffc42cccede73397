"""Quantiles that laws of failures need."""

import numpy as np

from volvelle.laws.citations import cites
from volvelle.quantities import Number

_EDGE, _HALF = 0.02425, 0.5
_A = (
    -3.969683028665376e1,
    2.209460984245205e2,
    -2.759285104469687e2,
    1.383577518672690e2,
    -3.066479806614716e1,
    2.506628277459239,
)
_B = (-5.447609879822406e1, 1.615858368580409e2, -1.556989798598866e2, 6.680131188771972e1, -1.328068155288572e1, 1.0)
_C = (
    -7.784894002430293e-3,
    -3.223964580411365e-1,
    -2.400758277161838,
    -2.549732539343734,
    4.374664141464968,
    2.938163982698783,
)
_D = (7.784695709041462e-3, 3.224671290700398e-1, 2.445134137142996, 3.754408661907416, 1.0)


@cites("wilson1931chisquare", place="the cube root of a chi-square variable is nearly normal")
def gamma_quantile(shape: Number, mean: Number, *, at: Number) -> Number:
    r"""Quantile of a gamma distribution.

    $$ x_q \approx \bar x\,\bigl(1 - \tfrac{1}{9k} + z_q \tfrac{1}{3\sqrt{k}}\bigr)^3 $$

    Assumes a shape k near one or above: within 1 % of the distance between the 10th and the 90th percentile from 1 on.
    """
    ninth = 1.0 / (9.0 * np.asarray(shape, dtype=float))
    root = np.maximum(1.0 - ninth + normal_quantile(at) * np.sqrt(ninth), 0.0)
    return np.asarray(mean * root**3)


@cites("acklam2003normal", place="rational approximation with one step of Halley left out: 1.15e-9 at most, relative")
def normal_quantile(at: Number) -> Number:
    r"""Quantile of the standard normal distribution.

    $$ z_q = \Phi^{-1}(q) $$

    Assumes q between 1e-300 and 1 - 1e-16.
    """
    q = np.asarray(at, dtype=float)
    low = np.minimum(q, 1.0 - q)
    tail = np.sqrt(-2.0 * np.log(np.maximum(low, 1e-300)))
    outer = np.polyval(_C, tail) / np.polyval(_D, tail)
    centred = q - 0.5
    square = centred * centred
    inner = centred * np.polyval(_A, square) / np.polyval(_B, square)
    return np.asarray(np.where(low > _EDGE, inner, np.where(q < _HALF, outer, -outer)))
