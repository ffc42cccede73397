"""The time of a fused layer of experts: routing, two grouped products, and the weighted sum."""

import numpy as np

from volvelle.laws.citations import cites
from volvelle.laws.kernels.products import smooth_maximum
from volvelle.laws.matrix_product import wave_efficiency
from volvelle.quantities import Bytes, BytesPerSecond, Count, FlopPerSecond, Number, Seconds


@cites("aiconfigurator2026", place="measured kernel tables, experts by distribution of tokens")
def busiest_rank_rows(tokens: Count, chosen: Count, ranks: Count, *, skew: Number) -> Count:
    r"""Rows that the busiest of the ranks which share experts has to work on.

    $$ R = \frac{N k}{P}\,\min\left(P,\; 1 + i \ln P\right) $$

    with N tokens of all ranks, k experts for each, and the skew i: 0 for balanced routing, about 1 for a power law.
    Assumes that the excess of the busiest grows with the logarithm of the ranks.
    """
    return tokens * chosen / ranks * np.minimum(ranks, 1.0 + skew * np.log(ranks))


@cites("aiconfigurator2026", place="measured kernel tables, experts by distribution of tokens")
def touched_experts(experts: Count, rows: Count, *, skew: Number) -> Count:
    r"""Experts of a rank that get any row, whose weights have to be read.

    $$ A = \min(E, R) \quad\text{(balanced)}, \qquad A = E\left(1 - e^{-R / (E (1 + i))}\right) \quad\text{(skewed)} $$

    Assumes that skewed rows fall independently, with (1 + i) times as many to find all experts.
    """
    drawn = experts * (1.0 - np.exp(-rows / (experts * (1.0 + skew))))
    return np.where(np.asarray(skew) == 0.0, np.minimum(experts, rows), drawn)


@cites("aiconfigurator2026", place="measured kernel tables, grouped products")
def grouped_product_time(
    groups: Count,
    rows: Count,
    columns: Count,
    depth: Count,
    *,
    rate: FlopPerSecond,
    least_rows: Count,
    half: Count,
    units: Count,
    tile: Count,
) -> Seconds:
    r"""Time of products of equal shape side by side, one an expert, by arithmetic alone.

    $$ t = \frac{2 A\,\sqrt{r^2 + g^2}\;n\,(k + k_{1/2})}{F\,q} $$

    Assumes that an expert with few rows costs as if it had about g, the rows of a tile.
    """
    padded = np.sqrt(rows**2 + least_rows**2)
    filled = wave_efficiency(padded, columns, groups, units=units, tile=tile)
    return 2.0 * groups * padded * columns * (depth + half) / (rate * filled)


@cites("aiconfigurator2026", place="measured kernel tables, whole layers of experts")
def experts_time(
    arithmetic: Seconds, traffic: Bytes, routed: Bytes, *, memory_rate: BytesPerSecond, passes: Number, start: Seconds
) -> Seconds:
    r"""Time of a whole layer of experts on one rank.

    $$ t = t_0 + \left[t_a^p + (Q/B)^p\right]^{1/p} + c\,\frac{Q_r}{B} $$

    with `traffic` the weights of the experts that are touched and the activations between the products, `routed` the
    bytes of all rows, which permuting and summing go over c times. Assumes that neither overlaps with the products.
    """
    return start + smooth_maximum(arithmetic, traffic / memory_rate) + passes * routed / memory_rate
