"""Quantiles that laws of failures need."""

import numpy as np

from volvelle.laws.citations import cites
from volvelle.quantities import Number
from volvelle.spread import standard_normal


@cites("wilson1931chisquare", place="the cube root of a chi-square variable is nearly normal")
def gamma_quantile(shape: Number, mean: Number, *, at: Number) -> Number:
    r"""Quantile of a gamma distribution.

    $$ x_q \approx \bar x\,\bigl(1 - \tfrac{1}{9k} + z_q \tfrac{1}{3\sqrt{k}}\bigr)^3 $$

    Assumes a shape k near one or above: within 1 % of the distance between the 10th and the 90th percentile from 1 on.
    """
    ninth = 1.0 / (9.0 * np.asarray(shape, dtype=float))
    root = np.maximum(1.0 - ninth + standard_normal(np.asarray(at, dtype=float)) * np.sqrt(ninth), 0.0)
    return np.asarray(mean * root**3)
