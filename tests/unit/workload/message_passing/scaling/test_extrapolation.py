"""Traces of a few ranks become one of many, call by call; what is not understood is listed."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.mpi_traces import trace_of
from volvelle.errors import VolvelleError
from volvelle.workload.message_passing.scaling.extrapolation import extrapolation_of
from volvelle.workload.message_passing.scaling.forms import grid_sides
from volvelle.workload.message_passing.trace import MessageTrace, matched

Program = Callable[[int, int], Iterator[str]]


def open_chain(rank: int, ranks: int) -> Iterator[str]:
    for _ in range(6):
        if rank > 0:
            yield f"{rank} recv {rank - 1} 64 1 - 0.1"
        if rank < ranks - 1:
            yield f"{rank} send {rank + 1} 64 1 - 0.1"
    yield f"{rank} reduce 0 16"


def butterfly(rank: int, ranks: int) -> Iterator[str]:
    for _ in range(5):
        far = 1
        while far < ranks:
            yield f"{rank} isend {rank ^ far} {4096} 2 1"
            yield f"{rank} recv {rank ^ far} {4096} 2"
            yield f"{rank} wait - - - 1"
            far *= 2
        yield f"{rank} barrier"


def by_hand_all_to_all(rank: int, ranks: int) -> Iterator[str]:
    for _ in range(4):
        for far in range(1, ranks):
            yield f"{rank} isend {(rank + far) % ranks} {1024 // ranks} 3 1"
            yield f"{rank} recv {(rank - far) % ranks} {1024 // ranks} 3"
            yield f"{rank} wait - - - 1"
        yield f"{rank} allreduce - {8 * ranks}"


def master_and_workers(rank: int, ranks: int) -> Iterator[str]:
    for _ in range(3):
        if rank == 0:
            for other in range(1, ranks):
                yield f"0 recv {other} 100 4"
            yield "0 bcast 0 8"
        else:
            yield f"{rank} send 0 100 4 - 0.2"
            yield f"{rank} bcast 0 8"


def torus_in_space(rank: int, ranks: int) -> Iterator[str]:
    sides = grid_sides(ranks, 3)
    own = np.unravel_index(rank, sides)
    for _ in range(3):
        for axis, side in enumerate(sides):
            there, back = ([*own], [*own])
            there[axis], back[axis] = (own[axis] + 1) % side, (own[axis] - 1) % side
            size = 8 * 60**2 * side // ranks
            yield f"{rank} isend {np.ravel_multi_index(there, sides)} {size} {axis} 1"
            yield f"{rank} recv {np.ravel_multi_index(back, sides)} {size} {axis}"
            yield f"{rank} wait - - - 1"


def torus_in_a_plane(rank: int, ranks: int) -> Iterator[str]:
    """On 4 ranks both neighbours of a row are one; their tags tell which is meant."""
    high, wide = grid_sides(ranks, 2)
    row, column = divmod(rank, wide)
    for _ in range(3):
        for tag, (down, right) in enumerate(((1, 0), (-1, 0), (0, 1), (0, -1))):
            to = (row + down) % high * wide + (column + right) % wide
            source = (row - down) % high * wide + (column - right) % wide
            yield f"{rank} isend {to} 64 {tag} 1"
            yield f"{rank} recv {source} 64 {tag}"
            yield f"{rank} wait - - - 1"


def pairs_of_even_and_odd(rank: int, ranks: int) -> Iterator[str]:
    for _ in range(4):
        if rank % 2 == 0:
            yield f"{rank} send {rank + 1} 80 9"
        else:
            yield f"{rank} recv {rank - 1} 80 9"
        yield f"{rank} barrier"


def run(program: Program, ranks: int, folder: Path) -> MessageTrace:
    return trace_of(folder, *(row for rank in range(ranks) for row in program(rank, ranks)), ranks=ranks)


@pytest.mark.parametrize(
    ("program", "counts", "many"),
    [
        (open_chain, (4, 8, 16), 32),
        (butterfly, (4, 8, 16), 32),
        (by_hand_all_to_all, (4, 8, 16), 32),
        (master_and_workers, (4, 8, 16), 32),
        (torus_in_space, (27, 64, 125), 216),
        (torus_in_a_plane, (4, 8, 16), 32),
        (torus_in_a_plane, (8, 16, 32), 64),
        (pairs_of_even_and_odd, (4, 8, 16), 32),
        (open_chain, (3, 5), 11),
    ],
)
def test_a_regular_program_is_made_call_by_call_for_more_ranks(
    tmp_path: Path, program: Program, counts: tuple[int, ...], many: int
) -> None:
    found = extrapolation_of([run(program, count, tmp_path) for count in counts])
    assert not found.not_generalised
    assert all(found.exact.values())
    made, recorded = found.trace(many), run(program, many, tmp_path)
    for name in ("rank", "call", "partner", "size", "waited"):
        assert np.array_equal(getattr(made, name), getattr(recorded, name)), name
    matched(made)


def test_a_thousand_times_as_many_ranks_are_made_and_hold_together(tmp_path: Path) -> None:
    found = extrapolation_of([run(open_chain, count, tmp_path) for count in (4, 8, 16)])
    made = found.trace(4000)
    assert matched(made).instances == 1
    assert len(made) == 2 * 6 * 3999 + 4000


def test_what_follows_no_form_is_listed(tmp_path: Path) -> None:
    def odd(rank: int, ranks: int) -> Iterator[str]:
        for _ in range({4: 3, 8: 11, 16: 5}[ranks]):
            yield f"{rank} allreduce - { {4: 8, 8: 1000, 16: 24}[ranks] }"
            yield f"{rank} barrier"

    found = extrapolation_of([run(odd, count, tmp_path) for count in (4, 8, 16)])
    told = " ".join(found.not_generalised)
    assert "turns of a loop (3 on 4, 11 on 8, 5 on 16 ranks) follow no form" in told
    assert "bytes of allreduce (8 on 4, 1,000 on 8, 24 on 16 ranks) follow no form" in told
    assert "the trace of 4 ranks is not made again call by call" in told


def test_two_traces_of_different_counts_are_needed(tmp_path: Path) -> None:
    trace = run(open_chain, 4, tmp_path)
    with pytest.raises(VolvelleError, match="traces have 4, 4 ranks; give one of each count"):
        extrapolation_of([trace, trace])
    with pytest.raises(VolvelleError, match="the number of traces of different counts of ranks is 1"):
        extrapolation_of([trace])


def test_computation_that_grows_far_beyond_what_was_seen_is_told(tmp_path: Path) -> None:
    def growing(rank: int, ranks: int) -> Iterator[str]:
        for _ in range(3):
            yield f"{rank} barrier - - - - {ranks / 100}"
            yield f"{rank} allreduce - 8"

    found = extrapolation_of([run(growing, count, tmp_path) for count in (4, 8, 16)])
    assert found.stretched(24) == ()
    assert found.stretched(64) == (
        "computation of a body is 4 times that of 16 ranks, by 0.0625 × P: look whether it does",
    )
    assert found.trace(64).compute.sum() == pytest.approx(64 * 3 * 0.64)


def test_too_many_events_are_refused_before_they_are_made(tmp_path: Path) -> None:
    found = extrapolation_of([run(by_hand_all_to_all, count, tmp_path) for count in (4, 8, 16)])
    with pytest.raises(VolvelleError, match="100,000 ranks make more than 30,000,000 events; ask for fewer"):
        found.trace(100_000)
