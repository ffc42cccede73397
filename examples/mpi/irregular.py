"""Points at random in a square, cut along a space-filling curve: every rank exchanges with whom its points touch.

mpirun -n 8 python irregular.py TRACE [POINTS]: a rank has POINTS points, however many ranks there are.
"""

import sys

import numpy as np
from mpi_recorder import RecordedRequest, record

STEPS, REACH = 20, 2.2


def main(trace, points=600):
    """Smooth a value over near points."""
    with record(trace) as comm:
        partners = _touching(comm.rank, comm.size, points)
        own = np.random.default_rng(comm.rank).random((points, 48))
        for _ in range(STEPS):
            came = {other: np.zeros(count) for other, count in partners.items()}
            requests = [comm.Irecv(came[other], other, 3) for other in partners]
            requests += [comm.Isend(own.ravel()[:count].copy(), other, 3) for other, count in partners.items()]
            own = np.tanh(1e-3 * own @ (own.T @ own))
            RecordedRequest.Waitall(requests)
            total = np.zeros(1)
            comm.Allreduce(np.array([own.sum()]), total)


def _touching(rank, size, points):
    """Ranks that have points within reach of points of this one, and how many pairs of them there are."""
    count = points * size
    place = np.random.default_rng(7).random((count, 2))
    place = place[np.argsort(_curve(place), kind="stable")]
    owner = np.arange(count) // points
    reach = REACH / np.sqrt(count)
    found = {}
    for point in place[owner == rank]:
        near = owner[np.hypot(*(place - point).T) < reach]
        for other in near[near != rank]:
            found[int(other)] = found.get(int(other), 0) + 1
    return dict(sorted(found.items()))


def _curve(place):
    """Where points are on a Z-curve."""
    x, y = (place * 1024).astype(np.int64).T
    return sum(((x >> bit & 1) << 2 * bit) | ((y >> bit & 1) << 2 * bit + 1) for bit in range(10))


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
