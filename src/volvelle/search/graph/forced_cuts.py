"""DRAM traffic that the SRAM forces: of two operations whose weights do not fit it together, one comes after the other.

Between two such operations of which one depends on the other every path is cut somewhere, at the cost of its cheapest
tensor at least. Along a chain of them the paths lie one after another, so what they cost adds up.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf

from volvelle.search.graph.slots import Range
from volvelle.workload.graph import Block
from volvelle.workload.operations import Operation


@dataclass(frozen=True, slots=True, kw_only=True)
class ForcedCut:
    """A path that is cut somewhere."""

    within: Range
    """The slots in which that may be."""
    seconds: float
    """Of both ends of its cheapest tensor."""
    path: tuple[str, ...]
    """Its operations."""


def forced_cuts(
    block: Block,
    side: Callable[[Operation], int],
    weights: Mapping[str, float],
    limit: float,
    seconds: Callable[[Operation, str], float],
    slots: Mapping[str, Range],
) -> list[ForcedCut]:
    """Paths that are cut, one after another.

    `weights` are the fewest bytes of an operation's weights on a chip, `seconds` what one end of a tensor that an
    operation reads takes at least: nothing where that is counted already.
    """
    maker = {name: op for op in block.operations for name in op.outputs}
    heavy = [op.name for op in block.operations if weights.get(op.name, 0.0) > 0.0]
    found: list[ForcedCut] = []
    for number in sorted({side(op) for op in block.operations}):
        mine = [op for op in block.operations if side(op) == number]
        widest = {start: _widest(start, mine, maker, seconds) for start in heavy if start in {op.name for op in mine}}
        chains: dict[str, tuple[float, list[ForcedCut]]] = {}
        for name in widest:
            options = []
            for earlier, (total, cuts) in chains.items():
                if name in widest[earlier] and weights[earlier] + weights[name] > limit:
                    width, path = widest[earlier][name]
                    within = (slots[earlier][0], slots[name][1])
                    cut = ForcedCut(within=within, seconds=2.0 * width, path=path)
                    options.append((total + cut.seconds, [*cuts, cut]))
            chains[name] = max(options, key=lambda option: option[0], default=(0.0, []))
        found += max(chains.values(), key=lambda chain: chain[0], default=(0.0, []))[1]
    return found


def _widest(
    start: str,
    operations: list[Operation],
    maker: Mapping[str, Operation],
    seconds: Callable[[Operation, str], float],
) -> dict[str, tuple[float, tuple[str, ...]]]:
    """Operation → the most that the cheapest tensor of a path from the start to it takes, and that path."""
    reached: dict[str, tuple[float, tuple[str, ...]]] = {start: (inf, (start,))}
    for op in operations:
        for name in op.inputs:
            before = maker[name].name if name in maker else ""
            if before in reached and op.name != start:
                width, path = reached[before]
                width = min(width, seconds(op, name))
                if width > reached.get(op.name, (-1.0, ()))[0]:
                    reached[op.name] = (width, (*path, op.name))
    del reached[start]
    return reached
