"""The time of a fused layer of experts: rows by expert, sorting, two grouped products, and the weighted sum."""

import numpy as np
from numpy.typing import NDArray

from volvelle.laws.citations import cites
from volvelle.laws.kernels.products import smooth_maximum
from volvelle.laws.matrix_product import wave_efficiency
from volvelle.quantities import Bytes, BytesPerSecond, Count, FlopPerSecond, Fraction, Number, Seconds

FULLEST = 0.8
"""The fullest expert of a power law is drawn from as many times the emptiest's rows as this share of the tokens."""
LEAST_RATIO = 50.0
"""The fullest over the emptiest where tokens are few: chosen on calibration rows, whole models left out in turn."""
NODES = 16
"""Quantiles that stand for the experts of a rank; with half or twice as many no error moves by a thousandth."""

Column = NDArray[np.float64]


def _raised(tokens: Count, power: Number) -> Column:
    """The largest of the loads, raised to a power, less one, over the power: the integral of all moments."""
    power = np.where(np.abs(power) < 1e-9, 1e-9, power)
    return np.asarray(np.expm1(power * np.log(np.maximum(FULLEST * tokens, LEAST_RATIO))) / power)


def _quantile(share: Number, tokens: Count, skew: Number) -> Column:
    """The load below which that share of the experts stays, the emptiest's being 1."""
    power = np.where(np.abs(1.0 - skew) < 1e-9, 1e-9, 1.0 - skew)
    return np.asarray(np.exp(np.log1p(share * power * _raised(tokens, power)) / power))


@cites("ramberg1972lambda", place="the normal distribution as a lambda distribution")
def largest_of_normals(count: Count) -> Number:
    r"""How many standard deviations the largest of so many normal numbers lies above their mean.

    $$ z_P = \frac{u^{0.1349} - (1-u)^{0.1349}}{0.1975}, \qquad u = \frac{P - \frac38}{P + \frac14} $$

    None for one. Assumes that the mean of the largest is the quantile at Blom's position u.
    """
    below = (count - 0.375) / (count + 0.25)
    return (below**0.1349 - (1.0 - below) ** 0.1349) / 0.1975


@cites("aiconfigurator2026", place="collectors of experts' kernels: how rows are dealt, and which rank is timed")
def busiest_rank_rows(tokens: Count, chosen: Count, experts: Count, ranks: Count, *, skew: Number) -> Count:
    r"""Rows that the busiest of the ranks which share experts has to work on.

    $$ R = \frac{N k}{P}\,\min\left(P,\; \max\left(1 + \frac{c\,z_P}{\sqrt{L}},\; 1 + \frac{m - 1}{L}\right)\right),
    \qquad 1 \le R \le N \min(k, L) $$

    with N tokens of all ranks, k experts for each, L = E/P experts a rank. Loads of experts are spread by a power law
    of exponent `skew` between 1 and 0.8 N: c is their deviation and m the fullest's load, both over their mean. At 0
    routing is balanced and a rank has its share, but never less than a row. Assumes that the busiest rank is either
    the highest of P normal sums or the one with the fullest expert, and that a token asks for an expert once.
    """
    local = experts / ranks
    skewed = np.asarray(skew) != 0.0
    exponent = np.where(skewed, skew, 1.0)
    whole, mean, square = (_raised(tokens, power - exponent) for power in (1.0, 2.0, 3.0))
    deviation = np.sqrt(np.maximum(square * whole / mean**2 - 1.0, 0.0))
    fullest = _quantile(experts / (experts + 1.0), tokens, exponent) * whole / mean
    several = 1.0 + deviation * largest_of_normals(ranks) / np.sqrt(local)
    one = 1.0 + np.where(np.asarray(ranks) > 1.0, fullest - 1.0, 0.0) / local
    excess = np.where(skewed, np.minimum(ranks, np.maximum(several, one)), 1.0)
    rows = tokens * chosen / ranks * excess
    return np.maximum(1.0, np.minimum(rows, tokens * np.minimum(chosen, local)))


@cites("aiconfigurator2026", place="collectors of experts' kernels: power laws cut off at four fifths of the tokens")
def rows_by_expert(rows: Count, experts: Count, tokens: Count, *, skew: Number) -> Column:
    r"""Rows of single experts of a rank, at evenly spaced quantiles along one more axis, the last.

    $$ r_j = \frac{R}{L}\,\frac{x(u_j)}{\frac1J \sum_i x(u_i)}, \qquad
    x(u) = \left(1 + u\,(X^{1-\alpha} - 1)\right)^{1/(1-\alpha)}, \quad X = 0.8 N $$

    Assumes loads at the middles of as many equal shares as there are experts, so that one expert alone has all rows.
    """
    sizes = (rows, experts, tokens, skew)
    several, among, of, exponent = (np.asarray(size, dtype=float)[..., None] for size in sizes)
    places = (np.floor((np.arange(NODES) + 0.5) / NODES * among) + 0.5) / among
    loads = _quantile(places, of, np.where(exponent == 0.0, 1.0, exponent))
    shares = np.where(exponent == 0.0, 1.0, loads / np.mean(loads, axis=-1, keepdims=True))
    return np.asarray(several / among * shares)


@cites("aiconfigurator2026", place="measured kernel tables, experts by distribution of tokens")
def touched_experts(experts: Count, each: Column) -> Count:
    r"""Experts of a rank that get any row, whose weights have to be read.

    $$ A = \frac{L}{J} \sum_j \min(1, r_j) $$

    Assumes that loads below a row are rows that fall on different experts.
    """
    return np.asarray(experts * np.mean(np.minimum(1.0, each), axis=-1))


@cites("aiconfigurator2026", place="measured kernel tables, experts shared by ranks; Triton kernels of SGLang 0.5.10")
def carried_rows(rows: Count, tokens: Count, chosen: Count, *, carried: Fraction) -> Count:
    r"""Rows for experts of other ranks that a kernel works on all the same.

    $$ D = f \max\left(0,\; k \min(N, R) - R\right) $$

    A token that comes to a rank brings its choices of other ranks' experts with it; some kernels drop them (f = 0),
    some multiply all of them (f = 1). Assumes that the rows of a rank are of different tokens while there are enough.
    """
    return carried * np.maximum(0.0, chosen * np.minimum(tokens, rows) - rows)


@cites("aiconfigurator2026", place="measured kernel tables, grouped products")
def padded_rows(experts: Count, each: Column, more: Count, *, least_rows: Count, unpacking: Fraction = 1.0) -> Count:
    r"""Rows that the products of all experts of a rank cost as many as.

    $$ M = \frac{L}{J} \sum_j \min(1, r_j)\,\sqrt{\left(\frac{\max(1, r_j) + D/A}{u}\right)^2 + g^2} $$

    Assumes that an expert with few rows costs as if it had about g, the rows of a tile, that rows which are carried
    along are shared out evenly, and that weights which are widened on the way are widened again for every further tile
    of rows, which then take 1/u as long; the first tile waits for memory, and its widening hides behind that.
    """
    shared = np.asarray(more / np.maximum(touched_experts(experts, each), 1e-9))[..., None]
    least = np.asarray(least_rows)[..., None]
    tiles = np.minimum(1.0, each) * np.hypot((np.maximum(1.0, each) + shared) / unpacking, least)
    return np.asarray(experts * np.mean(tiles, axis=-1))


@cites("aiconfigurator2026", place="measured kernel tables, grouped products")
def grouped_product_time(
    rows: Count, columns: Count, depth: Count, *, rate: FlopPerSecond, half: Count, units: Count | None, tile: Count
) -> Seconds:
    r"""Time of the products of all experts side by side, by arithmetic alone.

    $$ t = \frac{2 M n\,(k + k_{1/2})}{F\,q} $$

    with `rows` as padded. Assumes that tiles of all experts fill waves together; q is 1 where `units` is None.
    """
    filled = wave_efficiency(rows, columns, 1.0, units=units, tile=tile)
    return 2.0 * rows * columns * (depth + half) / (rate * filled)


@cites("aiconfigurator2026", place="measured kernel tables, whole layers of experts by number of tokens")
def sorting_time(tokens: Count, *, start: Seconds, sorting: Seconds, half: Count) -> Seconds:
    r"""Time before and after the products that does not grow with the bytes of rows: routing, sorting, launches.

    $$ t = t_0 + t_s\,\frac{N}{N + N_{1/2}} $$

    Assumes that few tokens are sorted by one small kernel, and that what further kernels cost levels off.
    """
    return start + sorting * tokens / (tokens + half)


@cites("aiconfigurator2026", place="measured kernel tables, whole layers of experts")
def experts_time(
    arithmetic: Seconds,
    traffic: Bytes,
    worked: Bytes,
    chosen: Bytes,
    *,
    memory_rate: BytesPerSecond,
    passes: Number,
    slot_passes: Number,
    around: Seconds,
) -> Seconds:
    r"""Time of a whole layer of experts on one rank.

    $$ t = t_a + \left[t_p^p + (Q/B)^p\right]^{1/p} + c\,\frac{Q_r}{B} + c_s\,\frac{Q_s}{B} $$

    with `traffic` the weights of the experts that are touched and the activations between the products; `worked` the
    bytes of the rank's rows, which permuting goes over c times; `chosen` those of all choices of all tokens, also of
    other ranks' experts, which sorting and summing go over c_s times. Assumes that neither overlaps with the products.
    """
    moved = (passes * worked + slot_passes * chosen) / memory_rate
    return around + smooth_maximum(arithmetic, traffic / memory_rate) + moved
