"""The time of a matrix product: arithmetic and traffic that overlap in part, narrow operands cast before."""

from volvelle.laws.citations import cites
from volvelle.laws.matrix_product import depth_efficiency, wave_efficiency
from volvelle.quantities import Bytes, BytesPerSecond, Count, FlopPerSecond, Fraction, Number, Seconds

OVERLAP_POWER = 2.5
"""How sharply the slower of arithmetic and traffic decides: 1 adds the two, infinity takes the larger."""


@cites("aiconfigurator2026", place="measured kernel tables; the power fitted to calibration rows of products")
def smooth_maximum(first: Seconds, second: Seconds, *, power: float = OVERLAP_POWER) -> Seconds:
    r"""Time of two resources that work beside each other, neither wholly hidden by the other.

    $$ t = \left(t_1^p + t_2^p\right)^{1/p} $$

    At least the larger of the two, at most their sum, and the larger where they differ much. Assumes one power for
    all kernels.
    """
    return (first**power + second**power) ** (1.0 / power)


@cites("nvidia-matmul-guide", place="bytes of operands and result, each once")
def product_traffic(
    rows: Count, columns: Count, depth: Count, *, operand_bytes: Bytes, result_bytes: Bytes, weight_bytes: Bytes
) -> Bytes:
    r"""Bytes that a product has to move at the least.

    $$ Q = m k\,\epsilon + k n\,\epsilon_w + m n\,\epsilon_r $$

    Assumes that every operand is read once: re-reading for want of buffer is not visible in measured tables.
    """
    return rows * depth * operand_bytes + depth * columns * weight_bytes + rows * columns * result_bytes


@cites("aiconfigurator2026", place="measured kernel tables, products")
def product_rate(
    rows: Count,
    columns: Count,
    depth: Count,
    instances: Count,
    *,
    peak: FlopPerSecond,
    matrix_efficiency: Fraction,
    units: Count | None,
    tile: Count,
    half: Count,
) -> FlopPerSecond:
    r"""Rate at which a product of that shape does its arithmetic.

    $$ F' = e\,F\,q(x)\,d(k) $$

    with the waves of tiles $q$ and the depth of a tile $d$ of `wave_efficiency` and `depth_efficiency`. Assumes that
    shape costs by these two alone, whichever kernel a library picks; q is 1 where `units` is None.
    """
    waves = wave_efficiency(rows, columns, instances, units=units, tile=tile)
    return peak * matrix_efficiency * waves * depth_efficiency(depth, half=half)


@cites("aiconfigurator2026", place="measured kernel tables, casting of activations before narrow products")
def cast_passes_time(elements: Count, *, passes: Number, memory_rate: BytesPerSecond) -> Seconds:
    r"""Time to bring activations of 16 bits into a narrow type, scales included.

    $$ t = c\,\frac{2 n}{B} $$

    Assumes that the passes c over the two bytes of every element stand for all of reading, scaling and writing.
    """
    return passes * 2.0 * elements / memory_rate


@cites("aiconfigurator2026", place="measured kernel tables, share of peak by length of the burst")
def sustained_share(burst: Seconds, *, sustained: Fraction, settling: Seconds = 0.1) -> Fraction:
    r"""Clock of a chip after it has multiplied for some time, over that of a lone kernel.

    $$ s = \varphi + \frac{1 - \varphi}{1 + t/\tau} $$

    Assumes that power settles the clock within about τ = 0.1 s, at the share φ of the boost clock.
    """
    return sustained + (1.0 - sustained) / (1.0 + burst / settling)
