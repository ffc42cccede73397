"""What a few runs of one's own change: estimates drawn from what is known of others towards what they say."""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from volvelle.laws.citations import cites
from volvelle.spread import student

Table = NDArray[np.float64]
_ROUNDS = 5
"""Times that weights are found again; they hardly change after three."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shrunk:
    """What is believed of the error of a new row after own rows."""

    weight: float
    """How far own rows are followed: 0 not at all, 1 wholly."""
    shift: float
    scale: float
    freedom: float


@cites("lindley1972linear", place="section 1, exchangeability between and within")
def shrunk_shift(errors: Table, *, centre: float, between: float, within: float, freedom: float) -> Shrunk:
    r"""One shift for all rows of a machine, from k rows on it.

    $$ w = \frac{k\tau^2}{k\tau^2 + s^2}, \quad s^2 = \frac{\nu_0\sigma^2 + \sum_i (a_i - \bar a)^2}{\nu_0 + k - 1},
       \quad \mu = \beta + w(\bar a - \beta), \quad s_p^2 = s^2 + \tau^2 (1 - w) $$

    a_i are own logarithms of measured over predicted, β and τ centre and spread of machines, σ the spread within one,
    known as well as ν_0 rows would tell it. A new row follows Student's distribution of ν_0 + k − 1 degrees of freedom
    around μ. No rows leave what was known. Assumes that own rows are of one machine and one version of its software.
    """
    count = len(errors)
    if not count:
        return Shrunk(weight=0.0, shift=centre, scale=sqrt(within**2 + between**2), freedom=freedom)
    mean = float(errors.mean())
    variance = (freedom * within**2 + float(((errors - mean) ** 2).sum())) / (freedom + count - 1.0)
    weight = count * between**2 / (count * between**2 + variance)
    return Shrunk(
        weight=weight,
        shift=centre + weight * (mean - centre),
        scale=sqrt(variance + between**2 * (1.0 - weight)),
        freedom=freedom + count - 1.0,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearPosterior:
    """What is believed of constants after own rows."""

    change: Table
    """Of the logarithm of each constant."""
    covariance: Table
    scale: float
    """One standard deviation of a row around what its constants say."""
    freedom: float
    weights: Table
    """How far each row was believed: 1 where it is as far off as rows are, less where it is further."""
    left_out: Table
    """Error of each row with the constants that the others tell."""


@cites("lange1989robust", place="section 2, weights of the t distribution")
def linear_posterior(
    slopes: Table, errors: Table, *, covariance: Table, scale: float, freedom: float
) -> LinearPosterior:
    r"""Constants of a machine from k rows on it, drawn towards what is known of machines like it.

    $$ \delta = C J^\top M e, \quad C' = C - C J^\top M J C, \quad
       M = \left(J C J^\top + \sigma^2 \operatorname{diag}(1/w)\right)^{-1}, \quad
       w_i = \frac{\nu_0 + 1}{\nu_0 + r_i^2/\sigma^2} $$

    J are slopes of ln(time) in the logarithms of constants, e own logarithms of measured over predicted, C what
    constants of such machines spread by, σ the scatter of rows, r what δ leaves of e. A row that is far off what the
    others say counts little; priors are those of Lindley and Smith (1972, equation 11). The scatter is then found again
    as by `shrunk_shift`, less the constants that rows told.
    Assumes that ln(time) is linear in the logarithms of constants as far as they change.
    """
    count = len(errors)
    weights = np.ones(count)
    spread = slopes @ covariance @ slopes.T
    inverse: Table = np.zeros((count, count))
    for _ in range(_ROUNDS if count else 0):
        inverse = np.asarray(np.linalg.inv(spread + np.diag(scale**2 / weights)), dtype=np.float64)
        rest = errors - spread @ inverse @ errors
        weights = (freedom + 1.0) / (freedom + (rest / scale) ** 2)
    gain = covariance @ slopes.T @ inverse
    told = float(np.trace(spread @ inverse))
    rest = errors - spread @ inverse @ errors
    variance = (freedom * scale**2 + float((weights * rest**2).sum())) / (freedom + count - told)
    return LinearPosterior(
        change=gain @ errors,
        covariance=covariance - gain @ slopes @ covariance,
        scale=sqrt(variance),
        freedom=freedom + max(count - 1.0, 0.0),
        weights=weights,
        left_out=inverse @ errors / np.diag(inverse) if count else errors,
    )


@cites("student1908mean", place="section III, the distribution of z")
def student_reach(freedom: float, *, level: float) -> float:
    r"""Standard deviations within which a share of Student's distribution lies.

    $$ p = \frac{2\,\Gamma(\frac{\nu+1}{2})}{\sqrt{\pi}\,\Gamma(\frac{\nu}{2})}
           \int_0^{\arctan(t/\sqrt{\nu})} \cos^{\nu-1}\varphi\; d\varphi $$

    Solved for t. Assumes ν of 1 or more.
    """
    return float(student((1.0 + level) / 2.0, freedom))
