"""Time of High-Performance Linpack panel by panel: what each step computes, sends and hides."""

import numpy as np

from volvelle.laws.citations import cites
from volvelle.laws.hpl.closed_form import doublings
from volvelle.laws.matrix_product import wave_efficiency
from volvelle.quantities import Bytes, BytesPerSecond, Count, FlopPerSecond, Fraction, Seconds, Watts

WORD = 8.0
"""Bytes of a double."""


@cites("lockwood-peak-flops", place="clocks under HPL; Dell, HPL on P100: nearer to the base clock than to the boost")
def power_limited_rate(
    peak: FlopPerSecond, *, efficiency: Fraction, power: Watts, work_per_joule: Count
) -> FlopPerSecond:
    r"""Rate of large double-precision products that a chip holds for minutes.

    $$ F = \min(\varepsilon F_{peak},\; \kappa W) $$

    ε is what products reach at the boost clock, κ the operations a joule buys, W the power limit. Assumes the clock
    settles where the limit is just met, and that κ does not depend on where that is.
    """
    return np.minimum(efficiency * peak, work_per_joule * power)


@cites("petitet2018hpl", place="the update: triangular solve and product with the panel")
def trailing_update_time(
    rows: Count,
    columns: Count,
    *,
    block: Count,
    rate: FlopPerSecond,
    memory: BytesPerSecond,
    waiting: Fraction,
    units: Count | None,
    tile: Count | None,
    word: Bytes = WORD,
) -> Seconds:
    r"""Update of a process's share of the trailing matrix by one panel.

    $$ t = \frac{2B\,m\,n}{F\,q(m,n)} + \nu\frac{2w\,m\,n}{b_m} + \frac{2B^2 n}{F} $$

    q is the share of the chip that a product of m × n fills (:func:`wave_efficiency`): it falls as the matrix shrinks,
    and is 1 on a chip for which no tile was fitted.
    The second term reads and writes the matrix of w bytes an entry once a panel: the fewer columns a panel has, the
    more it weighs. ν is the share of that traffic which no product hides. Assumes the triangular solve runs at half
    the rate.
    """
    filled = wave_efficiency(rows, columns, 1.0, units=units, tile=tile)
    products = 2.0 * block * rows * columns / (rate * filled)
    return products + waiting * 2.0 * word * rows * columns / memory + 2.0 * block**2 * columns / rate


@cites("petitet2018hpl", place="recursive panel factorisation, with a pivot search in every column")
def panel_factorisation_time(
    rows: Count,
    processes: Count,
    *,
    block: Count,
    column: Seconds,
    rate: FlopPerSecond,
    latency: Seconds,
    sending: BytesPerSecond,
) -> Seconds:
    r"""Factorisation of a panel by one column of processes.

    $$ t = B\lambda + \frac{B^2 m}{F_p} + B\log_2 P\left(\alpha + \frac{8(2B+4)}{b}\right) $$

    λ is what each column costs whatever its length: search, scaling, launches and copies. F_p is what memory allows,
    since a panel is read again for every few columns. Assumes pivots travel by binary exchange.
    """
    exchange = block * doublings(processes) * (latency + WORD * (2.0 * block + 4.0) / sending)
    return block * column + block**2 * rows / rate + exchange


@cites("petitet2018hpl", place="the six broadcasts")
def panel_broadcast_time(
    rows: Count,
    *,
    block: Count,
    latency: Seconds,
    sending: BytesPerSecond,
    messages: Count,
    copies: Count,
    word: Bytes = WORD,
) -> Seconds:
    r"""When the next column of processes has the panel.

    $$ t = \alpha\,h + \frac{w\,c\,m\,B}{b} $$

    w is the bytes of an entry. A modified ring sends the panel there first (one message, one copy); a plain ring has it
    passed on before work goes on (two copies); the long variants split and gather it (log₂Q + Q − 1 messages, nearly
    two copies). Assumes later hops run behind the update.
    """
    return latency * messages + word * copies * rows * block / sending


@cites("petitet2018hpl", place="row swaps, spread and roll")
def row_swap_time(
    columns: Count, processes: Count, *, block: Count, latency: Seconds, sending: BytesPerSecond
) -> Seconds:
    r"""Exchange of pivot rows among the processes of a column.

    $$ t = \alpha(\log_2 P + P - 1) + 2\,\frac{P-1}{P}\,\frac{8\,B\,n}{b} $$

    Rows are spread over the processes and then rolled around, each time all but a process's own. Assumes both
    directions of a link run at the same time; the benchmark's own model has three times the rows, as a bound.
    """
    copies = 2.0 * (processes - 1.0) / processes
    return latency * (doublings(processes) + processes - 1.0) + WORD * copies * block * columns / sending


@cites("fatica2009cudahpl", place="panels and rows between host and device")
def panel_staging_time(rows: Count, columns: Count, processes: Count, *, block: Count, host: BytesPerSecond) -> Seconds:
    r"""Copies of panels and rows between the chip and its host, where the host factorises or sends.

    $$ t = \frac{8B(2m/Q + n)}{b_h} $$

    A process owns the panel every Q-th time: down and up again. Assumes chips that share a slot share its rate.
    """
    return WORD * block * (2.0 * rows / processes + columns) / host


@cites("chalmers2023rochpl", place="split update: row swaps of one part behind the product of the other")
def hidden_swap_time(swap: Seconds, update: Seconds, ahead: Seconds, *, share: Fraction) -> Seconds:
    r"""Part of a row swap that runs behind the update.

    $$ h = \min\left(\omega s,\; \max(0,\; u - a)\right) $$

    a is what look-ahead already hides: the next panel and its broadcast. Assumes they use the same links, one after
    the other.
    """
    return np.minimum(share * swap, np.maximum(update - ahead, 0.0))


@cites("fatica2009cudahpl", place="section 3, a matrix larger than the memory of the device")
def spilled_share(matrix: Bytes, *, kept: Bytes) -> Fraction:
    r"""Share of the matrix that lies in host memory.

    $$ \sigma = \max\left(0,\; 1 - \frac{K}{M}\right) $$

    M is the whole matrix, K what the chips keep of it. Assumes every process's share spills alike, and the trailing
    matrix as much as the rest: chips that threw finished columns out first would stream less towards the end.
    """
    return np.maximum(0.0, 1.0 - kept / matrix)


@cites("fatica2009cudahpl", place="section 3, products of a matrix in host memory")
def spilled_update_time(rows: Count, columns: Count, *, share: Fraction, host: BytesPerSecond) -> Seconds:
    r"""Time to bring the part of the trailing matrix that lies in host memory to the chip, and to write it back.

    $$ t = \frac{8\,\sigma\,m\,n}{b_h} $$

    σ is the share that the chip's memory does not hold. Assumes both directions run at the same time and behind the
    product, that host memory keeps up with the links of all its chips, and that the chip keeps the rest.
    """
    return WORD * share * rows * columns / host


@cites(
    "pitfalls-talk", place="HPL panel after panel, with random noise to mimic machine noises, efficiencies and rates"
)
def noisy_time(time: Seconds, draw: Count, *, spread: Fraction) -> Seconds:
    r"""A time with noise that leaves its mean where it was.

    $$ t' = t\,e^{\sigma z - \sigma^2/2} $$

    z is drawn from a standard normal distribution, σ the deviation of the logarithm. Assumes that what is noise on
    average is in the constants already, and that draws of panels know nothing of each other.
    """
    return time * np.exp(spread * draw - 0.5 * spread**2)


@cites("petitet2018hpl", place="a modified ring of panels, spread and roll of rows: their bytes over all panels")
def least_network_time(
    order: Count, rows: Count, columns: Count, *, down: BytesPerSecond, across: BytesPerSecond
) -> Seconds:
    r"""Time that a process's links need for what the benchmark sends, whatever hides behind what.

    $$ t = \frac{8N^2}{2P\,b_a} + 2\,\frac{P-1}{P}\,\frac{8N^2}{2Q\,b_d} $$

    b_a and b_d are its rates along a row and down a column of the grid; infinite where these stay within a node. A run
    cannot take less. Assumes no latency, full rates, and panels and rows that share the link.
    """
    swapped = 2.0 * (rows - 1.0) / rows * WORD * order**2 / (2.0 * columns * down)
    return WORD * order**2 / (2.0 * rows * across) + swapped
