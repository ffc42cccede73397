"""Two operations whose weights do not fit the chip together are parted, and the path between them is cut."""

from volvelle import BlockBuilder
from volvelle.search.graph.forced_cuts import ForcedCut, forced_cuts
from volvelle.workload.graph import Block

WIDTHS = {"up": 1.0, "point": 3.0, "down": 2.0}


def layer() -> Block:
    """up → point → down."""
    b = BlockBuilder("block")
    up = b.contract("up", "rows wide, wide deep -> rows deep", b.input("x", "rows wide"), b.weight("w", "wide deep"))
    point = b.pointwise("point", "rows deep -> rows deep", up)
    down = b.contract("down", "rows deep, deep wide -> rows wide", point, b.weight("v", "deep wide"))
    return b.build(outputs=(down,))


def cuts(limit: float) -> list[ForcedCut]:
    block = layer()
    slots = {op.name: (0, 0) for op in block.operations}
    weights = {"up": 6.0, "down": 5.0}
    return forced_cuts(block, lambda op: 0, weights, limit, lambda op, name: WIDTHS[op.name], slots)


def test_what_fits_together_is_not_cut() -> None:
    assert cuts(limit=11.0) == []


def test_what_does_not_is_cut_at_its_cheapest_tensor_and_both_ends_pay() -> None:
    (cut,) = cuts(limit=10.0)
    assert cut.seconds == 2.0 * WIDTHS["down"]
    assert cut.path == ("up", "point", "down")
