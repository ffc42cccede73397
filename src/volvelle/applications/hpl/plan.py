"""Runs of High-Performance Linpack worth trying on a cluster: N, NB, P × Q, broadcast, within its memory and hosts'."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from math import isfinite, isqrt

from volvelle.errors import DescriptionError, MappingError, OutsideDomainError
from volvelle.laws.hpl.panels import WORD
from volvelle.mapping.process_grid import Broadcast, ProcessGrid, nearly_square, usable_grid
from volvelle.quantities import Bytes, percent
from volvelle.system.cluster import Cluster
from volvelle.workload.families.hpl import Hpl

BLOCKS = (128, 192, 256, 288, 384, 512, 768, 1024)
_PANELS = 200_000
"""Panels at most, each of which is timed; the largest run ever published had some 50,000."""
_ASPECT = 4.0
"""No grid more drawn out than this is tried."""


def largest_order(
    cluster: Cluster, processes: int, *, memory: float, block: int, host: float = 0.0, word: Bytes = WORD
) -> int:
    """Rows of the largest matrix that fits, in whole blocks; `word` is the bytes of an entry."""
    elements = (memory * float(cluster.chip.memory.capacity) + host) * processes / word
    return isqrt(int(elements)) // block * block


def grids_of(cluster: Cluster) -> tuple[tuple[int, int], ...]:
    """Grids worth trying: all that use every accelerator and are not drawn out, and the nearest that idles a few."""
    total = cluster.accelerators
    small_sides = [rows for rows in range(1, isqrt(total) + 1) if total % rows == 0]
    whole = {pair for rows in small_sides for pair in ((rows, total // rows), (total // rows, rows))}
    found = {grid for grid in whole if max(grid) <= _ASPECT * min(grid)} or {nearly_square(total)}
    small, large = usable_grid(total)
    found |= {(small, large), (large, small)}
    return tuple(sorted(found))


def hpl_runs(
    cluster: Cluster,
    *,
    memory: float = 0.85,
    host: float = 0.0,
    blocks: Sequence[int] = BLOCKS,
    broadcasts: Sequence[Broadcast] = (Broadcast.RING_MODIFIED, Broadcast.LONG_MODIFIED),
    depths: Sequence[int] = (1, 0),
    order: int | None = None,
    rows: int | None = None,
    columns: int | None = None,
) -> tuple[Cluster, list[tuple[Hpl, ProcessGrid]]]:
    """Every run worth trying, N the largest that fits each; and the machine with the memory that a matrix may take.

    With host memory, every combination is there twice: with a matrix that the accelerators keep, and with the largest
    that fits both, of which the part beyond theirs goes over the link to the host for every panel. N, P and Q that are
    given are the only ones tried; a matrix that is given may take all of the memory.
    """
    if not 0.0 < memory <= 1.0:
        raise DescriptionError(f"the matrix may take a share of memory above 0 and up to 1, not {memory:g}")
    if not (isfinite(host) and host >= 0.0):
        raise DescriptionError(f"host memory for the matrix is no less than 0 bytes an accelerator, not {host:g}")
    if host > 0.0 and cluster.host_rate is None:
        raise DescriptionError(f"{cluster.name} states no link to host memory")
    # What the rest of memory is for, buffers and panels, is not there for a matrix that spills either.
    share = memory if order is None else 1.0
    storage = replace(cluster.chip.memory, capacity=share * cluster.chip.memory.capacity)
    machine = replace(cluster, chip=replace(cluster.chip, memories=(storage, *cluster.chip.memories[1:])))
    node = cluster.spans[-2] if len(cluster.dimensions) > 1 else 1
    runs: list[tuple[Hpl, ProcessGrid]] = []
    for down, across in given_grids(cluster, rows, columns):
        for block in blocks:
            orders = {
                order or largest_order(cluster, down * across, memory=memory, block=block, host=extra)
                for extra in (0.0, host)
            }
            if max(orders) > _PANELS * block and blocks is BLOCKS and block != max(blocks):
                continue
            if max(orders) > _PANELS * block:
                raise OutsideDomainError(
                    f"a matrix of {max(orders):,} rows has more than {_PANELS:,} panels of {block}"
                )
            for size, broadcast, depth in product(sorted(orders), broadcasts, depths):
                if size >= block:
                    problem = Hpl(name=f"hpl-{size}", order=size, block=block)
                    grid = ProcessGrid.for_nodes(down, across, node=node, broadcast=broadcast, depth=depth)
                    runs.append((problem, grid))
    if not runs and order is not None:
        raise DescriptionError(f"--n is {order}, fewer rows than a block of {', '.join(map(str, blocks))}")
    if not runs:
        raise DescriptionError(
            f"no block of {', '.join(map(str, blocks))} fits {percent(memory, 0)} of the memory of {cluster.name}"
        )
    return machine, runs


def given_grids(cluster: Cluster, rows: int | None, columns: int | None) -> tuple[tuple[int, int], ...]:
    """The grid that is asked for, a side that is not given as long as the machine allows; without either, all."""
    total = cluster.accelerators
    if rows is None and columns is None:
        return grids_of(cluster)
    down = rows if rows is not None else total // (columns or 1)
    across = columns if columns is not None else total // (rows or 1)
    if down * across > total or not down * across:
        asked = " and ".join(f"--{name} {side}" for name, side in (("p", rows), ("q", columns)) if side is not None)
        raise MappingError(
            f"{asked} asks for {max(down, 1) * max(across, 1)} processes, one an accelerator, and {cluster.name} has "
            f"{total}"
        )
    return ((down, across),)
