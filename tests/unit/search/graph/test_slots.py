"""Operations that share no partition begin slots, and others run in some of them."""

from collections.abc import Collection, Mapping

from volvelle import BlockBuilder
from volvelle.search.graph.between import Between
from volvelle.search.graph.slots import Range, slots_of
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


def in_slots(alone: Collection[str] = (), needs: Mapping[str, float] | None = None) -> tuple[dict[str, Range], int]:
    between = Between(chain_with_a_branch(), lambda op: 0)
    return slots_of(between, alone, between.apart(needs or {}, 10.0), needs)


def test_what_comes_before_and_after_one_alone_is_in_different_slots() -> None:
    slots, count = in_slots(alone={"heavy"})
    assert count == 2
    assert slots["first"] == (0, 0)
    assert slots["second"] == slots["last"] == (1, 1)


def test_what_depends_on_none_of_them_may_run_in_any_slot() -> None:
    slots, _ = in_slots(alone={"heavy"})
    assert slots["branch"] == (0, 1)


def test_without_any_alone_there_is_one_slot() -> None:
    slots, count = in_slots(alone=())
    assert count == 1
    assert set(slots.values()) == {(0, 0)}


def test_two_that_do_not_fit_together_begin_a_slot_each() -> None:
    slots, count = in_slots(needs={"heavy": 6.0, "second": 6.0})
    assert count == 2
    assert slots["first"] == slots["heavy"] == (0, 0)
    assert slots["second"] == slots["last"] == (1, 1)
    assert slots["branch"] == (0, 1)


def test_what_fits_together_shares_a_slot() -> None:
    _, count = in_slots(needs={"heavy": 5.0, "second": 5.0})
    assert count == 1


def test_what_lies_between_two_counts_with_them() -> None:
    slots, count = in_slots(needs={"first": 4.0, "heavy": 4.0, "second": 4.0})
    assert count == 2
    assert slots["first"] == (0, 0)
    assert slots["heavy"] == (0, 1)
    assert slots["second"] == (1, 1)


def test_one_that_does_not_fit_with_what_comes_after_one_alone_keeps_its_own_slot() -> None:
    slots, count = in_slots(alone={"heavy"}, needs={"first": 6.0, "second": 6.0})
    assert count == 2
    assert slots["first"] == (0, 0)
    assert slots["second"] == slots["last"] == (1, 1)
