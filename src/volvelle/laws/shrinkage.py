"""What a few runs of one's own change: estimates drawn from what is known of others towards what they say."""

from dataclasses import dataclass
from math import lgamma, log, log1p, sqrt

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


@cites("rasmussen2006gaussian", place="section 4.2.1, the exponential covariance function")
def likeness(ones: Table, others: Table, *, reach: float) -> Table:
    r"""How far two runs go wrong alike: 1 where they are of one shape, less the further their shapes lie apart.

    $$ k(x, x') = e^{-\lVert x - x' \rVert / \ell} $$

    x are logarithms of shapes, a row a run. Assumes that errors change with shapes as roughly as that: not at all
    smoothly.
    """
    apart = np.linalg.norm(ones[:, None, :] - others[None, :, :], axis=-1)
    return np.asarray(np.exp(-apart / reach))


@dataclass(frozen=True, slots=True, kw_only=True)
class Kriged:
    """What own rows tell of what constants leave, of one new row or of many."""

    shift: Table
    told: Table
    """Variance that own rows take from it."""
    carried: Table
    """Slopes in constants that own rows bring along: what new rows feel of constants is less by these."""


@cites("rasmussen2006gaussian", place="section 2.2, equations 2.25 and 2.26")
def kriged(alike: Table, covariance: Table, left: Table, slopes: Table, *, noise: Table) -> Kriged:
    r"""Error of new rows that those of own rows tell, which lie near them.

    $$ g = k^\top (K + N)^{-1} r, \qquad t = k^\top (K + N)^{-1} k, \qquad j = k^\top (K + N)^{-1} J $$

    k is the covariance of new rows (a row each) with own ones, K that of own ones, N the variance of their noise, r
    what constants leave of their errors, J their slopes in constants: what is off in constants is in r, and not in g.
    Assumes a mean of zero.
    """
    solved = np.linalg.solve(covariance + np.diag(noise**2), np.column_stack([left, slopes, alike.T]))
    last = 1 + slopes.shape[1]
    return Kriged(
        shift=alike @ solved[:, 0],
        told=np.einsum("no,on->n", alike, solved[:, last:]),
        carried=alike @ solved[:, 1:last],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearPosterior:
    """What is believed of constants after own rows."""

    change: Table
    """Of the logarithm of each constant."""
    covariance: Table
    inflation: float
    """Of variances, by how far own rows are off what was believed of them; already in the covariance."""
    noise: Table
    """One standard deviation of each own row that nothing explains."""
    freedom: float
    weights: Table
    """How far each row was believed: 1 where it is as far off as rows are, less where it is further."""
    left: Table
    """Error of each row with the new constants."""
    left_out: Table
    """Error of each row by what the others tell."""


@cites("lange1989robust", place="section 2, weights of the t distribution")
def student_weights(rest: Table, *, scale: Table, freedom: float) -> Table:
    r"""How far rows are believed that are so far off.

    $$ w = \frac{\nu + 1}{\nu + r^2/\sigma^2} $$

    Assumes noise of Student's distribution.
    """
    return (freedom + 1.0) / (freedom + (rest / scale) ** 2)


@cites("shah2014student", place="lemma 3, of scales in place of covariances")
def told_inflation(distance: float, count: int, *, freedom: float) -> float:
    r"""What variances are multiplied by once rows were seen, by how far they are off what was believed of them.

    $$ f = \frac{\nu + e^\top M e}{\nu + k} $$

    The distance is the sum of squares in standard deviations, about k for k rows that are off as was believed. Assumes
    that a machine's variances are all larger or all smaller than others', known as well as ν rows would tell.
    """
    return (freedom + distance) / (freedom + count)


@cites("shah2014student", place="definition 1, density of the multivariate distribution, of scales")
def student_tails(distance: float, count: int, *, freedom: float) -> float:
    r"""Minus the logarithm of the density of rows so far off together, but for what their scale adds.

    $$ -\ln p = \frac{\nu + k}{2}\ln\left(1 + \frac{d}{\nu}\right) + \ln\Gamma\left(\frac{\nu}{2}\right)
       - \ln\Gamma\left(\frac{\nu + k}{2}\right) + \frac{k}{2}\ln\frac{\nu}{2} $$

    d is the sum of squares in standard deviations. Assumes as `told_inflation` does.
    """
    tails = (freedom + count) / 2.0 * log1p(distance / freedom)
    return tails + lgamma(freedom / 2.0) - lgamma((freedom + count) / 2.0) + count / 2.0 * log(freedom / 2.0)


@cites("kennedy2001bayesian", place="section 4.2, a model's inadequacy beside its parameters")
def linear_posterior(
    slopes: Table, errors: Table, *, covariance: Table, noise: Table, freedom: float, alike: Table | None = None
) -> LinearPosterior:
    r"""Constants of a machine from k rows on it, drawn towards what is known of machines like it.

    $$ \delta = C J^\top M e, \quad C' = f (C - C J^\top M J C), \quad
       M = \left(J C J^\top + K + \operatorname{diag}(\sigma_i^2/w_i)\right)^{-1} $$

    J are slopes of ln(time) in the logarithms of constants, e own logarithms of measured over predicted, C what
    constants of such machines spread by, K what rows of like shapes go wrong by together whatever the constants, σ the
    noise of each, w its `student_weights`: a row that is far off what the others say counts little. f is
    `told_inflation`. Priors are those of Lindley and Smith (1972, equation 11). Assumes that ln(time) is linear in the
    logarithms of constants as far as they change.
    """
    count = len(errors)
    weights = np.ones(count)
    spread = slopes @ covariance @ slopes.T + (0.0 if alike is None else alike)
    inverse: Table = np.zeros((count, count))
    for _ in range(_ROUNDS if count else 0):
        inverse = np.asarray(np.linalg.inv(spread + np.diag(noise**2 / weights)), dtype=np.float64)
        rest = noise**2 / weights * (inverse @ errors)
        weights = student_weights(rest, scale=noise, freedom=freedom)
    gain = covariance @ slopes.T @ inverse
    change = gain @ errors
    inflation = told_inflation(float(errors @ inverse @ errors), count, freedom=freedom)
    return LinearPosterior(
        change=change,
        covariance=inflation * (covariance - gain @ slopes @ covariance),
        inflation=inflation,
        noise=noise * np.sqrt(inflation / weights),
        freedom=freedom + count,
        weights=weights,
        left=errors - slopes @ change,
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
