"""Conjugate gradients on a chain cut into pieces: two neighbours, two all-reduces an iteration, a result gathered.

mpirun -n 8 python conjugate_gradient.py TRACE [UNKNOWNS]: a rank has UNKNOWNS of them, however many ranks there are.
"""

import sys

import numpy as np
from mpi_recorder import record

ITERATIONS = 25


def main(trace, unknowns=60000):
    """Solve a tridiagonal system for some iterations."""
    with record(trace) as comm:
        rank, last = comm.rank, comm.size - 1
        found, residual = np.zeros(unknowns), np.ones(unknowns)
        direction = residual.copy()
        old = _dot(comm, residual, residual)
        for _ in range(ITERATIONS):
            product = 2.5 * direction
            product[1:] -= direction[:-1]
            product[:-1] -= direction[1:]
            below, above = np.zeros(1), np.zeros(1)
            if rank < last:
                comm.Sendrecv(direction[-1:].copy(), rank + 1, 1, above, rank + 1, 2)
            if rank > 0:
                comm.Sendrecv(direction[:1].copy(), rank - 1, 2, below, rank - 1, 1)
            product[0] -= below[0]
            product[-1] -= above[0]
            step = old / _dot(comm, direction, product)
            found += step * direction
            residual -= step * product
            new = _dot(comm, residual, residual)
            direction = residual + new / old * direction
            old = new
        comm.Gather(found[:16].copy(), np.zeros((comm.size, 16)) if rank == 0 else None, 0)


def _dot(comm, left, right):
    total = np.zeros(1)
    comm.Allreduce(np.array([left @ right]), total)
    return float(total[0])


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
