"""What a block costs, as terms: everything that can be worked out before any number of chips is known.

For one structure (which operations run, how they are split) a block becomes a list of kernels, collectives and
saved tensors. Each size is a `Term`, a coefficient times powers of the micro-batch and of the shares that the axes of
chips leave to one, so that pricing a million mappings costs a few array operations a kernel.

Axes cut a block, each by dimensions that its operations name (`axes`): tensor parallelism by heads, inner widths and
vocabulary (and positions in between), context parallelism by positions, expert parallelism by experts (and batch in
between). What each has to exchange follows from the declarations.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import prod

from volvelle.mapping.actions import Exchange, Kernel, Transfer
from volvelle.mapping.axes import EXPERT, TENSOR, Axis
from volvelle.mapping.axis_shardings import EXPERT_DIM, SEQUENCE_DIM, axis_shardings
from volvelle.mapping.lowered_block import LoweredBlock
from volvelle.mapping.parallelism import Recompute, Structure
from volvelle.mapping.program import Lifetime, ProgramBuilder, Task, saved_for_products, saved_values, working_values
from volvelle.mapping.recomputation import made_inside, run_again
from volvelle.mapping.sharding import END, Conversion, ShardedBlock
from volvelle.mapping.symbols import MICRO_BATCH, ONE, Term, merged, powers, share
from volvelle.workload.elements import element_bytes
from volvelle.workload.graph import Block, Role, Tensor, Workload
from volvelle.workload.operations import Contraction, Lookup, Normalisation, Operation, Phase, Unit, is_loss
from volvelle.workload.tensor_layout import PARTIAL, Collective
from volvelle.workload.transforms import seed_of

DEQUANTISATION = "dequantisation"
"""Part of a breakdown: unpacking weights that are kept in few bits."""
_BY_GROWTH = (Collective.REDUCE_SCATTER, Collective.ALL_REDUCE, Collective.ALL_TO_ALL, Collective.ALL_GATHER)


def lower(workload: Workload, block: Block, structure: Structure) -> LoweredBlock:
    """Work a block (with its backward operations) out for one structure."""
    return BlockLowering(workload.sizes, block, axis_shardings(workload, block, structure), structure).lowered()


class BlockLowering:
    """A block under one split of every operation along every axis, lowered piece by piece."""

    def __init__(
        self, sizes: Mapping[str, float], block: Block, sharded: Mapping[Axis, ShardedBlock], structure: Structure
    ) -> None:
        self.sizes = sizes
        self.sharded = sharded
        self.block = block
        gradients = {f"{tensor.name}.grad" for tensor in block.weights()}
        self.weight_sums = gradients
        self.weight_gradients = {name for op in block.operations for name in op.inputs if op.name in gradients}
        self.forward = [op for op in self.block.operations if op.phase is Phase.FORWARD]
        self.backward = [op for op in self.block.operations if op.phase is Phase.BACKWARD]
        self.fused_regions = {op.region for op in self.forward if op.region} if structure.fused_attention else set()
        ahead = self.forward if self.backward else []
        self.recomputed = run_again(ahead, structure.recompute, repeats=block.repeat > 1, fused=self.fused_regions)
        self.alternates = structure.recompute is Recompute.ALTERNATE
        light = self.recomputed if structure.recompute is Recompute.LIGHT or self.alternates else []
        self.light = {name: op for op in light for name in op.outputs}
        self.remade = made_inside(self.forward, self.recomputed) | set(self.light)
        self.recomputes_all = bool(self.backward) and self.recomputed == self.forward

    def lowered(self) -> LoweredBlock:
        """The whole block."""
        block = self.block
        tasks, lifetimes = self._program()
        actions = [task.action for task in tasks]
        weights, frozen = block.trainable(), [tensor for tensor in block.weights() if tensor.frozen]
        return LoweredBlock(
            name=block.name,
            repeat=block.repeat,
            tasks=tasks,
            lifetimes=lifetimes,
            kernels=tuple(action for action in actions if isinstance(action, Kernel)),
            exchanges=tuple(action for action in actions if isinstance(action, Exchange)),
            saved=merged([value.size for value in saved_values(tasks, lifetimes)]),
            saved_for_products=merged([value.size for value in saved_for_products(tasks, lifetimes)]),
            working=self._working([value.size for value in working_values(tasks, lifetimes)]),
            scored=merged([self._elements(op.inputs[0]) for op in self.forward if self.backward and is_loss(op)]),
            weights=merged([self._elements(t.name) for t in weights if not t.tied_to and EXPERT_DIM not in t.dims]),
            expert_weights=merged([self._elements(t.name) for t in weights if EXPERT_DIM in t.dims]),
            tied=merged([self._elements(t.name) for t in weights if t.tied_to]),
            output_bytes=self._grouped(block.outputs),
            split_dims=frozenset(dim for dim in self.sharded[TENSOR].dims.values() if dim),
            is_layer=block.is_layer,
            copies=self.sizes["slots"] * self.sizes[EXPERT_DIM] / self.sizes[SEQUENCE_DIM]
            if EXPERT_DIM in self.sizes
            else 1.0,
            frozen=merged([self._elements(t.name) for t in frozen if not t.tied_to]),
            frozen_bytes=self._kept([t for t in frozen if not t.tied_to and EXPERT_DIM not in t.dims]),
            frozen_expert_bytes=self._kept([t for t in frozen if EXPERT_DIM in t.dims]),
            frozen_tied_bytes=self._kept([t for t in frozen if t.tied_to]),
        )

    def _working(self, remade: Sequence[Term]) -> tuple[Term, ...]:
        """Bytes alive while one repetition runs: all that is recomputed; without a backward pass its largest step."""
        unpacked = sorted((copy for op in self.forward for _, _, copy in self._packed(op)), reverse=True)
        if not self.backward:
            held = {tensor.name for tensor in self.block.weights() if tensor.frozen}  # counted as weights already
            moved = [[name for name in (*op.inputs, *op.outputs) if name not in held] for op in self.forward]
            ends = [merged([*map(self._bytes, names), *unpacked[:1]]) for names in moved]
            return max(ends, key=lambda terms: sum(term.coefficient for term in terms), default=())
        largest = unpacked[:1]
        return merged([*remade, *largest]) if self.recomputes_all or self.light else tuple(largest)

    def _kept(self, tensors: Iterable[Tensor]) -> tuple[Term, ...]:
        """Bytes of weights as they are kept."""
        return merged([self._elements(tensor.name) * Term(tensor.stored_bytes) for tensor in tensors])

    def _packed(self, op: Operation) -> list[tuple[str, Term, Term]]:
        """Weights that an operation reads and that are unpacked for it: bytes as they are kept, and of the copy."""
        found = []
        for name, dims in zip(op.inputs, op.kind.signature.inputs, strict=True):
            if self.block.tensor_of[name].stored:
                points = self._dims(dims, self._split(op))
                tensor = self.block.tensor_of[name]
                found.append((name, points * Term(tensor.stored_bytes), points * Term(element_bytes(tensor.element))))
        return found

    # -- sizes ---------------------------------------------------------------------------------------------

    def _dims(self, dims: Sequence[str], divided: Mapping[Axis, str | None]) -> Term:
        """Points of the named dimensions on one chip, when each axis divides one of them.

        Experts are dealt out among replicas that bring their batches along: an expert's chip has fewer experts and
        as many more sequences, so only what has no batch (weights) gets smaller.
        """
        fixed = prod(self.sizes[dim] for dim in dims if dim != "batch")
        batched = "batch" in dims
        shares = {axis.name: int(dim in dims) for axis, dim in divided.items()}
        shares[EXPERT.name] = int(divided.get(EXPERT) == EXPERT_DIM and EXPERT_DIM in dims and not batched)
        return Term(float(fixed), powers(**{MICRO_BATCH: int(batched)}, **shares))

    def _laid(self, tensor: str) -> dict[Axis, str | None]:
        return {axis: sharded.layouts[tensor].dim for axis, sharded in self.sharded.items()}

    def _split(self, op: Operation) -> dict[Axis, str | None]:
        return {axis: sharded.dims[op.name] for axis, sharded in self.sharded.items()}

    def _elements(self, tensor: str) -> Term:
        return self._dims(self.block.tensor_of[tensor].dims, self._laid(tensor))

    def _bytes(self, tensor: str) -> Term:
        return self._elements(tensor) * Term(element_bytes(self.block.tensor_of[tensor].element))

    def _grouped(self, names: Iterable[str]) -> tuple[Term, ...]:
        return merged([self._bytes(name) for name in names])

    def _local(self, op: Operation, name: str, dims: Sequence[str]) -> Term:
        """Bytes of a tensor as this operation sees it on one chip."""
        each = element_bytes(self.block.tensor_of[name].element)
        return self._dims(dims, self._split(op)) * Term(each)

    # -- order ---------------------------------------------------------------------------------------------

    def _program(self) -> tuple[tuple[Task, ...], tuple[Lifetime, ...]]:
        """Forward, then what is recomputed before whatever reads it, backward; every collective before its readers."""
        builder = ProgramBuilder()
        for name in self.block.inputs:
            builder.enter(name, self._bytes(name), Phase.FORWARD)
        self._run(builder, self.forward, Phase.FORWARD)
        self._close(builder, self.block.outputs, Phase.FORWARD)
        if not self.backward:
            return builder.program()
        for name in self.block.outputs:
            if seed_of(name) in self.block.tensor_of:
                builder.enter(seed_of(name), self._bytes(seed_of(name)), Phase.BACKWARD)
        if self.recomputes_all:
            self._run(builder, self.recomputed, Phase.RECOMPUTE)
        self._run(builder, self.backward, Phase.BACKWARD)
        gradients = [f"{name}.grad" for name in (*self.block.inputs, *(t.name for t in self.block.weights()))]
        self._close(builder, [name for name in gradients if name in self.block.tensor_of], Phase.BACKWARD)
        return builder.program()

    def _run(self, builder: ProgramBuilder, operations: Sequence[Operation], phase: Phase) -> None:
        begun: set[str] = set()
        for op in operations:
            fused = op.region in self.fused_regions
            if fused and op.region in begun:
                continue
            if phase is Phase.BACKWARD and op.region not in begun and not (self.recomputes_all or self.light):
                again = [forward for forward in self.recomputed if forward.region == op.region]
                self._run(builder, again, Phase.RECOMPUTE)
            begun.add(op.region)
            together = [other for other in operations if other.region == op.region] if fused else [op]
            if phase is Phase.BACKWARD and self.light:
                read = [name for other in together for name in other.inputs]
                self._remake(builder, [*read, *(self._ends(op.region, together, phase)[0] if fused else ())])
            self._task(builder, together, phase, fused=fused)

    def _remake(self, builder: ProgramBuilder, names: Iterable[str]) -> None:
        """Make again what was not kept, and before it what that is made from."""
        for name in names:
            op = self.light.get(name)
            if op is not None and not builder.has(name, "", Phase.RECOMPUTE):
                self._remake(builder, op.inputs)
                self._task(builder, [op], Phase.RECOMPUTE, fused=False)

    def _task(self, builder: ProgramBuilder, together: Sequence[Operation], phase: Phase, *, fused: bool) -> None:
        """Operations of one kernel, behind the collectives that bring what they read into the layout they need."""
        op = together[0]
        for weight, kept, copy in self._packed(op):
            unpacking = Kernel(
                name=op.of or op.name,
                part=DEQUANTISATION,
                phase=phase,
                matrix_work=None,
                vector_work=None,
                traffic=(kept, copy),
                unpacks=True,
            )
            builder.add(unpacking, phase, reads=(), writes=[(weight, "unpacked", copy)])
        values = [self._brought(builder, name, member.name, phase) for member in together for name in member.inputs]
        writes: Iterable[str] = op.outputs
        action: Kernel | None = None
        as_if = Phase.FORWARD if phase is Phase.RECOMPUTE else phase
        if fused:
            action = replace(self.fused(op.region, together, as_if), phase=phase)
            read, writes = self._ends(op.region, together, as_if)
            made = {name for member in together for name in member.outputs}
            values = [value for value in values if value[0] not in made]
            values += [(name, "") for name in read if all(name != tensor for tensor, _ in values)]
        elif not op.fused:
            action = replace(self.kernel(op, as_if), phase=phase)
        if phase is Phase.RECOMPUTE and not self.recomputes_all:
            writes = [name for name in writes if name in self.remade]  # all else was kept
        builder.add(
            action,
            phase,
            operations=[member.name for member in together],
            reads=[*values, *((weight, "unpacked") for weight, _, _ in self._packed(op))],
            writes=[(name, "", self._bytes(name)) for name in writes],
        )

    def _close(self, builder: ProgramBuilder, names: Iterable[str], phase: Phase) -> None:
        """What leaves the block is brought into the layout its neighbours expect, and sent where they are elsewhere."""
        for name in names:
            value = self._brought(builder, name, END, phase)
            if self.block.tensor_of[name].role is not Role.WEIGHT and name not in self.weight_sums:
                sent = Transfer(size=self._bytes(name), phase=phase)
                builder.add(sent, phase, reads=[value], writes=())

    def _brought(self, builder: ProgramBuilder, tensor: str, reader: str, phase: Phase) -> tuple[str, str]:
        """The value that a reader takes of a tensor, made by collectives where it is not there yet."""
        value = (tensor, "")
        for axis, wanted in self._conversions.get((tensor, reader), ()):
            copy = f"{wanted.collective.value} over {axis.name}, {wanted.phase.name.lower()}"
            gathers = self.alternates and wanted.collective is Collective.ALL_GATHER  # other exchanges are kept
            repeats = phase is Phase.RECOMPUTE and (self.recomputes_all or gathers)
            if (phase is wanted.phase or repeats) and not builder.has(tensor, copy, phase):
                exchange = replace(self.exchange(axis, wanted), phase=phase)
                size = self._converted(axis, wanted)
                builder.add(exchange, phase, reads=[value], writes=[(tensor, copy, size)])
            value = (tensor, copy)
        return value

    @cached_property
    def _conversions(self) -> dict[tuple[str, str], list[tuple[Axis, Conversion]]]:
        """Tensor and reader → the collectives between them; what makes it larger comes last."""
        between: dict[tuple[str, str], list[tuple[Axis, Conversion]]] = {}
        for axis, sharded in self.sharded.items():
            for wanted in sharded.conversions:
                if self._in_block(axis, wanted):
                    for reader in wanted.readers:
                        between.setdefault((wanted.tensor, reader), []).append((axis, wanted))
        for changes in between.values():
            changes.sort(key=lambda change: _BY_GROWTH.index(change[1].collective))
        return between

    # -- kernels -------------------------------------------------------------------------------------------

    def _work(self, op: Operation, unit: Unit) -> Term | None:
        work = op.kind.work()
        if work.unit is not unit or work.per_point == 0:
            return None
        return self._dims(work.dims, self._split(op)) * Term(work.per_point)

    def _side(self, op: Operation, dims: Sequence[str]) -> Term:
        """Of one of an operation's products: an expert that was dealt out has the batches of all who brought theirs."""
        dealt = self._split(op).get(EXPERT) == EXPERT_DIM and EXPERT_DIM in op.kind.signature.shared and "batch" in dims
        return self._dims(dims, self._split(op)) * Term(1.0, powers(**{EXPERT.name: -int(dealt)}))

    def kernel(self, op: Operation, phase: Phase) -> Kernel:
        """One operation by itself."""
        signature = op.kind.signature
        ends = zip((*op.inputs, *op.outputs), (*signature.inputs, *signature.outputs), strict=True)
        moved = [self._local(op, name, dims) for name, dims in ends]
        base = Kernel(
            name=op.of or op.name,
            part=op.part,
            phase=phase,
            matrix_work=self._work(op, Unit.MATRIX),
            vector_work=self._work(op, Unit.VECTOR),
            of_weight=bool(self.weight_gradients & set(op.outputs)),
            only_weights=self.weight_gradients.issuperset(op.outputs),
            attention_core=bool(op.region),
            keep_16bit=bool(op.region) or self.block.repeat == 1,
        )
        if isinstance(op.kind, Contraction):
            instances = self._dims(signature.shared, self._split(op))
            first, second, result = (size / instances for size in moved)
            left, right = (set(dims) - set(signature.shared) - set(signature.summed) for dims in signature.inputs)
            return replace(
                base,
                product=(first, second, result),
                instances=instances,
                rows=self._side(op, _ordered(signature.dims, left)),
                columns=self._side(op, _ordered(signature.dims, right)),
                depth=self._side(op, signature.summed),
            )
        if isinstance(op.kind, Lookup) and not op.kind.scatter:
            moved[1] = moved[2]  # only the rows that are looked up are read
        return replace(base, traffic=merged(moved))

    def fused(self, region: str, operations: Sequence[Operation], phase: Phase) -> Kernel:
        """One kernel for a region: only what enters and leaves it is moved, what it needs it makes again."""
        inside = [op for op in operations if op.region == region]
        again = self._remade(region) if phase is Phase.BACKWARD else []
        read, left = self._ends(region, inside, phase)
        works: dict[Unit, list[Term]] = {Unit.MATRIX: [], Unit.VECTOR: []}
        for op in (*inside, *again):
            for unit, terms in works.items():
                work = self._work(op, unit)
                if work is not None:
                    terms.append(work)
        matrix, vector = (merged(terms) for terms in works.values())
        assert max(len(matrix), len(vector)) <= 1, f"region {region} mixes splits"
        return Kernel(
            name=region,
            part=inside[0].part,
            phase=phase,
            matrix_work=matrix[0] if matrix else None,
            vector_work=vector[0] if vector else None,
            depth=self._dims([op.kind.along for op in inside if isinstance(op.kind, Normalisation)][:1], {}),
            traffic=self._grouped([*read, *left]),
            attention_core=True,
            keep_16bit=True,
        )

    def _ends(self, region: str, inside: Sequence[Operation], phase: Phase) -> tuple[list[str], list[str]]:
        """What a fused region reads from memory, and what it leaves there for others."""
        again = self._remade(region) if phase is Phase.BACKWARD else []
        made = {name for op in (*inside, *again) for name in op.outputs}
        read = dict.fromkeys(name for op in (*inside, *again) for name in op.inputs if name not in made)
        others = {name for op in self.block.operations if op.region != region for name in op.inputs}
        left = dict.fromkeys(name for op in inside for name in op.outputs if name in others)
        return list(read), list(left)

    def _remade(self, region: str) -> list[Operation]:
        """Forward operations of a fused region whose results its backward operations read."""
        wanted = {name for op in self.backward if op.region == region for name in op.inputs}
        found: list[Operation] = []
        for op in reversed(self.forward):
            if op.region == region and wanted & set(op.outputs):
                found.append(op)
                wanted |= set(op.inputs)
        return found[::-1]

    # -- collectives ---------------------------------------------------------------------------------------

    def _in_block(self, axis: Axis, wanted: Conversion) -> bool:
        """Whether the block makes it; replicas' gradients are exchanged with all the others, once a step."""
        whole = wanted.of_weight and EXPERT_DIM in self.block.tensor_of[wanted.tensor].dims
        return not (whole or (wanted.of_weight and axis.weights != "split"))

    def _converted(self, axis: Axis, wanted: Conversion) -> Term:
        """Bytes on one chip of what a collective makes."""
        tensor = self.block.tensor_of[wanted.tensor]
        laid = {other: self._settled(other, wanted.tensor) for other in self.sharded} | {axis: wanted.wanted.dim}
        return self._dims(tensor.dims, laid) * Term(element_bytes(tensor.element))

    def _settled(self, axis: Axis, tensor: str) -> str | None:
        """The dimension an axis divides a tensor by when others exchange it, partial sums added up."""
        sharded, made = self.sharded[axis], self.sharded[axis].layouts[tensor]
        if made != PARTIAL:
            return made.dim
        sums = (change.wanted for change in sharded.conversions if change.tensor == tensor)
        return next((layout.dim for layout in sums if layout != PARTIAL), None)

    def exchange(self, axis: Axis, found: Conversion) -> Exchange:
        """A collective; its size is the whole tensor along its own axis, and one chip's part along the others."""
        tensor = self.block.tensor_of[found.tensor]
        others = {other: self._settled(other, found.tensor) for other in self.sharded if other is not axis}
        own = ONE
        if found.collective is Collective.ALL_TO_ALL and axis is not EXPERT:
            own = share(axis)  # each chip sends what it has; chips that share experts bring batches of their own
        return Exchange(
            axis=axis,
            collective=found.collective,
            size=self._dims(tensor.dims, others) * Term(element_bytes(tensor.element)) * own,
            phase=found.phase,
            repeated_in_backward=found.repeated_in_backward,
            per_step=found.of_weight,
        )


def _ordered(dims: Sequence[str], chosen: set[str]) -> tuple[str, ...]:
    return tuple(dim for dim in dims if dim in chosen)
