"""The splits of a block's operations as variables, and the conversions they imply as tables of counts.

The conversions are those of :func:`volvelle.mapping.sharding.shard`, the one place that says what a choice implies;
here they are told tensor by tensor, so that each depends on few variables. A test holds the two together.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from volvelle.errors import GraphError
from volvelle.mapping.sharding import kept_for_backward
from volvelle.search.graph.between import Between
from volvelle.workload.graph import Block, Role
from volvelle.workload.operations import Operation, Phase
from volvelle.workload.tensor_layout import PARTIAL, REPLICATED, Collective, TensorLayout, conversion, split
from volvelle.workload.transforms import seed_of

COLLECTIVES = (Collective.ALL_REDUCE, Collective.REDUCE_SCATTER, Collective.ALL_GATHER, Collective.ALL_TO_ALL)
_WIDEST = 60_000
"""Entries of a tensor's table; of one with more readers the first few are tabulated and the rest corrected for."""
Counts = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Source:
    """A layout that one variable decides."""

    variable: int
    layouts: tuple[TensorLayout, ...]
    """By option."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reader:
    source: Source
    phase: Phase
    of_weight: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorTable:
    """How often a tensor takes each collective, for every option of the variables that decide it."""

    tensor: str
    found: Source
    readers: tuple[_Reader, ...]
    scope: tuple[int, ...]
    """The variables tabulated."""
    counts: Counts
    """[each forward, once a step, repeated backward, or each backward; collective; option of each variable]; infinite
    where it cannot be."""
    whole: bool
    """Whether every reader is in the table."""

    def count(self, chosen: Sequence[int]) -> NDArray[np.float64]:
        """The entry for the options of all variables, every reader counted."""
        layouts = [one.source.layouts[chosen[one.source.variable]] for one in self.readers]
        return _conversions(self.found.layouts[chosen[self.found.variable]], self.readers, layouts)


def leader_of(op: Operation) -> str | None:
    """The operation whose choice decides this one's; None for a sum of the backward pass: its summands decide."""
    if op.kind.sums() and op.phase is Phase.BACKWARD:
        return None
    return op.of or op.name


def handed_layouts(block: Block) -> tuple[TensorLayout, ...]:
    """Layouts in which a block may take and hand on its activations: whole, or split along one dimension."""
    dims = dict.fromkeys(dim for name in (*block.inputs, *block.outputs) for dim in block.tensor_of[name].dims)
    return (REPLICATED, *(split(dim) for dim in dims))


class BlockTables:
    """Variables and tables of a block; all splits but those of dimensions that have one point."""

    def __init__(self, block: Block, sizes: Mapping[str, float], boundaries: Sequence[TensorLayout]) -> None:
        self.block, self.sizes = block, sizes
        self.boundaries = tuple(boundaries)
        self.names: list[str] = [""]
        """Variable → the operation it splits; the first is the layout between blocks."""
        self.options: list[tuple[object, ...]] = [self.boundaries]
        """Dimensions of the signature (None: not split); layouts between blocks; for a sum its choice's number."""
        self.number: dict[str, int] = {}
        """Operation → its variable."""
        for op in block.operations:
            self._declare(op)
        for op in block.operations:
            leader = leader_of(op)
            if leader is not None and op.name not in self.number:
                self.number[op.name] = self.number[leader]
        self.sources: dict[str, Source] = {}
        self.sums: list[tuple[tuple[int, ...], NDArray[np.float64]]] = []
        """Scope and table: 0 where a sum is taken as its summands come, infinite elsewhere."""
        self.tensors = tuple(self._tabulate(*found) for found in self._collect())
        self.tabulated = {one.tensor for one in self.tensors}
        self.orders: dict[tuple[int, ...], tuple[int, ...]] = {}
        """By the numbers of options that are allowed: an order in which variables were eliminated."""
        self._between: dict[bool, Between] = {}
        self.maker = {name: op for op in block.operations for name in op.outputs}
        self.readers: dict[str, list[Operation]] = {}
        for op in block.operations:
            for name in op.inputs:
                self.readers.setdefault(name, []).append(op)
        self.dims = {
            op.name: [self._dim(op, one) for one in self.options[self.number[op.name]]] for op in block.operations
        }
        """Operation → the dimension it splits, by its variable's option."""

    def between(self, *, sided: bool) -> Between:
        """What lies between operations; unless `sided` the two passes are one."""
        if sided not in self._between:
            self._between[sided] = Between(self.block, lambda op: int(sided and op.phase is not Phase.FORWARD))
        return self._between[sided]

    def _declare(self, op: Operation) -> None:
        leader = leader_of(op)
        if leader is None:
            found: tuple[object, ...] = tuple(range(len(op.kind.choices())))
        elif leader == op.name or leader not in self.block.operation_of:
            dims = dict.fromkeys(choice.dim for choice in op.kind.choices())
            found = tuple(dim for dim in dims if dim is None or self.sizes[dim] > 1)
            self.number[leader] = len(self.names)
        else:
            return
        self.number[op.name] = len(self.names)
        self.names.append(op.name)
        self.options.append(found)

    def _dim(self, op: Operation, option: object) -> str | None:
        choices = op.kind.choices()
        if leader_of(op) is None:
            assert isinstance(option, int)
            return choices[option].dim
        return option if isinstance(option, str) and any(one.dim == option for one in choices) else None

    # -- layouts as sources --------------------------------------------------------------------------------------

    def _collect(self) -> Iterator[tuple[str, Source, list[_Reader]]]:
        """Every tensor with the layout it is found in and those its readers need, in the order `shard` meets them."""
        block, sources = self.block, self.sources
        readers: dict[str, list[_Reader]] = {}

        def need(tensor: str, source: Source, phase: Phase, *, of_weight: bool = False) -> None:
            if tensor not in sources:
                sources[tensor] = source
            else:
                readers.setdefault(tensor, []).append(_Reader(source=source, phase=phase, of_weight=of_weight))

        for name in block.inputs:
            sources[name] = self._boundary(name)
        for name in block.outputs:
            if seed_of(name) in block.tensor_of:
                sources[seed_of(name)] = self._boundary(name)
        for op in block.operations:
            if leader_of(op) is None:
                self.sums.append(self._sum(op))
            for index, name in enumerate(op.inputs):
                need(name, self._end(op, index, inward=True), op.phase)
            for index, name in enumerate(op.outputs):
                sources[name] = self._end(op, index, inward=False)
        for name in block.outputs:
            need(name, self._boundary(name), Phase.FORWARD)
        for tensor in block.tensors:
            gradient = f"{tensor.name}.grad"
            if gradient in sources and (tensor.role is Role.WEIGHT or tensor.name in block.inputs):
                need(gradient, sources[tensor.name], Phase.BACKWARD, of_weight=tensor.role is Role.WEIGHT)
        for name, source in sources.items():
            if name in readers:
                yield name, source, readers[name]

    def _boundary(self, tensor: str) -> Source:
        dims = self.block.tensor_of[tensor].dims
        return Source(0, tuple(one if not one.dim or one.dim in dims else REPLICATED for one in self.boundaries))

    def _end(self, op: Operation, index: int, *, inward: bool) -> Source:
        """The layout of an operation's input or output, by its variable's options."""
        signature, number, choices = op.kind.signature, self.number[op.name], op.kind.choices()
        dims = (signature.inputs if inward else signature.outputs)[index]
        declared = self.block.tensor_of[(op.inputs if inward else op.outputs)[index]].dims
        found = []
        for option in self.options[number]:
            choice = next((one for one in choices if one.dim == option), None)
            if leader_of(op) is None:
                assert isinstance(option, int)
                choice = choices[option]
            elif choice is None:
                choice = next(one for one in choices if one.dim is None)
            layout = (choice.inputs if inward else choice.outputs)[index]
            found.append(split(declared[dims.index(layout.dim)]) if layout.dim else layout)
        return Source(number, tuple(found))

    def _sum(self, op: Operation) -> tuple[tuple[int, ...], NDArray[np.float64]]:
        """Summands are taken as they come: all partial stay partial, otherwise as the first that is not."""
        mine, choices, names = self.number[op.name], op.kind.choices(), op.kind.signature.inputs[0]
        found = [self.sources[name] for name in op.inputs]
        scope = tuple(dict.fromkeys((mine, *(one.variable for one in found))))
        table = np.full([len(self.options[one]) for one in scope], np.inf)
        for entry in product(*(range(len(self.options[one])) for one in scope[1:])):
            chosen = dict(zip(scope[1:], entry, strict=True))
            layouts = [one.layouts[chosen[one.variable]] for one in found]
            wanted = next((layout for layout in layouts if layout != PARTIAL), PARTIAL)
            sought = split(wanted.dim) if wanted.dim in names else wanted
            option = next((place for place, one in enumerate(choices) if one.inputs[0] == sought), None)
            if option is not None:
                table[(option, *entry)] = 0.0
        return scope, table

    # -- tables ----------------------------------------------------------------------------------------------------

    def _tabulate(self, tensor: str, found: Source, readers: list[_Reader]) -> TensorTable:
        scope = [found.variable]
        taken = 0
        for reader in readers:
            more = [*scope, *([reader.source.variable] if reader.source.variable not in scope else [])]
            if prod(len(self.options[one]) for one in more) > _WIDEST:
                break
            scope, taken = more, taken + 1
        tabulated, known = readers[:taken], dict[tuple[TensorLayout, ...], NDArray[np.float64]]()
        counts = np.zeros((4, len(COLLECTIVES), *(len(self.options[one]) for one in scope)))
        place = {variable: axis for axis, variable in enumerate(scope)}
        ends = (found, *(one.source for one in tabulated))
        for entry in product(*(range(len(self.options[one])) for one in scope)):
            first, *others = (end.layouts[entry[place[end.variable]]] for end in ends)
            key = (first, *others)
            if key not in known:
                known[key] = _conversions(first, tabulated, others)
            cell: tuple[int | slice, ...] = (slice(None), slice(None), *entry)
            counts[cell] = known[key]
        return TensorTable(
            tensor=tensor,
            found=found,
            readers=tuple(readers),
            scope=tuple(scope),
            counts=counts,
            whole=taken == len(readers),
        )


def _conversions(
    found: TensorLayout, readers: Sequence[_Reader], layouts: Sequence[TensorLayout]
) -> NDArray[np.float64]:
    """As `shard` has it: each layout once a pass, and all but what a gather made is kept for the backward pass."""
    counts = np.zeros((4, len(COLLECTIVES)))
    seen: set[tuple[TensorLayout, Phase]] = set()
    for reader, wanted in zip(readers, layouts, strict=True):
        try:
            collective = conversion(found, wanted)
        except GraphError:
            return np.full_like(counts, np.inf)
        if collective is None or (wanted, reader.phase) in seen:
            continue
        again = reader.phase is Phase.BACKWARD and (wanted, Phase.FORWARD) in seen
        if again and kept_for_backward(collective):
            continue
        seen.add((wanted, reader.phase))
        row = 2 if again else 1 if reader.of_weight else 0 if reader.phase is Phase.FORWARD else 3
        counts[row, COLLECTIVES.index(collective)] += 1.0
    return counts
