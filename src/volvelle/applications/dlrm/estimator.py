"""One training step of a recommendation model: dense layers on every chip, tables placed over all of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from math import prod
from typing import final

import numpy as np

from volvelle.applications.dlrm.tables import TableCosts, TableElements, table_costs
from volvelle.errors import DescriptionError
from volvelle.estimators.contract import Estimator
from volvelle.estimators.exchange import exchange_time
from volvelle.estimators.rates import SustainedRates
from volvelle.estimators.result import Contribution, Estimate, MemoryPart, Range, Violation
from volvelle.estimators.sampler import Stratified
from volvelle.estimators.uncertainty import model_error_column, time_range
from volvelle.laws.footprint import activation_bytes, weight_bytes
from volvelle.laws.matrix_product import depth_efficiency, wave_efficiency
from volvelle.laws.nested_collectives import nested_all_reduce_time
from volvelle.laws.optimiser import optimiser_step_time
from volvelle.laws.overlap import hidden_time
from volvelle.laws.roofline import kernel_time
from volvelle.mapping.table_placement import TablePlacement
from volvelle.quantities import BYTES, Fraction, Number, Seconds, show
from volvelle.system.cluster import Cluster
from volvelle.workload.elements import element_bytes
from volvelle.workload.families.dlrm import Dlrm, dlrm
from volvelle.workload.graph import Block
from volvelle.workload.operations import Contraction, Lookup, Operation, Phase, Pointwise
from volvelle.workload.transforms import with_backward

_PIECE = 1024.0
"""Inner steps of the smallest piece that a deep product is cut into."""
EXCHANGES = "exchanges over networks"
"""The input that says how far they are off."""
_STATE = 12.0
"""Bytes of weight, gradient and optimiser state of a dense parameter beside its copy for products."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DlrmStep:
    """What is trained on."""

    shape: Dlrm
    batch: int
    """Samples of one step, over all chips."""
    matrix_element: str = "bf16"
    """In which products are computed; activations have the shape's own element type."""
    tables: TableElements = field(default_factory=TableElements)

    def __post_init__(self) -> None:
        if self.batch < 1:
            raise DescriptionError(f"a step has one or more samples, not {self.batch}")


DlrmEstimate = Estimate[DlrmStep, TablePlacement]
"""A step under one placement."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class DlrmModel(Estimator[DlrmStep, TablePlacement]):
    """Dense layers by roofline, tables by memory, exchanges by the network; what can hide behind other work does."""

    gather: Fraction = 0.6
    """Share of the peak memory rate that rows scattered over memory sustain."""
    fixed: Seconds = 0.0
    """A step's time beyond all that: reading samples, launching, waiting for the slowest."""
    fused: bool = True
    """Activations of dense layers run inside the products."""
    relayed: bool = False
    """Vectors go to a chip of their node first, which adds up those of a sample before they leave the node."""
    error: float = 1.35
    """Doubt in the model, one standard deviation as a factor."""
    network_error: float = 1.0
    """Of exchanges over a network that no fitted step crossed, as collectives are off over links that were not fitted;
    1: the network is like the others, or its doubt is in the error."""
    samples: int = 256
    seed: int = 0
    level: float = 0.8

    def times(
        self,
        step: DlrmStep,
        cluster: Cluster,
        costs: TableCosts,
        *,
        dense: Mapping[str, Seconds] | None = None,
        over: tuple[Cluster, Number] | None = None,
    ) -> Mapping[tuple[str, bool], Seconds]:
        """Seconds by part and whether it is exposed; the machine's numbers may be samples.

        `dense` is what :meth:`dense` answers, where it is known already. `over` is the machine whose links exchanges
        are timed by, where it is another, and by what factor they take longer.
        """
        machine = SustainedRates.of(cluster, step.matrix_element, software=False)
        chips = cluster.accelerators
        dense = self.dense(step, cluster) if dense is None else dense
        gather_rate = cluster.chip.memory.rate * self.gather
        linked, longer = (cluster, 1.0) if over is None else over
        network = machine if over is None else SustainedRates.of(linked, step.matrix_element, software=False)
        indices = longer * exchange_time(costs.indices, network, group=float(chips), stride=1.0)
        vectors = longer * self._vectors(costs, cluster, network)
        gathered = kernel_time(0.0, costs.gathered, compute_rate=1.0, memory_rate=gather_rate)
        updated = kernel_time(0.0, costs.updated, compute_rate=1.0, memory_rate=gather_rate)
        parameters = dense_parameters(step.shape)
        sent = parameters * element_bytes(step.shape.element) + costs.reduced
        reduced = longer * nested_all_reduce_time(sent, network.tiers(float(chips), 1.0))
        forward_hidden = hidden_time(vectors, dense["bottom forward"])
        backward_hidden = hidden_time(vectors, dense["bottom backward"])
        # Gradients of the dense layers travel while tables are updated.
        reduced_hidden = hidden_time(reduced, updated)
        found: dict[tuple[str, bool], Seconds] = {
            ("dense layers, forward", True): dense["bottom forward"] + dense["top forward"],
            ("dense layers, backward", True): dense["bottom backward"] + dense["top backward"],
            ("table rows fetched", True): gathered,
            ("table rows updated", True): updated,
            ("indices exchanged", True): indices,
            ("vectors exchanged", True): vectors - forward_hidden,
            ("vectors exchanged", False): forward_hidden,
            ("gradients exchanged", True): vectors - backward_hidden,
            ("gradients exchanged", False): backward_hidden,
            ("dense gradients added up", True): reduced - reduced_hidden,
            ("dense gradients added up", False): reduced_hidden,
            ("optimiser of dense layers", True): optimiser_step_time(
                parameters, state=4.0, gradient=2.0, weight=2.0, memory_rate=machine.memory_rate
            ),
            ("fixed", True): self.fixed,
        }
        return found

    def _vectors(self, costs: TableCosts, cluster: Cluster, machine: SustainedRates) -> Seconds:
        """Until every chip has the vectors of its samples, or has sent back their gradients."""
        inside, chips = float(cluster.dimensions[0].size), float(cluster.accelerators)
        if not self.relayed or not 1.0 < inside < chips:
            return exchange_time(costs.vectors, machine, group=chips, stride=1.0)
        within = exchange_time(costs.vectors, machine, group=inside, stride=1.0)
        return within + exchange_time(costs.crossing, machine, group=chips / inside, stride=inside)

    def dense(self, step: DlrmStep, cluster: Cluster) -> Mapping[str, Seconds]:
        """Seconds of dense operations on one chip's samples, by place and phase; no placement changes them."""
        machine = SustainedRates.of(cluster, step.matrix_element, software=False)
        chip = cluster.chip
        pace = chip.matrix_rate(step.matrix_element) / chip.matrix_rate("bf16") if "fp16" in chip.matrix_rates else 1.0
        workload = with_backward(dlrm(step.shape, batch=max(1, round(step.batch / cluster.accelerators))))
        found: dict[str, Seconds] = dict.fromkeys(
            ("bottom forward", "top forward", "bottom backward", "top backward"), 0.0
        )
        for block in workload.blocks:
            for op in block.operations:
                if op.part == "embeddings" or isinstance(op.kind, Lookup) or op.fused:
                    continue
                if self.fused and isinstance(op.kind, Pointwise) and op.part.endswith("layers"):
                    continue
                where = "bottom" if op.part == "bottom layers" else "top"
                when = "forward" if op.phase is Phase.FORWARD else "backward"
                found[f"{where} {when}"] = found[f"{where} {when}"] + _kernel(op, block, workload.sizes, machine, pace)
        return found

    def ranked_by(self, candidates: Sequence[tuple[DlrmStep, TablePlacement]], system: Cluster, /) -> Sequence[float]:
        """Seconds; dense layers are computed once a step, because no placement changes them."""
        dense = {step: self.dense(step, system) for step in dict.fromkeys(step for step, _ in candidates)}
        found = []
        for step, placement in candidates:
            times = self.times(step, system, _costs(step, system, placement), dense=dense[step])
            found.append(float(_exposed(times)))
        return found

    def violations(self, workload: DlrmStep, system: Cluster, decision: TablePlacement, /) -> tuple[Violation, ...]:
        """Whether it fits."""
        held = self.memory(workload, system.accelerators, _costs(workload, system, decision))
        return _violations(sum(part.bytes for part in held), float(system.chip.memory.capacity))

    def estimate(self, step: DlrmStep, cluster: Cluster, placement: TablePlacement) -> DlrmEstimate:
        """One placement, with the range of its time."""
        chips = cluster.accelerators
        costs = _costs(step, cluster, placement)
        parts = self.times(step, cluster, costs)
        memory = self.memory(step, chips, costs)
        capacity = float(cluster.chip.memory.capacity)
        return Estimate(
            workload=step,
            decision=placement,
            contributions=tuple(
                Contribution(
                    name=name,
                    part=name,
                    time=float(time),
                    exposed=exposed,
                    resource=_resource(name),
                    law=_LAWS.get(name, "kernel_time"),
                )
                for (name, exposed), time in parts.items()
                if exposed or float(time) > 0
            ),
            memory=memory,
            capacity=capacity,
            violations=_violations(sum(part.bytes for part in memory), capacity),
            work=step_flops(step.shape, step.batch),
            chips=chips,
            peak=float(np.max(cluster.chip.matrix_rate(step.matrix_element))),
            facts={"samples_per_second": step.batch / float(_exposed(parts))},
            ranges={"time": self._range(step, cluster, costs)},
        )

    def _range(self, step: DlrmStep, cluster: Cluster, costs: TableCosts) -> Range:
        over: tuple[Cluster, Number] | None = None
        if self.network_error > 1.0:
            # What collectives are off by over such links has the doubt of their numbers in it.
            sampler = Stratified(self.samples, self.seed)
            over = (cluster, model_error_column(self.network_error, sampler, name=EXCHANGES))
        found = time_range(
            lambda machine: _exposed(self.times(step, machine, costs, over=over)),
            cluster,
            error=self.error,
            samples=self.samples,
            seed=self.seed,
            level=self.level,
        )
        return found if over is None else replace(found, varied=(*found.varied, EXCHANGES))

    def memory(self, step: DlrmStep, chips: int, costs: TableCosts) -> tuple[MemoryPart, ...]:
        """What the fullest chip holds."""
        width = element_bytes(step.shape.element)
        batch = max(1.0, step.batch / chips)
        parameters = dense_parameters(step.shape)
        dense = weight_bytes(parameters, each=_STATE + width, data_parallel=1.0, zero=0.0)
        kept = activation_bytes(batch * _activations(step.shape), layers=1.0, in_flight=1.0)
        buffers = 2.0 * float(costs.vectors + costs.indices)
        return (
            MemoryPart(name="tables and their states", bytes=float(costs.memory), law="weight_bytes"),
            MemoryPart(name="dense layers and their states", bytes=float(dense), law="weight_bytes"),
            MemoryPart(name="activations", bytes=float(kept), law="activation_bytes"),
            MemoryPart(name="sent and received", bytes=buffers, law="activation_bytes"),
        )


_LAWS = {
    "indices exchanged": "nested_all_to_all_time",
    "vectors exchanged": "nested_all_to_all_time",
    "gradients exchanged": "nested_all_to_all_time",
    "dense gradients added up": "nested_all_reduce_time",
    "optimiser of dense layers": "optimiser_step_time",
}


def _resource(name: str) -> str:
    if "exchanged" in name or "added up" in name:
        return "network"
    return "host" if name == "fixed" else "arithmetic or memory" if name.startswith("dense") else "memory"


def _exposed(parts: Mapping[tuple[str, bool], Seconds]) -> Seconds:
    """The parts that nothing hides, in all."""
    return sum((part for (_, exposed), part in parts.items() if exposed), start=0.0)


def _violations(memory: float, capacity: float) -> tuple[Violation, ...]:
    if memory <= capacity:
        return ()
    return (
        Violation(
            name="memory",
            problem=f"the fullest chip needs {show(memory, BYTES)} and has {show(capacity, BYTES)}",
            cures=(),
        ),
    )


def _costs(step: DlrmStep, cluster: Cluster, placement: TablePlacement) -> TableCosts:
    chips = cluster.accelerators
    nodes = -(-chips // cluster.dimensions[0].size)
    return table_costs(step.shape, placement, batch=step.batch, chips=chips, nodes=nodes, elements=step.tables)


@cache
def step_flops(shape: Dlrm, batch: int) -> float:
    """FLOP of a step, forward and backward."""
    whole = with_backward(dlrm(shape, batch=batch))
    return sum(whole.flops(phase=phase) for phase in (Phase.FORWARD, Phase.BACKWARD))


@cache
def dense_parameters(shape: Dlrm) -> float:
    """Learned numbers outside tables."""
    return float(dlrm(shape, batch=1).parameters() - sum(each.parameters for each in shape.tables))


def _kernel(
    op: Operation, block: Block, sizes: Mapping[str, float], machine: SustainedRates, pace: Fraction
) -> Seconds:
    """One dense operation: a product by its shape, anything else by the bytes it moves."""
    traffic = sum(block.tensor_of[name].bytes(sizes) for name in (*op.inputs, *op.outputs))
    work = op.kind.work().flops(sizes)
    rate: Number = machine.vector_rate
    if isinstance(op.kind, Contraction):
        first, second = (set(dims) for dims in op.kind.signature.inputs)
        (result,) = op.kind.signature.outputs
        rate = machine.matrix_rate
        shared = first & second & set(result)
        # Many small products at once, as pairs of vectors are, run in kernels of their own and are bound by memory.
        if machine.units is not None and machine.tile is not None and not shared:
            rows, columns = _points(first - second, sizes), _points(second - first, sizes)
            depth: Number = _points((first & second) - set(result), sizes)
            # Gradients of weights are small and deep: libraries cut them along their depth, to fill the chip.
            pieces = np.clip(
                4.0 * machine.tile * machine.units / (rows * columns), 1.0, np.maximum(1.0, depth / _PIECE)
            )
            filled = wave_efficiency(rows, columns, pieces, units=machine.units, tile=machine.tile)
            depth = depth / pieces
            # Starting and writing a tile takes as long in every type, so it is worth fewer steps of a slower one.
            half = machine.gemm_k_half * pace
            rate = rate * filled * depth_efficiency(depth, half=half)
    return machine.kernel_launch_time + kernel_time(work, traffic, compute_rate=rate, memory_rate=machine.memory_rate)


@cache
def _activations(shape: Dlrm) -> float:
    """Bytes that one sample leaves for the backward pass; rows are fetched and added at once."""
    workload = dlrm(shape, batch=1)
    return sum(
        tensor.bytes(workload.sizes)
        for block in workload.blocks
        for tensor in block.tensors
        if "batch" in tensor.dims and not any(dim.startswith(("pooled", "rows")) for dim in tensor.dims)
    )


def _points(dims: set[str], sizes: Mapping[str, float]) -> float:
    return float(prod(sizes[dim] for dim in dims))
