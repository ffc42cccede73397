"""How far a fitted model may be off: from rows that were left out of the fit, and beyond what was fitted."""

from collections.abc import Sequence
from functools import cache
from math import erf, log, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from volvelle.laws.citations import cites
from volvelle.quantities import Bytes, Number
from volvelle.spread import model_nodes, model_share, standard_normal, student

_NODES = 48
_LEAST = 1e-100
_NARROW = 0.5
_CERTAIN = (np.zeros(1), np.ones(1))


@cites("barber2021jackknife", place="section 1.1, the quantile of left-out residuals")
def covering_error(errors: NDArray[np.float64], weights: NDArray[np.float64], *, level: float) -> float:
    r"""What a share of new errors keeps to, by the errors of rows that their fit did not see.

    $$ q = \inf \{ t : \sum_{|e_i| \le t} w_i \ge p\,(1 + \sum_i w_i) \} $$

    e_i is the error of a row under a fit without its group, w_i its weight, p the share. One more row than there are
    is counted, the one to come; where the rows are too few for that, q is their largest error. Assumes that new rows
    are drawn as the old ones were.
    """
    size = np.abs(errors)
    order = np.argsort(size)
    enough = np.cumsum(weights[order]) >= level * (1.0 + float(np.sum(weights))) - 1e-9
    return float(size[order][int(np.argmax(enough))] if enough.any() else size.max())


@cites("barber2021jackknife", place="section 1.1, the quantile of left-out residuals, of either side apart")
def tilt_of_sides(errors: NDArray[np.float64], weights: NDArray[np.float64], *, level: float) -> float:
    r"""By how much longer the upper side of a range should be than the lower one, as a logarithm of each.

    $$ \theta = \tfrac12 \ln \frac{q_{(1+p)/2}}{-q_{(1-p)/2}} $$

    q are quantiles of errors in reaches of symmetric ranges, p the share these hold. A side counts as a fifth of such a
    reach at least. Assumes that new rows are drawn as the old ones were.
    """
    order = np.argsort(errors)
    shares = np.cumsum(weights[order]) / float(np.sum(weights))
    places = np.minimum(np.searchsorted(shares, [(1.0 - level) / 2.0, (1.0 + level) / 2.0]), errors.size - 1)
    low, high = errors[order][places]
    return 0.5 * log(max(float(high), 0.2) / max(-float(low), 0.2))


@cites("gneiting2007scoring", place="section 6.2, equation 43")
def interval_score(errors: NDArray[np.float64], reaches: NDArray[np.float64], *, level: float) -> NDArray[np.float64]:
    r"""How good ranges around zero are that errors were to lie in: less is better, and none gains by lying.

    $$ s = 2 r + \frac{2}{1 - p} \max(|e| - r, 0) $$

    Assumes ranges that reach as far to either side.
    """
    return 2.0 * reaches + 2.0 / (1.0 - level) * np.maximum(np.abs(errors) - reaches, 0.0)


@cites("student1908mean", place="section III, the distribution of z")
def few_groups_deviation(errors: NDArray[np.float64]) -> float:
    r"""One standard deviation of a group to come, by the errors of a few that were left out.

    $$ s = \frac{t_n}{t_\infty} \sqrt{\frac{1}{n} \sum_i e_i^2} $$

    t_n is what four fifths of Student's distribution of n degrees of freedom keep to: few groups say little of their
    own spread, and one says least. Assumes normal errors around zero, because left-out groups were not fitted to.
    """
    reach = float(student(0.9, errors.size)) / float(standard_normal(0.9))
    return reach * float(np.sqrt(np.mean(errors**2)))


@cites("dersimonian1986meta", place="section 2, the estimate of the variance between studies")
def two_levels(
    errors: NDArray[np.float64], groups: Sequence[str], *, centre: float | None = None
) -> tuple[float, float, float]:
    r"""Bias, and one standard deviation between groups and within them, of errors that their fit did not see.

    $$ e_{gi} = \beta + b_g + \varepsilon_{gi}, \qquad
       \sigma^2 = \frac{\sum_g \sum_i (e_{gi} - \bar e_g)^2}{\sum_g (n_g - 1)}, \qquad
       \tau^2 = \max\left(0,\; \frac{\sum_g (\bar e_g - \beta)^2}{G - 1} - \sigma^2 \overline{1/n_g}\right) $$

    β is the mean of the groups' means, each counted once; or a `centre` that is known, such as zero for a fit that saw
    none of them, and G is then divided by in place of G − 1. Assumes that groups are drawn alike, and rows within them;
    with one group and no centre the spread between groups is not known and comes out as zero.
    """
    names = np.asarray(groups)
    own = [errors[names == name] for name in dict.fromkeys(groups)]
    means = np.array([float(np.mean(one)) for one in own])
    freedom = sum(len(one) - 1 for one in own)
    squares = sum(float(np.sum((one - np.mean(one)) ** 2)) for one in own)
    within = squares / freedom if freedom else 0.0
    if centre is None and len(own) == 1:
        return float(means[0]), 0.0, sqrt(within)
    about = float(np.mean(means)) if centre is None else centre
    spread = float(np.sum((means - about) ** 2)) / (len(own) - (centre is None))
    between = spread - within * float(np.mean([1.0 / len(one) for one in own]))
    return about, sqrt(max(between, 0.0)), sqrt(within)


@cites("gelman2013bayesian", place="section 5.4, partial pooling")
def pooled_deviation(own: float, groups: float, above: float, *, worth: float, least: float = 0.01) -> float:
    r"""How far a class of questions is off, told by its own few groups and by the class above it.

    $$ s = \exp \frac{n \ln s_n + m \ln s_0}{n + m} $$

    s_n is what the n groups of the class itself say, s_0 the class above, which is worth m groups. No group says less
    than `least`, as a measurement is no more exact. Assumes that deviations of classes scatter around that of their
    parent alike by ratio.
    """
    logarithm = groups * log(max(own, least)) + worth * log(max(above, least))
    return float(np.exp(logarithm / (groups + worth)))


@cites("jcgm2008gum", place="section 5.1.2, equation 10")
def error_beside_inputs(model: Number, inputs: Number, *, known: float) -> Number:
    r"""What of a model's error is to be added to doubt of the inputs, so that none of it counts twice.

    $$ s = \sqrt{\max(0,\; s_m^2 - \min(s_x^2, s_0^2))} $$

    s_m is one standard deviation of left-out residuals as a logarithm, s_x that of the time as inputs vary, s_0 that
    of the rows the residuals are of, which hold it already: inputs in no more doubt than theirs change nothing, those
    in more add what is beyond. Assumes that both are independent, and that residuals of rows hold their inputs' doubt.
    """
    return np.asarray(np.sqrt(np.maximum(0.0, np.square(model) - np.minimum(np.square(inputs), known**2))))


@cites("jcgm2008gum", place="section 5.1.2, equation 10")
def combined_doubt(inside: float, beyond: Sequence[tuple[float, Number]]) -> Number:
    r"""One standard deviation as a factor, where a question leaves what was fitted in several ways at once.

    $$ \ln^2 s = \ln^2 s_0 + \sum_a n_a \ln^2 s_a $$

    s_0 is the factor within what was fitted, s_a what leaving it by way a adds; n_a counts the steps, 0 where the
    question does not leave that way. Assumes that the ways are independent, and every step too.
    """
    total: Number = np.log(inside) ** 2
    for factor, steps in beyond:
        total = total + steps * np.log(factor) ** 2
    return np.exp(np.sqrt(total))


_erf = np.vectorize(erf, otypes=[float])


@cites("thurstone1927judgment", place="equation 1, the law of comparative judgment")
def chance_of_order(lead: Number, *, spread: float) -> Number:
    r"""How likely the one of two that is predicted to be faster is faster when measured.

    $$ P = \Phi\!\left(\frac{|\ln(t_2 / t_1)|}{\sigma}\right) $$

    lead is ln(t_2 / t_1) of the predictions, σ one standard deviation of the error of such a difference. Assumes that
    these errors are normal and centred on zero.
    """
    return np.asarray(0.5 * (1.0 + _erf(np.abs(lead) / (spread * sqrt(2.0)))))


@cites("thurstone1927judgment", place="equation 1, the law of comparative judgment, of several at once")
def fastest_of_several(
    logarithms: NDArray[np.float64], runs: NDArray[np.float64], *, spread: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    r"""Compute how likely each of several candidates is the fastest, and how much slower than the fastest it is.

    $$ P_i = \frac1S \sum_s \int p_{is}\, f_{is}(x) \prod_{j \ne i} \left(1 - p_{js} F_{js}(x)\right) dx,
       \qquad
       R_i = \mathrm E\left[e^{x_i - \min_j x_j}\right] - 1 $$

    Rows are candidates, columns s equally likely samples. f and F are the density and the distribution function of
    a normal x with mean ln t (`logarithms`) and standard deviation `spread`. p (`runs`) is the probability that the
    candidate can run. Where none can run, none is the fastest. R is the mean over samples where i runs; it is not a
    number (NaN) for a candidate that never runs. Computed to 1e-5. Assumes that the errors are independent.
    """
    times = (logarithms - logarithms.min(axis=0)) / spread
    last = float(times.max())
    # Functions of a deviation, read from tables whose entries are so close that the nearest will do.
    grid = np.arange(-_TAIL - last, last + _TAIL + 2.0 / _POINTS, 1.0 / (_POINTS * _ENTRIES))
    shares = np.interp(grid, _NORMAL, _NORMAL_SHARE)
    densities = np.exp(-0.5 * grid * grid)
    # The mean of max(1, t_i / m), for the time m that the fastest of the others takes.
    ratios = shares + np.exp(np.minimum(spread * (0.5 * spread - grid), _FAR)) * (
        1.0 - np.interp(grid - spread, _NORMAL, _NORMAL_SHARE)
    )
    place = np.rint((last - times) * (_POINTS * _ENTRIES)).astype(np.intp)
    wins, slower = np.zeros_like(times), np.zeros_like(times)
    before, ratio_before = np.ones_like(times), np.zeros_like(times)
    for _ in range(int((last + 2.0 * _TAIL) * _POINTS) + 1):
        logs = np.log(np.maximum(1.0 - runs * shares[place], _LEAST))
        others = np.exp(logs.sum(axis=0) - logs)
        wins += densities[place] * others
        ratio = ratios[place]
        slower += 0.5 * (ratio + ratio_before) * (before - others)
        before, ratio_before = others, ratio
        place += _ENTRIES
        if others.max() < _NONE:
            break
    slower += before
    with np.errstate(invalid="ignore"):
        regret = (runs * slower).sum(axis=1) / runs.sum(axis=1) - 1.0
    density = 1.0 / (_POINTS * sqrt(2.0 * pi))
    return np.asarray(density * np.mean(runs * wins, axis=1)), np.asarray(np.maximum(regret, 0.0))


_TAIL, _POINTS = 5.5, 3
"""Standard deviations beyond the first and the last candidate, and points in each, of the integral over times."""
_ENTRIES = 800
"""Entries of a table from one point to the next."""
_FAR = 700.0
_NONE = 1e-7
"""Chance that no other candidate is faster, from which on nothing is left to add."""
_NORMAL = np.linspace(-8.0, 8.0, 1601)
_NORMAL_SHARE = np.array([0.5 * (1.0 + erf(one / sqrt(2.0))) for one in _NORMAL])


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
    of the two the integral is over it, and the spike's share is 2 F − 1. Computed to 2e-4. Assumes that both are
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


@cites("lindley1972linear", place="section 1, exchangeability between and within")
def likelihood_of_alike(errors: NDArray[np.float64], *, error: float, alike: float) -> float:
    r"""How likely errors of one source are, as a logarithm, of which a share is alike for all of them.

    $$ \ln p = -\tfrac12\left[(n - 1)\ln(1 - s) + \ln(1 + (n - 1)s)
       + \frac{1}{a^2}\left(\frac{\sum_i (e_i - \bar e)^2}{1 - s} + \frac{n\,\bar e^2}{1 + (n - 1)s}\right)\right] $$

    a is the logarithm of the factor `error`, s the share of its square that is alike, so the correlation of two. What
    does not depend on s is left out. Assumes normal errors around zero.
    """
    count, mean = len(errors), float(np.mean(errors))
    together = 1.0 + (count - 1) * alike
    squares = float(np.sum((errors - mean) ** 2)) / (1.0 - alike) + count * mean**2 / together
    return -0.5 * ((count - 1) * log(1.0 - alike) + log(together) + squares / log(error) ** 2)


@cites("gelman2013bayesian", place="section 1.3, Bayes' rule")
def chance_to_fit_too(
    capacity: Bytes, moved: Bytes, *, ran: Bytes, kept: Bytes = 0.0, error: float, spike: float, alike: float
) -> NDArray[np.float64]:
    r"""How likely memory suffices where a run of the same software on the same machine fitted.

    $$ P = (1 - s)\, P_0 + s\, \frac{\int G(M, t)\, G(M', t)\, f(t)\,dt}{\int G(M', t)\, f(t)\,dt},
       \qquad G(M, t) = \Pr\left[(M\,e^{a t} + K)\, e^{b |T_2|} \le C\right] $$

    P_0 is the chance without that run (`chance_to_fit`, whose letters these are), M' what that run needed by the model,
    s the chance that the model is off alike for both. Assumes that what is taken for a moment is of each run by itself.
    """
    alone = chance_to_fit(capacity, moved, kept=kept, error=error, spike=spike)
    a, b = float(np.log(error)), float(np.log(spike))
    if not alike or max(a, b) == 0.0:
        return alone
    room, beside = (np.asarray(size, dtype=float)[..., None] for size in (capacity, kept))
    deviations, weights = _shared_errors() if a else _CERTAIN

    def share(sizes: Bytes) -> NDArray[np.float64]:
        left = _logarithm(room / (np.asarray(sizes, dtype=float)[..., None] * np.exp(a * deviations) + beside))
        return np.asarray(left >= 0.0, float) if not b else np.maximum(2.0 * model_share(left / b) - 1.0, 0.0)

    that = share(ran)
    both, one = np.asarray((share(moved) * that) @ weights), np.asarray(that @ weights)
    given = np.where(one > 0.0, both / np.where(one > 0.0, one, 1.0), alone)
    return np.asarray((1.0 - alike) * alone + alike * given)


def _logarithm(ratio: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.log(np.clip(ratio, _LEAST, 1.0 / _LEAST)))


@cache
def _errors() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return model_nodes(_NODES)


@cache
def _shared_errors() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Of more nodes: shares of spikes have a corner where there is no room left for any."""
    return model_nodes(4 * _NODES)


@cache
def _spikes() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Of their size alone."""
    return model_nodes(_NODES // 2, upper=True)
