"""Loops are found in what ranks call."""

from pathlib import Path

import pytest

from tests.mpi_traces import trace_of
from volvelle.workload.message_passing.loops import Loop, Node, Once, loops_of, rank_loops


def shape(nodes: tuple[Node, ...], word: str) -> str:
    return "".join(
        f"{node.count}({shape(node.body, word)})" if isinstance(node, Loop) else word[node.first] for node in nodes
    )


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("", ""),
        ("abc", "abc"),
        ("aaaa", "4(a)"),
        ("xababab", "x3(ab)"),
        ("xaabaabaaby", "x3(2(a)b)y"),
        ("abababcabababcabababc", "3(3(ab)c)"),
        ("abab", "2(ab)"),
        ("abcabd", "abcabd"),
        ("aabbaabb", "2(2(a)2(b))"),
    ],
)
def test_what_follows_itself_is_a_loop_and_loops_stand_in_loops(word: str, found: str) -> None:
    assert shape(loops_of([ord(sign) for sign in word]), word) == found


def test_every_call_is_in_exactly_one_place() -> None:
    word = "xabababcabababcyyz"
    nodes = loops_of([ord(sign) for sign in word])
    assert sum(node.events for node in nodes) == len(word)
    assert [node.first for node in nodes] == [0, 1, 15, 17]
    outer = next(node for node in nodes if isinstance(node, Loop))
    turn = next(node for node in (outer, *outer.body) if isinstance(node, Loop) and node.count == 3)
    assert (turn.events, turn.period) == (6, 2)
    assert Once(0) in nodes


def test_messages_that_change_from_turn_to_turn_are_one_call_of_the_loop(tmp_path: Path) -> None:
    rows = []
    for turn in range(6):
        rows += [f"0 send 1 {100 + turn} {extra}" for extra in range(turn % 3 + 1)] + ["0 allreduce - 8"]
        rows += [f"1 recv 0 {100 + turn} {extra}" for extra in range(turn % 3 + 1)] + ["1 allreduce - 8"]
    nodes = rank_loops(trace_of(tmp_path, *rows), 0)
    assert isinstance(nodes[0], Loop)
    assert (nodes[0].count, len(nodes[0].body), len(nodes)) == (6, 2, 1)
