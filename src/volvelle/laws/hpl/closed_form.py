"""Time of High-Performance Linpack in closed form: one kind of process, one kind of link."""

import numpy as np

from volvelle.laws.citations import cites
from volvelle.quantities import Bytes, Count, Flop, FlopPerSecond, Seconds


@cites("dongarra2003linpack", place="section 3, operations counted")
def hpl_work(order: Count) -> Flop:
    r"""Operations that the benchmark counts, whatever the implementation does.

    $$ W = \tfrac23 N^3 + \tfrac32 N^2 $$

    Assumes a dense matrix in double precision, factorised with partial pivoting and solved once.
    """
    return 2.0 * order**3 / 3.0 + 1.5 * order**2


@cites("dongarra2003linpack", place="section 3, the matrix in memory")
def hpl_memory(order: Count) -> Bytes:
    r"""What the matrix takes, in all.

    $$ M = 8 N^2 $$

    Assumes that panels, row buffers and libraries live in what is left free.
    """
    return 8.0 * order**2


@cites("dongarra2003linpack", place="section 4, binary exchange among process rows")
def doublings(processes: Count) -> Count:
    r"""Rounds in which everybody of a group has heard of everybody.

    $$ \log_2 P $$

    Assumes binary exchange, and that a process on its own has nobody to ask.
    """
    return np.log2(np.maximum(processes, 1.0))


@cites("kim2021mclhpl", place="equation 3, first term; equation 11 with the lower orders")
def hpl_calculation_time(
    order: Count, rows: Count, columns: Count, *, block: Count, rate: FlopPerSecond, lower_order: bool = False
) -> Seconds:
    r"""Arithmetic of one process, at the rate of its matrix products.

    $$ t = \gamma\left[\frac{2N^3}{3PQ} + \frac{B(3Q+3P+6)N^2}{6PQ} + \frac{B^2((3P+2)-(2P+3)Q)N}{6PQ}\right] $$

    γ is the inverse of the rate, B the block. The original model has the first term only. Assumes panels and
    triangular solves run as fast as products, and that nothing waits. The paper prints the last term with N²; N is
    what the sum over panels gives, and what the units ask for.
    """
    area = rows * columns
    time = 2.0 * order**3 / (3.0 * area)
    if lower_order:
        time = time + block * (3.0 * columns + 3.0 * rows + 6.0) * order**2 / (6.0 * area)
        time = time + block**2 * ((3.0 * rows + 2.0) - (2.0 * rows + 3.0) * columns) * order / (6.0 * area)
    return time / rate


@cites("kim2021mclhpl", place="equation 3, second term")
def hpl_latency_time(order: Count, rows: Count, *, block: Count, latency: Seconds) -> Seconds:
    r"""What messages cost before their first byte: pivots, broadcasts and row swaps.

    $$ t = \alpha\,\frac{N\left((B+1)\log_2 P + P\right)}{B} $$

    Assumes a pivot search in log₂P messages a column, a ring broadcast seen once, and a row swap in log₂P + P − 1.
    """
    return latency * order * ((block + 1.0) * doublings(rows) + rows) / block


@cites("kim2021mclhpl", place="equation 3, third term; equations 27 to 29 summed for the lower orders")
def hpl_transfer_time(
    order: Count, rows: Count, columns: Count, *, block: Count, element: Seconds, lower_order: bool = False
) -> Seconds:
    r"""What the bytes of panels and rows take on the link.

    $$ t = \beta\left[\frac{N^2(3P+Q)}{2PQ} + N\left(\frac{B(3P-Q)}{2PQ} + (2B+4)\log_2 P\right)\right] $$

    β is the time of one 8-byte element on the link as one process sees it. The original model has the first term
    only. Assumes nothing is hidden behind the update. Equation 12 of the paper divides the pivot rows, 2B log₂P, by P,
    which equation 27 does not; equation 27 is taken.
    """
    area = 2.0 * rows * columns
    time = order**2 * (3.0 * rows + columns) / area
    if lower_order:
        time = time + order * block * (3.0 * rows - columns) / area
        time = time + order * (2.0 * block + 4.0) * doublings(rows)
    return element * time
