"""Dataflow on one chip: cycles of kernels on an array of cores, what partitions hold and move, how long they take."""

import numpy as np

from volvelle.laws.citations import cites
from volvelle.quantities import Bytes, BytesPerSecond, Count, Flop, FlopPerSecond, Fraction, Number, Seconds


@cites("dfmodel", place="section V-B1, compute tiles; cycles as in the authors' intra-chip step")
def matrix_kernel_cycles(
    rows: Count, depth: Count, columns: Count, *, lanes: Count, stages: Count, width: Count, height: Count
) -> Count:
    r"""Cycles of a matrix product of m × k by k × n on lane · stage cores, each a weight-stationary W × H array.

    $$ c = \left\lceil \frac{m}{\ell W} \right\rceil \left\lceil \frac{n}{s H} \right\rceil k $$

    Assumes cores form a grid of ℓ lanes (rows of the result) by s stages (its columns), each step of the inner
    dimension takes one cycle, and arrays fill and drain behind each other: what is rounded up is all that is lost.
    """
    return np.ceil(rows / (lanes * width)) * np.ceil(columns / (stages * height)) * depth


@cites("dfmodel", place="section V-B1, compute tiles; element-wise kernels of the authors' intra-chip step")
def vector_kernel_cycles(rows: Count, columns: Count, *, lanes: Count, width: Count) -> Count:
    r"""Cycles of an element-wise kernel of m × n on ℓ cores of W lanes.

    $$ c = \left\lceil \frac{m}{\ell W} \right\rceil n $$

    Assumes one element a lane and cycle, and that a column is worked on by all lanes before the next.
    """
    return np.ceil(rows / (lanes * width)) * columns


@cites("dfmodel", place="table V, compute throughput")
def array_peak(cores: Count, *, width: Count, height: Count, clock: Number) -> FlopPerSecond:
    r"""Peak rate of a chip of systolic cores.

    $$ F = 2\,N\,W\,H\,f $$

    Assumes every cell multiplies and adds once a cycle.
    """
    return 2.0 * cores * width * height * clock


@cites("dfmodel", place="section V-B1, per-partition compute time")
def pipelined_compute_time(cycles: Count, *, tiles: Count, clock: Number) -> Seconds:
    r"""Time of kernels that run side by side on T tiles, one behind the other; c is the slowest kernel's cycles a tile.

    $$ t = \frac{T \max_k c_k}{f} $$

    Assumes the pipeline is full: filling and draining it are left out, which is right for many tiles.
    """
    return cycles * tiles / clock


@cites("dfmodel", place="section V-B1, with a given utilisation")
def balanced_compute_time(work: Flop, *, utilisation: Fraction, peak: FlopPerSecond) -> Seconds:
    r"""Compute time of a partition whose cores are shared out in proportion to the work.

    $$ t = \frac{\sum_k W_k}{u F} $$

    Assumes perfect balance: cores divide as finely as needed, and every kernel reaches the same utilisation.
    """
    return work / (utilisation * peak)


@cites("dfmodel", place="section V-B2, on-chip SRAM constraint; buffers as in the authors' intra-chip step")
def sram_demand(
    weights: Bytes, inside: Bytes, crossing: Bytes, *, depth: Count = 2.0, weight_tiles: Count = 1.0
) -> Bytes:
    r"""SRAM taken by weights, by tensors that stay inside a partition and by tensors that enter or leave it.

    $$ S = \frac{\omega}{\tau} + d\,\beta_\mathrm{in} + 2\,\beta_\mathrm{cross} $$

    β is the size of one tile. A tensor inside is buffered once for each level of the graph from its producer to its
    consumer, both counted (d ≥ 2); one that crosses is double-buffered. Assumes weights stay for the whole run of the
    partition, or a τ-th of them at a time. As d ≥ 2, a larger partition never needs less.
    """
    return weights / weight_tiles + depth * inside + 2.0 * crossing


@cites("dfmodel", place="section V-B2, DRAM transfer")
def partition_traffic(
    crossing: Bytes, extra: Bytes, weights: Bytes, *, tiles: Count, weight_tiles: Count = 1.0
) -> Bytes:
    r"""Bytes a partition moves to and from DRAM.

    $$ Q = \tau\,(T\,\beta_\mathrm{cross} + e) + \omega $$

    Each tensor that crosses is paid by the partition that writes it and by each that reads it. Assumes a kernel whose
    weights come in τ pieces passes over its tiles τ times; ω are weights read anew for every micro-batch, each piece
    once (zero where they are amortised over many).
    """
    return weight_tiles * (tiles * crossing + extra) + weights


@cites("dfmodel", place="section V-B2, DRAM transfer time")
def traffic_time(traffic: Bytes, *, rate: BytesPerSecond) -> Seconds:
    r"""Time to move a partition's traffic.

    $$ t = Q / B $$

    Assumes DRAM runs at its given rate throughout.
    """
    return traffic / rate


@cites("dfmodel", place="section V-B2, DRAM constraint over lifetimes")
def dram_demand(weights: Bytes, alive: Bytes, resident: Bytes, *, tiles: Count) -> Bytes:
    r"""DRAM taken while a partition runs.

    $$ D = \omega + T\,\beta_\mathrm{alive} + r $$

    A tensor between two partitions lives from the one that writes it to the one that reads it, both counted. Assumes
    each reader has its own copy, as each is charged its own traffic; r is what is there anyhow.
    """
    return weights + tiles * alive + resident


@cites("dfmodel", place="section V-B4, critical time of a partition")
def overlapped_time(compute: Seconds, memory: Seconds, network: Seconds) -> Seconds:
    r"""Time of a partition that computes, loads and stores, and communicates at once.

    $$ t = \max(t_\mathrm{comp},\; t_\mathrm{mem},\; t_\mathrm{net}) $$

    Assumes the three overlap perfectly over many tiles.
    """
    return np.maximum(np.maximum(compute, memory), network)


@cites("dfmodel", place="section V-B4, with the network apart (the authors' OVERLAP_COMPUTE_MEMORY)")
def memory_overlapped_time(compute: Seconds, memory: Seconds, network: Seconds) -> Seconds:
    r"""Time of a partition that loads and stores while it computes, and communicates afterwards.

    $$ t = \max(t_\mathrm{comp},\; t_\mathrm{mem}) + t_\mathrm{net} $$

    Assumes collectives wait for the last tile.
    """
    return np.maximum(compute, memory) + network


@cites("dfmodel", place="section V-B4, nothing overlapped (the authors' NO_OVERLAP)")
def serial_time(compute: Seconds, memory: Seconds, network: Seconds) -> Seconds:
    r"""Time of a partition that does one thing after another.

    $$ t = t_\mathrm{comp} + t_\mathrm{mem} + t_\mathrm{net} $$

    Assumes nothing overlaps: an upper bound.
    """
    return compute + memory + network
