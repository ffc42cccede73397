"""Time of High-Performance Linpack over several layers of communication: memory, node, network."""

import numpy as np

from volvelle.laws.citations import cites
from volvelle.laws.hpl.closed_form import doublings
from volvelle.quantities import BytesPerSecond, Count, FlopPerSecond, Seconds


@cites("kim2021mclhpl", place="equations 6 and 7")
def equivalent_core_rate(memory_rate: BytesPerSecond, *, cores: Count, words: Count) -> BytesPerSecond:
    r"""Rate at which the one large core that stands for an accelerator sees its memory.

    $$ B_{eq} = \frac{B_{mem}}{C}\,(M\,W) $$

    C cores share the memory; M controllers of W 64-bit words each answer together. Assumes the equivalent core can use
    all words of all controllers at the rate that one real core gets of them.
    """
    return memory_rate / cores * words


@cites("kim2021mclhpl", place="equation 10, solved for the number of cores")
def cores_of_rate(rate: FlopPerSecond, *, operations: Count, clock: Count) -> Count:
    r"""Cores that a peak tells, where nobody states them.

    $$ C = \frac{R_{peak}}{F\,S} $$

    F operations a core and cycle, at S hertz. Assumes the clock: data sheets round the peak and not the cores.
    """
    return rate / (operations * clock)


@cites("kim2021mclhpl", place="equation 6, solved for the words of all controllers")
def words_of_rate(memory_rate: BytesPerSecond, *, transfers: Count) -> Count:
    r"""64-bit words that all memory controllers answer together, told by the memory's rate.

    $$ M\,W = \frac{B_{mem}}{8\,H} $$

    H transfers a second and pin. Assumes memory of a kind runs at the speed that is usual for it.
    """
    return memory_rate / (8.0 * transfers)


@cites("kim2021mclhpl", place="equation 17")
def padded_order(order: Count, *, block: Count) -> Count:
    r"""Rows of the matrix, filled up to whole blocks.

    $$ N' = B\lceil N/B\rceil $$

    Assumes that padding is computed like the rest.
    """
    return block * np.ceil(order / block)


@cites("kim2021mclhpl", place="equations 18 to 21")
def layer_boundary(order: Count, parts: Count, *, block: Count) -> Count:
    r"""Side of the part of the matrix that lies within one unit of a layer.

    $$ m_j = B\left\lceil \frac{N'}{B\,p_j} \right\rceil $$

    p_j units share the side: P or Q processes for the first layer, nodes for the second, one whole for the last.
    Assumes blocks are dealt out evenly.
    """
    return block * np.ceil(order / (block * parts))


@cites("kim2021mclhpl", place="equation 27")
def layer_pivot_time(reach: Count, rows: Count, *, block: Count, latency: Seconds, element: Seconds) -> Seconds:
    r"""Pivot search of the panels that end within a layer.

    $$ t = B\,\log_2 P\,\left(\alpha_j + \beta_j(2B+4)\right)\frac{\Delta m}{B} $$

    Δm is by how much the layer's boundary exceeds that of the layer below. Assumes one exchange of two rows and a
    maximum a column.
    """
    return block * doublings(rows) * (latency + element * (2.0 * block + 4.0)) * reach / block


@cites("kim2021mclhpl", place="equation 28")
def layer_broadcast_time(reach: Count, rows: Count, *, block: Count, latency: Seconds, element: Seconds) -> Seconds:
    r"""Broadcast of the panels that end within a layer.

    $$ t = \alpha_j\frac{\Delta m}{B} + \beta_j\frac{\Delta m^2 - \Delta m\,B}{2P} $$

    Assumes a ring whose other hops run behind the update.
    """
    return latency * reach / block + element * (reach**2 - reach * block) / (2.0 * rows)


@cites("kim2021mclhpl", place="equation 29")
def layer_update_time(
    reach: Count, rows: Count, columns: Count, *, block: Count, latency: Seconds, element: Seconds
) -> Seconds:
    r"""Exchange of rows before the update, within a layer.

    $$ t = \alpha_j(\log_2 P + P - 1)\frac{\Delta n}{B} + 3\beta_j\frac{\Delta n^2 + \Delta n\,B}{2Q} $$

    Assumes the spread and roll of long messages, three times the rows in bytes, and nothing hidden.
    """
    start = latency * (doublings(rows) + rows - 1.0) * reach / block
    return start + 3.0 * element * (reach**2 + reach * block) / (2.0 * columns)
