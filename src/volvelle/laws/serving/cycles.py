"""Cycles of speculative decoding that an answer takes: what each yields is chance, and the last one yields too much."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from volvelle.laws.citations import cites
from volvelle.quantities import Fraction, Number

Real = NDArray[np.float64]
_EXACT = 2048
"""Tokens up to which cycles are counted one by one; from there on their number grows evenly."""


@cites("leviathan2023speculative", place="section 3.1: tokens of a cycle are a capped geometric variable")
def yield_chances(acceptance: Sequence[Fraction]) -> Real:
    r"""Chances that a cycle yields 1, 2, … K + 1 tokens, by the acceptance at each position, or at each level.

    $$ p_i = (1 - \alpha_i) \prod_{j<i} \alpha_j, \qquad p_{K+1} = \prod_{j \le K} \alpha_j $$

    Their mean is what a cycle yields on average. Assumes positions that are accepted independently, up to the first
    that is not.
    """
    reached = np.cumprod(np.concatenate(([1.0], np.asarray(acceptance, dtype=float))))
    return np.append(reached[:-1] - reached[1:], reached[-1])


@cites("leviathan2023speculative", place="section 3.1, counted until an answer is complete")
def cycles_until(tokens: NDArray[np.int64], chances: Real) -> tuple[Number, Number]:
    r"""Cycles until so many tokens have come: their mean and their variance.

    $$ m(n) = 1 + \sum_i p_i\, m(n - i), \qquad s(n) = 1 + \sum_i p_i \left[2 m(n - i) + s(n - i)\right] $$

    with m and s, the mean of squares, 0 where nothing is left to come: a little more than n/E cycles, because the last
    one is cut off. Assumes cycles that are independent and alike; of long answers, that each further token takes 1/E
    cycles.
    """
    wanted = np.asarray(tokens, dtype=np.int64)
    most = min(int(np.max(wanted, initial=0)), _EXACT)
    width = len(chances)
    mean, squares = np.zeros(most + width), np.zeros(most + width)  # the first entries are of nothing left to come
    backwards = chances[::-1]
    for place in range(width, width + most):
        before = mean[place - width : place]
        mean[place] = 1.0 + backwards @ before
        squares[place] = 1.0 + backwards @ (2.0 * before + squares[place - width : place])
    counted = width - 1 + np.minimum(wanted, most)
    yields = np.arange(1.0, width + 1.0)
    each = float(chances @ yields)
    spread = max(float(chances @ yields**2) - each**2, 0.0)
    beyond = np.maximum(wanted - most, 0)
    cycles = mean[counted] + beyond / each
    variance = np.maximum(squares[counted] - mean[counted] ** 2, 0.0) + beyond * spread / each**3
    return cycles, variance
