"""Stencils on a regular grid: what a step reads, writes and exchanges."""

import numpy as np

from volvelle.laws.citations import cites
from volvelle.quantities import Bytes, Count, Flop, Fraction, Seconds


@cites("rivera2000stencils", place="section 3, planes that stay in cache between their uses")
def plane_reads(plane: Bytes, *, cache: Bytes, radius: Count = 1.0) -> Count:
    r"""How often a cell is read from memory in a step.

    $$ r = \begin{cases} 1 & (2\rho + 1)\,p \le C \\ 2\rho + 1 & \text{else} \end{cases} $$

    p is a plane of the grid across the slowest direction, ρ the radius: a cell is needed once in each of 2ρ + 1 planes,
    and is read again for each if they do not stay in cache of C bytes together. Assumes a sweep plane after plane; a
    kernel that blocks planes keeps a smaller one.
    """
    uses = 2.0 * radius + 1.0
    return np.where(uses * plane <= cache, 1.0, uses)


@cites("williams2009roofline", place="table 4, the stencil: compulsory traffic and flops a point")
def stencil_traffic(cells: Count, *, word: Bytes, reads: Count) -> Bytes:
    r"""Bytes that a step moves between memory and chip.

    $$ Q = n\,w\,(r + 1) $$

    Each of n cells is read r times and written once. Assumes coefficients are constants, and that a write does not read
    its line first.
    """
    return cells * word * (reads + 1.0)


@cites("williams2009roofline", place="table 4, the stencil: compulsory traffic and flops a point")
def stencil_work(cells: Count, *, points: Count) -> Flop:
    r"""Operations of a step: each of p points is multiplied and added.

    $$ W = n\,(2p - 1) $$

    Assumes a coefficient for every point; kernels that share them do fewer.
    """
    return cells * (2.0 * points - 1.0)


@cites("rivera2000stencils", place="section 2, neighbours within the radius")
def halo_bytes(across: Count, *, word: Bytes, radius: Count = 1.0) -> Bytes:
    r"""Bytes that a process sends to its neighbours on both sides of one direction.

    $$ H = 2\,\rho\,a\,w $$

    a is the cells of a face; with corners, faces of later directions include the halos of earlier ones. Assumes one
    field is exchanged every step.
    """
    return 2.0 * radius * across * word


@cites("rivera2000stencils", place="section 2, neighbours within the radius")
def interior_share(sides: tuple[Count, ...], *, radius: Count = 1.0) -> Fraction:
    r"""Share of a process's cells that need no neighbour's: what can be computed while halos travel.

    $$ \iota = \prod_i \max\left(0,\; 1 - \frac{2\rho}{n_i}\right) $$

    over the directions in which there are neighbours. Assumes the rest is computed when halos have come.
    """
    share: Fraction = 1.0
    for side in sides:
        share = share * np.maximum(0.0, 1.0 - 2.0 * radius / side)
    return share


@cites("choi2022jacobi3d", place="abstract: fine-grained overheads bound strong scaling, and kernels are fused for it")
def step_launch_time(kernels: Count, *, launch: Seconds) -> Seconds:
    r"""What the kernels of a step cost whatever their work.

    $$ t = k\,\lambda $$

    λ is what a kernel takes beyond its work. k is one for all cells of a process by itself, two where cells that need
    no neighbour's run apart from the shell around them, and two more in each direction that has neighbours: one packs
    its faces and one unpacks them, and both stand in the way of the message between them. Assumes kernels follow one
    another and the host keeps up.
    """
    return kernels * launch
