"""What one's own events say of a rate that was known from others."""

import numpy as np

from volvelle.laws.citations import cites
from volvelle.quantities import Number


@cites("gelman2013bayesian", place="section 2.6: gamma as the conjugate prior of a Poisson rate")
def gamma_shape(factor: Number) -> Number:
    r"""Shape of the gamma distribution as wide as a log-normal one, by its variance over its squared mean.

    $$ k = 1/(e^{\sigma^2} - 1),\quad \sigma = \ln f $$

    f is one standard deviation of the logarithm, as a factor. Assumes the two first moments are what matters.
    """
    return np.asarray(1.0 / np.expm1(np.log(factor) ** 2))


@cites("gelman2013bayesian", place="section 2.6, equation 2.15: posterior of a Poisson rate with exposure")
def updated_rate(shape: Number, mean: Number, *, events: Number, exposure: Number) -> Number:
    r"""Mean of a rate after some events, where it was gamma-distributed before.

    $$ \bar\lambda' = \frac{k + n}{k/\bar\lambda + X} $$

    n events were seen in the exposure X; the new shape is k + n. Assumes events come independently. No events lower
    the rate and never make it zero.
    """
    return (shape + events) / (shape / mean + exposure)
