"""The tables of a block with their times: work, collectives and bytes held, ready to be weighed and minimised."""

from collections.abc import Sequence
from copy import copy
from functools import cached_property
from math import inf
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from volvelle.estimators.dataflow.on_chip import Overlap
from volvelle.estimators.dataflow.partition_time import TIME_OF
from volvelle.search.graph.elimination import Correction, Elimination, Factor, OutOfTimeError
from volvelle.search.graph.sharding_times import ShardingTimes, Weights
from volvelle.search.graph.slots import Range, slots_of
from volvelle.search.graph.split_tables import COLLECTIVES, BlockTables, TensorTable
from volvelle.search.graph.through_dram import ThroughDram
from volvelle.workload.graph import Role, Tensor
from volvelle.workload.operations import Operation, Phase
from volvelle.workload.tensor_layout import Collective

Table = NDArray[np.float64]
Talk = tuple[dict[Range, Table], Table, Table]


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
        self._alone_of = {
            op.name: [costs.alone(op, dim) if costs.alone is not None else None for dim in self._dims_of[op.name]]
            for op in tables.block.operations
        }
        self._dram = ThroughDram.of(tables, costs, self._dims_of, self._alone_of)
        parted = (
            (self._dram.always_alone, self._dram.apart, self._dram.least_needs) if costs.moved is not None else ((),)
        )
        self._slots, self.slots = slots_of(self._dram.between, *parted)
        self._own: list[dict[Range, Table]] = [{} for _ in self.sizes]
        """Seconds of operations that may share a partition, by the slots they may run in: [work, memory; option]."""
        self.fixed = [np.zeros(size) for size in self.sizes]
        """Work of operations that are alone: it counts in full."""
        self.held = [np.zeros(size) for size in self.sizes]
        for op in tables.block.operations:
            if perf_counter() > costs.deadline:
                raise OutOfTimeError
            self._add(op)
        self.shared, self.base = self._dram.charged(self._own, self._slots)
        """The same with what passes through DRAM; and seconds of what does whatever is chosen, by slots."""
        self.sums = [
            Factor(scope, table[np.ix_(*(self.allowed[one] for one in scope))]) for scope, table in tables.sums
        ]
        whole = (range(4), range(len(COLLECTIVES)))
        self.talks = [
            (one, *self._talk(one, one.counts[np.ix_(*whole, *(self.allowed[at] for at in one.scope))], self.allowed))
            for one in tables.tensors
        ]
        """Tensors with (network by slots, own work of a maker alone, where the maker is alone)."""

    def eliminated(self, weights: Weights, *, strict: bool = True) -> Elimination:
        """The costs weighed and added up; unless `strict`, what there is no room for counts as well."""
        factors = list(self.sums)
        for number, held in enumerate(self.held):
            own = self.fixed[number].copy()
            for within, table in self.shared[number].items():
                own += (self._shares(weights, within)[:, :2] @ table).min(axis=0)
            rent = np.where(np.isinf(held), inf, np.where(np.isinf(held), 0.0, held) * weights.rent)
            factors.append(Factor((number,), own + rent))
        corrections = []
        for one, network, own, alone in self.talks:
            table = self._weighed(network, own, alone, weights)
            factors.append(Factor(one.scope, table))
            if not one.whole:
                corrections.append(self._correction(one, table, weights))
        for within, seconds in self.base.items():
            factors.append(Factor((), self._shares(weights, within)[:, 1].min() * np.array(seconds)))
        if weights.rent and self.costs.room < inf:
            factors.append(Factor((), np.array(-weights.rent * self.costs.room)))
        room = self.costs.room if strict else inf
        search = Elimination(
            self.sizes,
            factors,
            corrections,
            held=self.held if room < inf else (),
            room=room,
            order=self.tables.orders.get(tuple(self.sizes), ()),
            deadline=self.costs.deadline,
        )
        self.tables.orders[tuple(self.sizes)] = search.eliminated
        return search

    def restricted(self, variable: int, option: int) -> "TimedSplits":
        """The splits with one option of a variable only."""

        def kept(table: Table, scope: Sequence[int]) -> Table:
            axis = scope.index(variable) if variable in scope else -1
            return table.take([option], axis) if axis >= 0 and table.shape[axis] > 1 else table

        found = copy(self)
        for name in ("_own", "fixed", "held", "allowed", "sizes"):
            setattr(found, name, list(getattr(self, name)))
        found._own[variable] = {within: table[:, [option]] for within, table in self._own[variable].items()}
        found.fixed[variable] = self.fixed[variable][[option]]
        found.held[variable] = self.held[variable][[option]]
        found.allowed[variable], found.sizes[variable] = [self.allowed[variable][option]], 1
        mine = {name for name, number in self.tables.number.items() if number == variable}
        found._dims_of = {name: [dims[option]] if name in mine else dims for name, dims in self._dims_of.items()}
        found._alone_of = {name: [times[option]] if name in mine else times for name, times in self._alone_of.items()}
        found._dram = self._dram.restricted(mine, option)
        found.shared, found.base = found._dram.charged(found._own, self._slots)
        found.sums = [Factor(one.scope, kept(one.table, one.scope)) for one in self.sums]
        found.talks = [
            (
                one,
                {within: kept(table, one.scope) for within, table in network.items()},
                kept(own, one.scope),
                kept(alone, one.scope),
            )
            for one, network, own, alone in self.talks
        ]
        return found

    def differing(self, first: Sequence[int], second: Sequence[int]) -> int | None:
        """The variable that matters most to what two choices differ in; None where they do not."""
        weight: dict[int, float] = {}
        for number, (one, other) in enumerate(zip(first, second, strict=True)):
            if one != other:
                weight[number] = abs(float(self.fixed[number][one] - self.fixed[number][other]))
                for table in self.shared[number].values():
                    weight[number] += float(np.abs(table[:, one] - table[:, other]).sum())
        for tensor, network, *_ in self.talks:
            cells = [tuple(chosen[place] for place in tensor.scope) for chosen in (first, second)]
            change = sum(abs(float(table[cells[0]] - table[cells[1]])) for table in network.values())
            for place in tensor.scope:
                if place in weight:
                    weight[place] += change
        return max(weight, key=weight.__getitem__, default=None)

    def holds(self, chosen: Sequence[int]) -> float:
        """Bytes that a chip holds with these options."""
        return float(sum(held[option] for held, option in zip(self.held, chosen, strict=True)))

    def works(self, chosen: Sequence[int]) -> float:
        """Seconds of work with these options."""
        return float(
            sum(
                table[0, option]
                for shared, option in zip(self.shared, chosen, strict=True)
                for table in shared.values()
            )
        )

    def parts(self, chosen: Sequence[int], weights: Weights) -> tuple[float, Table]:
        """Seconds of what is alone, and of the rest by slot: its work, memory and network, with these options.

        What may run in several slots counts where it costs least by these weights.
        """
        alone, ranged = self._ranged(chosen)
        rest = np.zeros((self.slots, 3))
        for within, times in ranged:
            rest[within[0] + int((self._shares(weights, within) @ times).argmin())] += times
        return alone, rest

    def _ranged(self, chosen: Sequence[int]) -> tuple[float, list[tuple[Range, Table]]]:
        """Seconds of what is alone; and what may share, with its slots: work, memory and network."""
        alone = float(sum(fixed[option] for fixed, option in zip(self.fixed, chosen, strict=True)))
        ranged = [
            (within, np.array([*table[:, option], 0.0]))
            for shared, option in zip(self.shared, chosen, strict=True)
            for within, table in shared.items()
        ]
        ranged += [(within, np.array([0.0, seconds, 0.0])) for within, seconds in self.base.items()]
        for one, network, own, by_itself in self.talks:
            cell = tuple(chosen[place] for place in one.scope)
            if by_itself.any() and by_itself[_inside(by_itself, cell)]:
                work, talk = float(own[_inside(own, cell)]), sum(float(table[cell]) for table in network.values())
                alone += max(work, talk) if self.costs.overlap is Overlap.ALL else work + talk
            else:
                ranged += [(within, np.array([0.0, 0.0, table[cell]])) for within, table in network.items()]
        return alone, ranged

    def _shares(self, weights: Weights, within: Range) -> Table:
        shares = np.array(weights.shares)
        return shares[within[0] : within[1] + 1] if len(shares) > 1 else shares

    def least(self, chosen: Sequence[int]) -> float:
        """Seconds that these options take at least: what is alone, and the rest as if slots, or passes, were one."""
        alone, ranged = self._ranged(chosen)
        slots, passes = np.zeros((self.slots, 3)), np.zeros((2, 3))
        for (first, last), times in ranged:
            passes[int(self.costs.sided and first >= self.backward)] += times
            if first == last:
                slots[first] += times

        whole, parted = (np.asarray(TIME_OF[self.costs.overlap](*times.T)) for times in (passes, slots))
        if not self.costs.sided:
            return alone + max(float(whole.sum()), float(parted.sum()))
        parted = np.array([parted[: self.backward].sum(), parted[self.backward :].sum()])
        return alone + float(np.maximum(whole, parted).sum())

    # -- operations ----------------------------------------------------------------------------------------------

    def _add(self, op: Operation) -> None:
        number, costs = self.tables.number[op.name], self.costs
        mine = self._own[number].setdefault(self._slots[op.name], np.zeros((2, self.sizes[number])))
        for option, dim in enumerate(self._dims_of[op.name]):
            alone = self._alone_of[op.name][option]
            if alone is None:
                mine[0, option] += costs.work(op, dim)
                mine[1, option] += costs.memory(op, dim) if costs.memory is not None else 0.0
            elif not self._settles(op):
                self.fixed[number][option] += alone
            if costs.held is not None:
                self.held[number][option] += costs.held(op, dim)

    @cached_property
    def backward(self) -> int:
        """The first slot of the backward pass."""
        late = [op.name for op in self.tables.block.operations if self.costs.sided and op.phase is not Phase.FORWARD]
        return min((self._slots[name][0] for name in late), default=self.slots)

    def _settles(self, op: Operation) -> bool:
        """Whether its one result has a table, in which its work can be counted with its collectives."""
        return len(op.outputs) == 1 and op.outputs[0] in self.tables.tabulated

    # -- tensors -------------------------------------------------------------------------------------------------

    def _talk(self, one: TensorTable, counts: Table, allowed: Sequence[Sequence[int]]) -> Talk:
        """Seconds of a tensor's collectives by slots; of its maker's work, and whether that is alone."""
        block, costs = self.tables.block, self.costs
        tensor, maker = block.tensor_of[one.tensor], self.tables.maker.get(one.tensor)
        network = self._network(tensor, counts, maker)
        weight = self._weight_of(tensor)
        reader = next((each for each in one.readers if each.of_weight and each.source.variable in one.scope), None)
        if costs.replicas is not None and weight is not None and reader is not None:
            source = reader.source
            shares = [
                costs.replicas(
                    Collective.ALL_REDUCE,
                    weight.bytes(self.tables.sizes, split=source.layouts[at].dim, over=self.degree),
                )
                for at in allowed[source.variable]
            ]
            within = next(iter(network))
            network[within] = network[within] + _along(shares, one.scope.index(source.variable), len(one.scope))
        none = np.zeros([1] * len(one.scope))
        if costs.alone is None:
            return network, none, none
        number = -1 if maker is None else self.tables.number[maker.name]
        if maker is None or not self._settles(maker) or number not in one.scope:
            owners = self.tables.readers[one.tensor] if maker is None else [maker]
            if any(time is not None for op in owners for time in self._alone_of[op.name]):
                # It may be hidden behind work that is counted in full already.
                network = {within: np.where(np.isinf(table), inf, 0.0) for within, table in network.items()}
            return network, none, none
        times = [costs.alone(maker, self.tables.dims[maker.name][at]) for at in allowed[number]]
        axis = one.scope.index(number)
        own = _along([time or 0.0 for time in times], axis, len(one.scope))
        return network, own, _along([float(time is not None) for time in times], axis, len(one.scope))

    def _weighed(self, network: dict[Range, Table], own: Table, alone: Table, weights: Weights) -> Table:
        whole = sum(network.values(), np.zeros(()))
        shared = np.where(np.isinf(whole), inf, 0.0)
        for within, table in network.items():
            shared += float(self._shares(weights, within)[:, 2].min()) * np.where(np.isinf(table), 0.0, table)
        if not alone.any():
            return np.asarray(shared)
        together = np.maximum(own, whole) if self.costs.overlap is Overlap.ALL else own + whole
        return np.asarray(np.where(alone > 0.0, together, shared))

    def _network(self, tensor: Tensor, counts: Table, maker: Operation | None) -> dict[Range, Table]:
        """By slots: collectives belong to the operation that makes the tensor, or to the first that reads it."""
        size = tensor.bytes(self.tables.sizes)
        seconds = np.array([self.costs.exchange(collective, size) for collective in COLLECTIVES])
        forward, once, again, backward = (
            np.tensordot(seconds, np.where(np.isinf(part), 0.0, part), axes=1) for part in counts
        )
        backward = backward + self.costs.repeated * again + once / self.costs.micro_batches
        owners = {Phase.FORWARD: maker, Phase.BACKWARD: maker}
        if maker is None:
            for op in reversed(self.tables.readers.get(tensor.name, ())):
                owners[op.phase] = op
        found: dict[Range, Table] = {}
        for owner, seconds in zip(owners.values(), (forward, backward), strict=False):
            within = (0, self.slots - 1) if owner is None else self._slots[owner.name]
            found[within] = found.get(within, 0.0) + np.where(np.isinf(counts[0, 0]), inf, seconds)
        return found

    def _weight_of(self, gradient: Tensor) -> Tensor | None:
        name = gradient.name.removesuffix(".grad")
        weight = self.tables.block.tensor_of.get(name) if name != gradient.name else None
        return weight if weight is not None and weight.role is Role.WEIGHT else None

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
