"""HPCG: conjugate gradients on a 27-point grid, as fast as memory streams."""

import numpy as np

from volvelle.laws.citations import cites
from volvelle.quantities import Bytes, BytesPerSecond, Count, FlopPerSecond, Fraction, Number


@cites("pitfalls-talk", place="analytical HPCG model, perf_dist")
def hpcg_rate(
    devices: Count,
    *,
    intensity: Number,
    memory_rate: BytesPerSecond,
    streaming: Fraction,
    solver: Fraction,
    scaling: Fraction = 1.0,
) -> FlopPerSecond:
    r"""Rate of a run from the memory bandwidth of its devices.

    $$ R = D\,I\,B\,\eta_s\,\eta_h\,\eta_c $$

    D devices of peak bandwidth B; I is the FLOP of HPCG for every byte it reads and writes, η_s the share of B that a
    read stream sustains, η_h what HPCG sustains of that, η_c what is left beside communication. Assumes that memory
    bounds every kernel, on all grids of the preconditioner; η_h may exceed 1 where an implementation stores the
    matrix in fewer bytes than I counts.
    """
    return devices * intensity * memory_rate * streaming * solver * scaling


@cites("pitfalls-talk", place="analytical HPCG model, efficiency comms")
def hpcg_scaling_efficiency(nodes: Count, *, step: Fraction, doubling: Fraction) -> Fraction:
    r"""What is left of a node's rate in a run of many nodes.

    $$ \eta_c = (1 - \sigma)^{[N > 1]}\,(1 - \lambda)^{\log_2 N} $$

    σ is lost once, when faces of the grid first cross a network; λ with every doubling of the nodes, to sums over all
    of them. Assumes a constant grid for each device, as HPCG has it.
    """
    several = np.minimum(1.0, np.maximum(nodes - 1.0, 0.0))
    return (1.0 - step * several) * np.power(1.0 - doubling, np.log2(np.maximum(nodes, 1.0)))


@cites("dongarra2016hpcg", place="section 3, the reference smoother runs in one thread of a rank")
def few_ranks_efficiency(ranks: Count, *, half: Count) -> Fraction:
    r"""What processes of one thread each draw of a node's memory.

    $$ \eta_r = \frac{1}{\sqrt{1 + (h/r)^2}} $$

    h is the number of ranks where a straight line through few ranks would meet the full rate. Assumes the smoother,
    which takes most of the time, runs in one thread of every rank; with h = 0 (accelerators) nothing is lost.
    """
    return 1.0 / np.sqrt(1.0 + (half / ranks) ** 2)


@cites("dongarra2016hpcg", place="section 3, four grids, 27 entries a row")
def hpcg_memory(points: Count, *, entry: Bytes = 20.0, row: Bytes = 33.0, vectors: Count = 7.0) -> Bytes:
    r"""Bytes that a local grid of so many points takes.

    $$ M = \tfrac{8}{7}\,n\,(27 e + m + 8 v) $$

    A row of the matrix has 27 entries of e bytes (a value, a local and a global index), m bytes of pointers and
    counts, and v vectors go with it; each coarser grid has an eighth of the points. Assumes the reference storage; an
    implementation that keeps a copy in another format takes up to twice as much.
    """
    return 8.0 / 7.0 * points * (27.0 * entry + row + 8.0 * vectors)
