"""Two operations that do not fit the chip together are parted, and the path between them is cut."""

from collections.abc import Mapping

from volvelle import BlockBuilder
from volvelle.search.graph.between import Between
from volvelle.search.graph.forced_cuts import ForcedCut, certain_cuts, forced_cuts
from volvelle.workload.graph import Block

WIDTHS = {"up": 1.0, "point": 3.0, "down": 2.0}


def layer() -> Block:
    """up → point → down."""
    b = BlockBuilder("block")
    up = b.contract("up", "rows wide, wide deep -> rows deep", b.input("x", "rows wide"), b.weight("w", "wide deep"))
    point = b.pointwise("point", "rows deep -> rows deep", up)
    down = b.contract("down", "rows deep, deep wide -> rows wide", point, b.weight("v", "deep wide"))
    return b.build(outputs=(down,))


def cuts(limit: float, needs: Mapping[str, float] | None = None) -> list[ForcedCut]:
    block = layer()
    slots = {op.name: (0, 0) for op in block.operations}
    between = Between(block, lambda op: 0)
    apart = between.apart(needs or {"up": 6.0, "down": 5.0}, limit)
    certain = certain_cuts(between, apart)
    return forced_cuts(between, apart, lambda edge: 0.0 if edge in certain else WIDTHS[edge[0]], slots)


def test_what_fits_together_is_not_cut() -> None:
    assert cuts(limit=11.0) == []


def test_what_does_not_is_cut_at_its_cheapest_tensor_and_both_ends_pay() -> None:
    (cut,) = cuts(limit=10.0)
    assert cut.seconds == 2.0 * WIDTHS["down"]
    assert cut.path == ("up", "point", "down")


def test_what_lies_between_two_counts_with_them() -> None:
    assert cuts(limit=11.0, needs={"up": 6.0, "point": 1.0, "down": 5.0}) != []


def test_a_tensor_past_two_that_are_parted_passes_through_dram_for_certain() -> None:
    b = BlockBuilder("block")
    x = b.pointwise("first", "rows wide -> rows wide", b.input("x", "rows wide"))
    up = b.contract("up", "rows wide, wide deep -> rows deep", x, b.weight("w", "wide deep"))
    down = b.contract("down", "rows deep, deep wide -> rows wide", up, b.weight("v", "deep wide"))
    block = b.build(outputs=(b.pointwise("last", "rows wide, rows wide -> rows wide", down, x, is_sum=True),))
    between = Between(block, lambda op: 0)
    assert certain_cuts(between, between.apart({"up": 6.0, "down": 5.0}, 10.0)) == {("last", x), ("down", up)}
