"""Collectives are messages that reach whom they must."""

import pytest

from tests.smpi.expansion import steps
from volvelle.workload.message_passing.calls import FIRST_COLLECTIVE, ROOTED, Call


@pytest.mark.parametrize("call", [call for call in Call if call >= FIRST_COLLECTIVE])
@pytest.mark.parametrize("members", [1, 2, 3, 4, 7, 8, 12])
def test_what_one_member_sends_another_receives_and_nobody_waits_for_ever(call: Call, members: int) -> None:
    root = members // 2 if call in ROOTED else 0
    told = steps(call, members, root, 64 * members)
    place, knows = [0] * members, [{member} for member in range(members)]
    sent: dict[tuple[int, int], list[tuple[int, set[int]]]] = {}
    posted = [False] * members
    moved = True
    while moved:
        moved = False
        for member in range(members):
            while place[member] < len(told[member]):
                to, from_, size = told[member][place[member]]
                if to >= 0 and not posted[member]:
                    sent.setdefault((member, to), []).append((size, set(knows[member])))
                    posted[member] = moved = True
                if from_ >= 0:
                    if not sent.get((from_, member)):
                        break
                    came, what = sent[from_, member].pop(0)
                    assert came == size
                    knows[member] |= what
                place[member] += 1
                posted[member] = False
                moved = True
    assert place == [len(own) for own in told]
    assert not any(sent.values())
    everybody = set(range(members))
    if call in (Call.ALLREDUCE, Call.ALLGATHER, Call.ALLTOALL, Call.BARRIER, Call.REDUCE_SCATTER):
        assert all(own == everybody for own in knows)
    elif call in (Call.REDUCE, Call.GATHER):
        assert knows[root] == everybody
    elif call in (Call.BCAST, Call.SCATTER):
        assert all(root in own for own in knows)
    else:
        assert all(own >= set(range(member)) for member, own in enumerate(knows))
