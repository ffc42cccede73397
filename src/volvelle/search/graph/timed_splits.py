"""The tables of a block with their times: work, collectives and bytes held, ready to be weighed and minimised."""

from collections.abc import Sequence
from copy import copy
from math import ceil, inf, prod

import numpy as np
from numpy.typing import NDArray

from volvelle.estimators.dataflow.on_chip import Overlap
from volvelle.search.graph.elimination import Correction, Elimination, Factor
from volvelle.search.graph.sharding_times import ShardingTimes, Weights
from volvelle.search.graph.split_tables import COLLECTIVES, BlockTables, TensorTable
from volvelle.workload.elements import element_bytes
from volvelle.workload.graph import Role, Tensor
from volvelle.workload.operations import Operation, Phase
from volvelle.workload.tensor_layout import Collective, TensorLayout

__all__ = ["TimedSplits"]

Table = NDArray[np.float64]


class TimedSplits:
    """A block's splits over one group of chips, timed."""

    def __init__(
        self, tables: BlockTables, degree: int, costs: ShardingTimes, allowed: Sequence[Sequence[int]]
    ) -> None:
        self.tables, self.degree, self.costs = tables, degree, costs
        self.allowed = [list(options) for options in allowed]
        """For each variable the options that are allowed, by number."""
        self.sizes = [len(options) for options in allowed]
        self._dims_of = {
            op.name: [tables.dims[op.name][at] for at in allowed[tables.number[op.name]]]
            for op in tables.block.operations
        }
        self.shared = [np.zeros((2, 2, size)) for size in self.sizes]
        """Seconds of work and memory of operations that may share a partition: [pass; work, memory; option]."""
        self.fixed = [np.zeros(size) for size in self.sizes]
        """Work of operations that are alone: it counts in full."""
        self.held = [np.zeros(size) for size in self.sizes]
        for op in tables.block.operations:
            self._add(op)
        if costs.moved is not None:
            self._add_cut()
        self.sums = [
            Factor(scope, table[np.ix_(*(self.allowed[one] for one in scope))]) for scope, table in tables.sums
        ]
        self._order: tuple[int, ...] = ()
        self.talks = [(one, *self._talk(one, self._cells(one), self.allowed)) for one in tables.tensors]
        """Tensors with (network of each pass, own work of a maker alone, where the maker is alone)."""

    def eliminated(self, weights: Weights, *, strict: bool = True) -> Elimination:
        """The costs weighed and added up; unless `strict`, what there is no room for counts as well."""
        factors = list(self.sums)
        for number, held in enumerate(self.held):
            own = self.fixed[number].copy()
            for shares, (work, memory) in zip((weights.forward, weights.backward), self.shared[number], strict=True):
                own += shares[0] * work + shares[1] * memory
            rent = np.where(np.isinf(held), inf, np.where(np.isinf(held), 0.0, held) * weights.rent)
            factors.append(Factor((number,), own + rent))
        corrections = []
        for one, network, own, alone in self.talks:
            table = self._weighed(network, own, alone, weights)
            factors.append(Factor(one.scope, table))
            if not one.whole:
                corrections.append(self._correction(one, table, weights))
        if weights.rent and self.costs.room < inf:
            factors.append(Factor((), np.array(-weights.rent * self.costs.room)))
        room = self.costs.room if strict else inf
        search = Elimination(
            self.sizes, factors, corrections, held=self.held if room < inf else (), room=room, order=self._order
        )
        self._order = search.eliminated
        return search

    def restricted(self, variable: int, option: int) -> "TimedSplits":
        """The splits with one option of a variable only."""

        def kept(table: Table, scope: Sequence[int], ahead: int = 0) -> Table:
            axis = scope.index(variable) + ahead if variable in scope else -1
            return table.take([option], axis) if axis >= 0 and table.shape[axis] > 1 else table

        found = copy(self)
        for name in ("shared", "fixed", "held", "allowed", "sizes"):
            setattr(found, name, list(getattr(self, name)))
        found.shared[variable] = self.shared[variable][:, :, [option]]
        found.fixed[variable] = self.fixed[variable][[option]]
        found.held[variable] = self.held[variable][[option]]
        found.allowed[variable], found.sizes[variable] = [self.allowed[variable][option]], 1
        found._dims_of = {
            name: [dims[option]] if self.tables.number[name] == variable else dims
            for name, dims in self._dims_of.items()
        }
        found.sums = [Factor(one.scope, kept(one.table, one.scope)) for one in self.sums]
        found.talks = [
            (one, kept(network, one.scope, 1), kept(own, one.scope), kept(alone, one.scope))
            for one, network, own, alone in self.talks
        ]
        return found

    def differing(self, first: Sequence[int], second: Sequence[int]) -> int | None:
        """The variable that matters most to what two choices differ in; None where they do not."""
        weight: dict[int, float] = {}
        for number, (one, other) in enumerate(zip(first, second, strict=True)):
            if one != other:
                shared, fixed = self.shared[number], self.fixed[number]
                weight[number] = float(
                    np.abs(shared[:, :, one] - shared[:, :, other]).sum() + abs(fixed[one] - fixed[other])
                )
        for one, network, *_ in self.talks:
            cells = [tuple(chosen[place] for place in one.scope) for chosen in (first, second)]
            change = float(np.abs(network[(slice(None), *cells[0])] - network[(slice(None), *cells[1])]).sum())
            for place in one.scope:
                if place in weight:
                    weight[place] += change
        return max(weight, key=weight.__getitem__, default=None)

    def holds(self, chosen: Sequence[int]) -> float:
        """Bytes that a chip holds with these options."""
        return float(sum(held[option] for held, option in zip(self.held, chosen, strict=True)))

    def works(self, chosen: Sequence[int]) -> float:
        """Seconds of work with these options."""
        return float(sum(shared[:, 0, option].sum() for shared, option in zip(self.shared, chosen, strict=True)))

    def parts(self, chosen: Sequence[int]) -> tuple[float, Table]:
        """Seconds of what is alone, and of the rest by pass: its work, memory and network, with these options."""
        alone = float(sum(fixed[option] for fixed, option in zip(self.fixed, chosen, strict=True)))
        rest = np.zeros((2, 3))
        for shared, option in zip(self.shared, chosen, strict=True):
            rest[:, :2] += shared[:, :, option]
        for one, network, own, by_itself in self.talks:
            cell = tuple(chosen[place] for place in one.scope)
            seconds = network[(slice(None), *cell)]
            if by_itself.any() and by_itself[_inside(by_itself, cell)]:
                work, talk = float(own[_inside(own, cell)]), float(seconds.sum())
                alone += max(work, talk) if self.costs.overlapped else work + talk
            else:
                rest[:, 2] += seconds
        return alone, rest

    def least(self, chosen: Sequence[int], overlap: Overlap) -> float:
        """Seconds that these options take at least: what is alone, and the rest of each pass as if one partition."""
        alone, rest = self.parts(chosen)
        if overlap is Overlap.ALL:
            return alone + float(rest.max(axis=1).sum())
        if overlap is Overlap.MEMORY:
            return alone + float((rest[:, 2] + rest[:, :2].max(axis=1)).sum())
        return alone + float(rest.sum())

    # -- operations ----------------------------------------------------------------------------------------------

    def _add(self, op: Operation) -> None:
        number, costs = self.tables.number[op.name], self.costs
        for option, dim in enumerate(self._dims_of[op.name]):
            alone = costs.alone(op, dim) if costs.alone is not None else None
            if alone is None:
                mine = self.shared[number][self._side(op)]
                mine[0, option] += costs.work(op, dim)
                mine[1, option] += costs.memory(op, dim) if costs.memory is not None else 0.0
            elif not self._settles(op):
                self.fixed[number][option] += alone
            if costs.held is not None:
                self.held[number][option] += costs.held(op, dim)

    def _side(self, op: Operation) -> int:
        return int(self.costs.sided and op.phase is not Phase.FORWARD)

    def _add_cut(self) -> None:
        """Tensors that pass through DRAM however operations are fused: from one pass to another, or beside one alone.

        The end of an operation alone is in its own time already.
        """
        costs, tables = self.costs, self.tables
        assert costs.moved is not None
        alone = {
            op.name: [costs.alone is not None and costs.alone(op, dim) is not None for dim in self._dims_of[op.name]]
            for op in tables.block.operations
        }
        for op in tables.block.operations:
            for name in op.inputs:
                maker = tables.maker.get(name)
                if maker is None:
                    continue
                cut = self._side(op) != self._side(maker) or all(alone[maker.name])
                shared = self.shared[tables.number[op.name]]
                for option, dim in enumerate(self._dims_of[op.name]):
                    if not cut and not alone[op.name][option]:
                        continue
                    seconds = costs.moved(op, name, dim)
                    if not alone[op.name][option]:
                        shared[self._side(op), 1, option] += seconds
                    if not any(alone[maker.name]):
                        shared[self._side(maker), 1, option] += seconds

    def _settles(self, op: Operation) -> bool:
        """Whether its one result has a table, in which its work can be counted with its collectives."""
        return len(op.outputs) == 1 and op.outputs[0] in self.tables.tabulated

    # -- tensors -------------------------------------------------------------------------------------------------

    def _cells(self, one: TensorTable) -> Table:
        return one.counts[np.ix_(range(4), range(len(COLLECTIVES)), *(self.allowed[place] for place in one.scope))]

    def _talk(self, one: TensorTable, counts: Table, allowed: Sequence[Sequence[int]]) -> tuple[Table, Table, Table]:
        """Seconds of a tensor's collectives in each pass; of its maker's work, and whether that is alone."""
        block, costs = self.tables.block, self.costs
        tensor, maker = block.tensor_of[one.tensor], self.tables.maker.get(one.tensor)
        network = self._network(tensor, counts, maker)
        weight = self._weight_of(tensor)
        reader = next((each for each in one.readers if each.of_weight and each.source.variable in one.scope), None)
        if costs.replicas is not None and weight is not None and reader is not None:
            source = reader.source
            shares = [
                costs.replicas(Collective.ALL_REDUCE, self._bytes(weight, source.layouts[at]))
                for at in allowed[source.variable]
            ]
            side = 0 if maker is None else self._side(maker)
            network[side] = network[side] + _along(shares, one.scope.index(source.variable), network.ndim - 1)
        none = np.zeros([1] * (network.ndim - 1))
        if costs.alone is None:
            return network, none, none
        if maker is None:
            readers = self.tables.readers[one.tensor]
            if any(costs.alone(op, dim) is not None for op in readers for dim in self._dims_of[op.name]):
                # It may be hidden behind work that is counted in full already.
                network = np.where(np.isinf(network), inf, 0.0)
            return network, none, none
        number = self.tables.number[maker.name]
        if not self._settles(maker) or number not in one.scope:
            return network, none, none
        times = [costs.alone(maker, self.tables.dims[maker.name][at]) for at in allowed[number]]
        axis = one.scope.index(number)
        own = _along([time or 0.0 for time in times], axis, network.ndim - 1)
        return network, own, _along([float(time is not None) for time in times], axis, network.ndim - 1)

    def _weighed(self, network: Table, own: Table, alone: Table, weights: Weights) -> Table:
        finite = np.where(np.isinf(network), 0.0, network)
        weighed = weights.forward[2] * finite[0] + weights.backward[2] * finite[1]
        shared = np.where(np.isinf(network[0]), inf, weighed)
        if not alone.any():
            return np.asarray(shared)
        whole = network.sum(axis=0)
        together = np.maximum(own, whole) if self.costs.overlapped else own + whole
        return np.asarray(np.where(alone > 0.0, together, shared))

    def _network(self, tensor: Tensor, counts: Table, maker: Operation | None) -> Table:
        """By pass: collectives belong to the operation that makes the tensor, or to the first that reads it."""
        size = tensor.bytes(self.tables.sizes)
        seconds = np.array([self.costs.exchange(collective, size) for collective in COLLECTIVES])
        forward, once, again, backward = (
            np.tensordot(seconds, np.where(np.isinf(part), 0.0, part), axes=1) for part in counts
        )
        backward = backward + self.costs.repeated * again + once / self.costs.micro_batches
        sides = np.zeros((2, *np.shape(forward)))
        sides[0 if maker is None else self._side(maker)] += forward
        sides[int(self.costs.sided) if maker is None else self._side(maker)] += backward
        return np.asarray(np.where(np.isinf(counts[0, 0]), inf, sides))

    def _weight_of(self, gradient: Tensor) -> Tensor | None:
        name = gradient.name.removesuffix(".grad")
        weight = self.tables.block.tensor_of.get(name) if name != gradient.name else None
        return weight if weight is not None and weight.role is Role.WEIGHT else None

    def _bytes(self, tensor: Tensor, layout: TensorLayout) -> float:
        sizes = self.tables.sizes
        points = prod(ceil(sizes[dim] / self.degree) if dim == layout.dim else sizes[dim] for dim in tensor.dims)
        return points * element_bytes(tensor.element)

    def _correction(self, one: TensorTable, table: Table, weights: Weights) -> Correction:
        """What readers beyond the table add."""

        def cost(chosen: Sequence[int]) -> float:
            options = [kept[at] if at >= 0 else -1 for kept, at in zip(self.allowed, chosen, strict=True)]
            counts = one.count(options).reshape(4, len(COLLECTIVES), *([1] * len(one.scope)))
            here = [[kept[chosen[at]]] if at in one.scope else kept for at, kept in enumerate(self.allowed)]
            whole = float(self._weighed(*self._talk(one, counts, here), weights).reshape(-1)[0])
            return max(whole - float(table[tuple(chosen[place] for place in one.scope)]), 0.0)

        scope = {one.found.variable, *(reader.source.variable for reader in one.readers)}
        return Correction(frozenset(scope), cost)


def _inside(table: Table, cell: tuple[int, ...]) -> tuple[int, ...]:
    """The place in a table that is the same along some axes."""
    return tuple(at if size > 1 else 0 for at, size in zip(cell, table.shape, strict=True))


def _along(values: Sequence[float], axis: int, dimensions: int) -> Table:
    shape = [1] * dimensions
    shape[axis] = len(values)
    return np.array(values).reshape(shape)
