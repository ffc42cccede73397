"""Blocks go round a ring until every rank has seen all of them, like the products of a matrix cut by rows.

mpirun -n 8 python ring.py TRACE [ROWS]: all ranks together have ROWS rows, so blocks shrink as ranks are added.
"""

import sys

import numpy as np
from mpi_recorder import record

TURNS = 3


def main(trace, rows=1024):
    """Multiply with one block after another."""
    with record(trace) as comm:
        own = rows // comm.size
        block, came = np.full((own, 512), float(comm.rank)), np.zeros((own, 512))
        left = np.full((own, 512), 1.0)
        start = np.array([1.0])
        comm.Bcast(start, 0)
        for _ in range(TURNS):
            for _ in range(comm.size - 1):
                comm.Sendrecv(block, (comm.rank + 1) % comm.size, 7, came, (comm.rank - 1) % comm.size, 7)
                block, came = came, block
                left += 1e-9 * np.einsum("ik,jk->ij", left, block) @ block
            comm.Barrier()


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
