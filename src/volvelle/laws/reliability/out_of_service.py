"""Nodes that are being repaired, and how many spares stand in for them."""

import numpy as np
from numpy.typing import NDArray

from volvelle.laws.citations import cites
from volvelle.quantities import Count, Fraction, Number, Seconds


@cites("little1961queuing", place="L = λW")
def nodes_out(nodes: Count, *, rate: Number, repair: Seconds) -> Number:
    r"""Nodes out of service on average.

    $$ L = N f \mu $$

    f are faults a second of one node and μ the mean time it is out. Assumes nothing but that it goes on for long.
    """
    return nodes * np.asarray(rate) * repair


@cites("infinitehbd2025", place="trace: variance over mean of nodes out is 5.8, where independent faults would have 1")
def spares_needed(mean: Number, *, dispersion: Number, at: Fraction) -> Number:
    r"""Spares that suffice for a share of the time: a quantile of the negative binomial distribution.

    $$ \min\{n : P(X \le n) \ge q\},\quad \mathrm{E}X = m,\ \mathrm{Var}X = \varphi m $$

    A dispersion φ of one is Poisson's. Assumes it is known; bursts with a common cause make it large.
    """
    means, spreads, shares = np.broadcast_arrays(
        np.asarray(mean, dtype=float), np.asarray(dispersion, dtype=float), np.asarray(at, dtype=float)
    )
    found = [
        float(np.searchsorted(_distribution(m, phi), q))
        for m, phi, q in zip(means.ravel(), spreads.ravel(), shares.ravel(), strict=True)
    ]
    return np.asarray(found).reshape(means.shape)


@cites("infinitehbd2025", place="trace, as above: the share of time in which more are out than spares")
def chance_without_spare(mean: Number, *, dispersion: Number, spares: Count) -> Fraction:
    r"""Share of the time in which more nodes are out than there are spares, and a job waits.

    $$ P(X > s) $$

    Assumes a job that needs all of its nodes, and the negative binomial distribution of nodes out.
    """
    means, spreads, counts = np.broadcast_arrays(
        np.asarray(mean, dtype=float), np.asarray(dispersion, dtype=float), np.asarray(spares, dtype=float)
    )
    found = []
    for m, phi, spare in zip(means.ravel(), spreads.ravel(), counts.ravel(), strict=True):
        below = _distribution(m, phi)
        found.append(max(0.0, 1.0 - float(below[min(int(spare), len(below) - 1)])))
    return np.asarray(found).reshape(means.shape)


def _distribution(mean: float, dispersion: float) -> NDArray[np.float64]:
    """Chances of at most 0, 1, 2 … nodes out, as far as they matter."""
    spread = max(dispersion, 1.0 + 1e-9)
    most = int(mean + 20.0 * np.sqrt(mean * spread) + 20.0 * spread + 20.0)
    size = mean / (spread - 1.0)
    counts = np.arange(most, dtype=float)
    with np.errstate(divide="ignore"):
        steps = np.log((counts + size) * (1.0 - 1.0 / spread) / (counts + 1.0))
    logs = np.concatenate(([0.0], np.cumsum(steps))) - size * np.log(spread)
    return np.asarray(np.cumsum(np.exp(logs)))
