"""How much of an answer's doubt each uncertain input brings, and what a measurement is worth before it is made."""

from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from volvelle.laws.citations import cites
from volvelle.quantities import Number

Column = NDArray[np.float64]
_below = np.vectorize(NormalDist().cdf, otypes=[float])


@cites("saltelli2010variance", place="table 2, (b) for first order and (f) for total")
def sobol_index(first: Column, second: Column, swapped: Column) -> tuple[float, float]:
    r"""Share of the variance that an input brings alone, and with all others together.

    $$ S_i = \frac{1}{n V} \sum_j f(B)_j \left( f(A_B^{(i)})_j - f(A)_j \right), \qquad
       T_i = \frac{1}{2 n V} \sum_j \left( f(A)_j - f(A_B^{(i)})_j \right)^2 $$

    `first` and `second` are the answer on two independent sets of samples, A and B; `swapped` that on A with input i
    of B. V is the variance over both; answers are taken less their mean, which changes no expectation and a good deal
    of the scatter. Assumes independent inputs.
    """
    both = np.concatenate([first, second])
    variance = float(np.var(both))
    if variance == 0.0:
        return 0.0, 0.0
    alone = float(np.mean((second - both.mean()) * (swapped - first))) / variance
    return alone, float(np.mean((first - swapped) ** 2)) / (2.0 * variance)


@cites("raiffa1961applied", place="chapter 11, a normal process of known precision, posterior analysis")
def spread_after(spread: Number, *, scatter: Number) -> Number:
    r"""One standard deviation of what is measured, after a measurement that scatters itself.

    $$ \frac{1}{\sigma'^2} = \frac{1}{\sigma^2} + \frac{1}{n^2} $$

    σ is the standard deviation before, n that of the measurement; an exact one leaves nothing. Assumes both normal.
    """
    before, own = np.square(spread), np.square(scatter)
    return np.asarray(np.sqrt(before * own / np.maximum(before + own, 1e-300)))


@cites("raiffa1961applied", place="chapter 11, a normal process of known precision, preposterior analysis")
def chance_of_settling(lead: Number, *, spread: Number, left: Number, sure: float) -> Number:
    r"""How likely a measurement tells which of two is faster with a chance of at least `sure`.

    $$ P = \Phi\!\left(\frac{\lambda - z\sigma'}{m}\right) + \Phi\!\left(\frac{-\lambda - z\sigma'}{m}\right), \qquad
       m^2 = \sigma^2 - \sigma'^2, \quad z = \Phi^{-1}(s) $$

    λ is ln(t_2 / t_1) as predicted, σ one standard deviation of its error before and σ' after the measurement: the mean
    that one will then believe is normal around λ with m. Assumes normal errors centred on zero.
    """
    edge = NormalDist().inv_cdf(sure) * np.asarray(left)
    moved = np.sqrt(np.maximum(np.square(spread) - np.square(left), 0.0))
    still = np.asarray(np.abs(lead) > edge, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = _below((lead - edge) / moved) + _below((-np.asarray(lead) - edge) / moved)
    return np.asarray(np.where(moved > 0.0, found, still))


@cites("lavenberg1981perspective", place="section 2, one control variable, its coefficient by least squares")
def by_control_variate(few: Column, control: Column, control_of_all: Column) -> tuple[Column, float]:
    r"""What a dear answer is on all samples, known on a few, by a cheap one that goes with it; and their correlation.

    $$ \hat y_j = \bar y_K + \beta (x_j - \bar x_K), \qquad \beta = \frac{\sum_K (x - \bar x_K)(y - \bar y_K)}
       {\sum_K (x - \bar x_K)^2} $$

    y is the dear answer and x the cheap one, K the samples on which both are known; the mean of ŷ over all samples is
    the control-variate estimate of the mean of y. Assumes that what is left of y varies with no x.
    """
    off, moved = control - control.mean(), few - few.mean()
    squares = float(off @ off)
    slope = float(off @ moved) / squares if squares else 1.0
    scale = float(np.sqrt(squares * (moved @ moved)))
    return np.asarray(few.mean() + slope * (control_of_all - control.mean())), float(
        off @ moved
    ) / scale if scale else 1.0
