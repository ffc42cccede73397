"""A stencil on a grid of ranks that does not wrap around: up to four neighbours, a norm every ten steps.

mpirun -n 8 python halo.py TRACE [CELLS]: the grid of a rank has CELLS by CELLS cells, however many ranks there are.
"""

import sys

import numpy as np
from mpi4py import MPI
from mpi_recorder import RecordedRequest, record

STEPS, EVERY = 40, 10


def main(trace, cells=240):
    """Step a field, exchanging its edges."""
    with record(trace) as comm:
        wide, high = MPI.Compute_dims(comm.size, 2)
        row, column = divmod(comm.rank, high)
        beside = [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
        partners = [x * high + y if 0 <= x < wide and 0 <= y < high else None for x, y in beside]
        field = np.full((cells, cells), float(comm.rank))
        edges, halos = (np.zeros((4, cells)) for _ in range(2))
        for step in range(STEPS):
            requests = [comm.Irecv(halos[i], p, i ^ 1) for i, p in enumerate(partners) if p is not None]
            edges[:] = field[0], field[-1], field[:, 0], field[:, -1]
            requests += [comm.Isend(edges[i], p, i) for i, p in enumerate(partners) if p is not None]
            inner = 0.25 * (field[2:, 1:-1] + field[:-2, 1:-1] + field[1:-1, 2:] + field[1:-1, :-2])
            RecordedRequest.Waitall(requests)
            field[1:-1, 1:-1] = inner
            if step % EVERY == EVERY - 1:
                total = np.zeros(1)
                comm.Allreduce(np.array([float((field * field).sum())]), total)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
