"""Between operations that have the chip to themselves, others run in slots."""

from volvelle import BlockBuilder
from volvelle.search.graph.slots import slots_of
from volvelle.workload.graph import Block


def chain_with_a_branch() -> Block:
    """first → heavy → second → last, and a branch from first that only last needs."""
    b = BlockBuilder("block")
    first = b.pointwise("first", "rows wide -> rows wide", b.input("x", "rows wide"))
    heavy = b.contract("heavy", "rows wide, wide deep -> rows deep", first, b.weight("w", "wide deep"))
    second = b.contract("second", "rows deep, deep wide -> rows wide", heavy, b.weight("v", "deep wide"))
    branch = b.pointwise("branch", "rows wide -> rows wide", first)
    last = b.pointwise("last", "rows wide, rows wide -> rows wide", second, branch, is_sum=True)
    return b.build(outputs=(last,))


def test_what_comes_before_and_after_one_alone_is_in_different_slots() -> None:
    slots, count = slots_of(chain_with_a_branch(), lambda op: 0, {"heavy"})
    assert count == 2
    assert slots["first"] == (0, 0)
    assert slots["second"] == slots["last"] == (1, 1)


def test_what_depends_on_none_of_them_may_run_in_any_slot() -> None:
    slots, _ = slots_of(chain_with_a_branch(), lambda op: 0, {"heavy"})
    assert slots["branch"] == (0, 1)


def test_without_any_alone_there_is_one_slot() -> None:
    slots, count = slots_of(chain_with_a_branch(), lambda op: 0, ())
    assert count == 1
    assert set(slots.values()) == {(0, 0)}
