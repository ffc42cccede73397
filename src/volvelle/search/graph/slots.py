"""Between which operations that have the chip to themselves another may run.

Of operations alone that depend on one another each has its turn; what depends on one of them, or it on that, runs after
or before it, and shares no partition with what is on the other side. So partitions fall into slots, one between two of
them, and each slot is bounded by itself.
"""

from collections.abc import Callable, Collection

from volvelle.workload.graph import Block
from volvelle.workload.operations import Operation

Range = tuple[int, int]
"""The first and the last slot in which an operation may run."""


def slots_of(block: Block, side: Callable[[Operation], int], alone: Collection[str]) -> tuple[dict[str, Range], int]:
    """Operation → its slots, passes one after another; and how many slots there are."""
    maker = {name: op.name for op in block.operations for name in op.outputs}
    before: dict[str, set[str]] = {}
    for op in block.operations:
        needs = {maker[name] for name in op.inputs if name in maker}
        before[op.name] = needs.union(*(before.get(name, set()) for name in needs))
    found: dict[str, Range] = {}
    start = 0
    for number in sorted({side(op) for op in block.operations}):
        mine = [op.name for op in block.operations if side(op) == number]
        chain = _longest([name for name in mine if name in alone], before)
        for name in mine:
            first = max((place + 1 for place, one in enumerate(chain) if one in before[name]), default=0)
            last = min((place for place, one in enumerate(chain) if name in before[one]), default=len(chain))
            found[name] = (start + first, start + last)
        start += len(chain) + 1
    return found, start


def _longest(names: list[str], before: dict[str, set[str]]) -> list[str]:
    """The longest chain of operations each of which depends on the one before."""
    chains: dict[str, list[str]] = {}
    for name in names:
        earlier = max((chains[one] for one in chains if one in before[name]), key=len, default=[])
        chains[name] = [*earlier, name]
    return max(chains.values(), key=len, default=[])
