"""The numbers of a cluster that a time depends on, each a float or a column of the table."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from volvelle.estimators.calibration import Calibrations, calibrations_of, fitted_constants
from volvelle.estimators.factored import NETWORK
from volvelle.estimators.own_shapes import OwnShapes
from volvelle.laws.hybrid_memory import hybrid_memory_rate
from volvelle.laws.nested_collectives import Tier
from volvelle.laws.network.contention import contended_rate
from volvelle.mapping.parallelism import MappingTable
from volvelle.mapping.placement import members
from volvelle.quantities import Bytes, BytesPerSecond, Count, FlopPerSecond, Fraction, Number, Seconds, is_plainly
from volvelle.system.cluster import Cluster
from volvelle.system.topologies import AbstractTopology
from volvelle.workload.elements import element_bytes
from volvelle.workload.training import TrainingStep

_WIDE = element_bytes("bf16")
_HOST_STREAM = 0.8
"""Share of the peak of a server's memory that a copy sustains."""


Part = TypeVar("Part", "SustainedRates", "NetworkLevel")


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkLevel:
    """One network dimension, as one chip sees it."""

    name: str
    topology: AbstractTopology
    rate: BytesPerSecond
    latency: Seconds
    setup: Seconds
    fill: Seconds
    contention: Fraction
    reduces: bool
    reduction_efficiency: Fraction
    unhidden: Fraction = 0.0

    def sustained(self, chips: Count) -> BytesPerSecond:
        """Rate in a well-ordered collective over so many units."""
        rate = self.rate * self.topology.neighbourly(chips)
        if is_plainly(self.contention, 0.0):
            return rate
        return contended_rate(rate, chips, contention=self.contention)


@dataclass(frozen=True, slots=True, kw_only=True)
class SustainedRates:
    """Sustained rates of a cluster."""

    matrix_rate: FlopPerSecond
    wide_matrix_rate: FlopPerSecond
    """In 16 bits, for products that stay in them."""
    cast: Fraction | None
    """Bytes of a narrow element over those of a wide one; None: products are not cast."""
    vector_rate: FlopPerSecond
    memory_rate: BytesPerSecond
    buffer: Bytes
    capacity: Bytes
    expansion: Bytes
    """Of a second tier of memory; 0: there is none."""
    expansion_rate: BytesPerSecond
    units: Count | None
    tile: Count | None
    gemm_k_half: Count
    kernel_launch_time: Seconds
    host_dispatch_time: Seconds
    routing_dispatch: Number
    plain_dispatch: Number
    attention_efficiency: Fraction
    attention_kv_half: Count
    communication_sm_share: Fraction
    tensor_exposure: Fraction
    hand_over_exposure: Fraction
    host_rate: BytesPerSecond | None
    """Each direction, as far as the host's memory keeps up with all its chips at once."""
    host_memory: Bytes | None
    """A chip's share of it."""
    host_memory_rate: BytesPerSecond | None
    loss_bytes: Bytes
    sharded_loss_bytes: Bytes | None
    gradient_copy_bytes: Bytes
    weight_shard_bytes: Bytes | None
    gather_copy_bytes: Bytes
    reduce_copy_bytes: Bytes
    wide_reduce_copy_bytes: Bytes
    gradient_add_bytes: Bytes
    list_gather_time: Seconds
    list_reduce_time: Seconds
    list_restore_time: Seconds
    memory_margin: Fraction
    levels: tuple[NetworkLevel, ...]
    spans: tuple[int, ...]
    own_shapes: OwnShapes | None = None
    """What own runs tell of products by their shapes; None: nothing, or already taken into the rates."""

    @classmethod
    def of(
        cls, cluster: Cluster, element: str, calibration: Calibrations | None = None, *, software: bool = True
    ) -> "SustainedRates":
        """What a cluster sustains for products of one element type; see :func:`fitted_constants`."""
        chip = cluster.chip
        fitted = fitted_constants(cluster, element, calibration, software=software)
        wide = element if element_bytes(element) >= _WIDE else "bf16"
        in_16bit = fitted if wide == element else fitted_constants(cluster, wide, calibration, software=software)
        second = chip.memories[1] if len(chip.memories) > 1 else None
        slower = _network_factor(cluster, element, calibration) if software else 1.0
        host_rate, host_memory_rate = cluster.host_rate, cluster.host_memory_rate
        if host_memory_rate is not None:
            host_memory_rate = _HOST_STREAM * host_memory_rate
            host_rate = None if host_rate is None else np.minimum(host_rate, host_memory_rate)
        return cls(
            matrix_rate=chip.matrix_rate(element) * fitted.matrix_efficiency,
            wide_matrix_rate=chip.matrix_rate(wide) * in_16bit.matrix_efficiency,
            cast=None if wide == element else element_bytes(element) / element_bytes(wide),
            vector_rate=chip.vector_rate(),
            memory_rate=chip.memory.rate * fitted.memory_efficiency,
            buffer=chip.buffer,
            capacity=chip.memory.capacity,
            expansion=second.capacity if second else 0.0,
            expansion_rate=second.rate * fitted.memory_efficiency if second else chip.memory.rate,
            units=chip.units,
            tile=chip.tile,
            gemm_k_half=fitted.gemm_k_half,
            kernel_launch_time=fitted.kernel_launch_time,
            host_dispatch_time=fitted.host_dispatch_time,
            routing_dispatch=fitted.routing_dispatch,
            plain_dispatch=fitted.plain_dispatch,
            attention_efficiency=fitted.attention_efficiency,
            attention_kv_half=fitted.attention_kv_half,
            communication_sm_share=fitted.communication_sm_share,
            tensor_exposure=fitted.tensor_exposure,
            hand_over_exposure=fitted.hand_over_exposure,
            host_rate=host_rate,
            host_memory=cluster.host_memory,
            host_memory_rate=host_memory_rate,
            loss_bytes=fitted.loss_bytes,
            sharded_loss_bytes=fitted.sharded_loss_bytes,
            gradient_copy_bytes=fitted.gradient_copy_bytes,
            weight_shard_bytes=fitted.weight_shard_bytes,
            gather_copy_bytes=fitted.gather_copy_bytes,
            reduce_copy_bytes=fitted.reduce_copy_bytes,
            wide_reduce_copy_bytes=fitted.wide_reduce_copy_bytes,
            gradient_add_bytes=fitted.gradient_add_bytes,
            list_gather_time=fitted.list_gather_time,
            list_reduce_time=fitted.list_reduce_time,
            list_restore_time=fitted.list_restore_time,
            memory_margin=fitted.memory_margin,
            levels=tuple(
                NetworkLevel(
                    name=dimension.name,
                    topology=dimension.topology,
                    rate=dimension.link.sustained / slower,
                    latency=dimension.link.latency * slower,
                    setup=dimension.link.setup * slower,
                    fill=dimension.link.fill * slower,
                    contention=dimension.link.contention,
                    reduces=dimension.link.reduces,
                    reduction_efficiency=dimension.link.reduction_efficiency,
                    unhidden=dimension.link.unhidden,
                )
                for dimension in cluster.dimensions
            ),
            spans=cluster.spans,
            own_shapes=_own_shapes(cluster, element, calibration) if software else None,
        )

    def shaped(self, step: TrainingStep, table: MappingTable) -> "SustainedRates":
        """The machine as own runs have it for products of the shapes that layouts have, a row each."""
        if self.own_shapes is None:
            return self
        slower = self.own_shapes.factor(step, table)
        return replace(self if slower is None else self._slowed(slower), own_shapes=None)

    def at_best(self) -> "SustainedRates":
        """The machine as it is for the products that own runs say it is quickest with."""
        return self if self.own_shapes is None else replace(self._slowed(self.own_shapes.least), own_shapes=None)

    def _slowed(self, factor: Number) -> "SustainedRates":
        """All that the chip does by itself takes longer by a factor."""
        return replace(
            self,
            matrix_rate=self.matrix_rate / factor,
            wide_matrix_rate=self.wide_matrix_rate / factor,
            memory_rate=self.memory_rate / factor,
            expansion_rate=self.expansion_rate / factor,
            kernel_launch_time=self.kernel_launch_time * factor,
            host_dispatch_time=self.host_dispatch_time * factor,
        )

    @property
    def holds(self) -> Bytes:
        """Bytes in both tiers of memory."""
        return self.capacity if is_plainly(self.expansion, 0.0) else self.capacity + self.expansion

    @property
    def room(self) -> Bytes:
        """What may be held, a margin left free."""
        return self.holds if is_plainly(self.memory_margin, 0.0) else self.holds * (1.0 - self.memory_margin)

    @property
    def host_room(self) -> Bytes | None:
        """What a chip may hold in its host's memory, the same margin left free."""
        return None if self.host_memory is None else self.host_memory * (1.0 - np.maximum(self.memory_margin, 0.0))

    def filled(self, used: Bytes) -> "SustainedRates":
        """The machine when so much is held: what local memory has no room for is read from the second tier."""
        expanded = np.minimum(np.maximum(used - self.capacity, 0.0), self.expansion)
        rate = hybrid_memory_rate(
            np.minimum(used, self.capacity), expanded, local_rate=self.memory_rate, expanded_rate=self.expansion_rate
        )
        return replace(self, memory_rate=np.where(expanded > 0.0, rate, self.memory_rate))

    def rows(self) -> int:
        """How many variants of the machine there are: the length of its columns, or one."""
        values = [getattr(self, field.name) for field in fields(self)]
        values += [getattr(level, field.name) for level in self.levels for field in fields(level)]
        values += [value for level in self.levels for value in _parameters(level.topology).values()]
        return max([1, *(value.size for value in values if isinstance(value, np.ndarray))])

    def take(self, rows: NDArray[np.intp] | slice) -> "SustainedRates":
        """The machine of some rows of the table."""

        def cut(value: Any) -> Any:
            if isinstance(value, AbstractTopology):
                columns = {name: part for name, part in _parameters(value).items() if isinstance(part, np.ndarray)}
                return replace(cast("Any", value), **{n: cut(c) for n, c in columns.items()}) if columns else value
            return value[rows] if isinstance(value, np.ndarray) and value.size > 1 else value

        def cut_all(part: Part) -> Part:
            return replace(part, **{field.name: cut(getattr(part, field.name)) for field in fields(part)})

        return replace(cut_all(self), levels=tuple(cut_all(level) for level in self.levels))

    def tiers(self, group: Count, stride: Count, *, uniform: bool = True) -> Sequence[Tier]:
        """What a group of ranks has of every network dimension; its tightest cut only if `uniform` traffic needs it."""
        return self.tiers_of(members(group, stride, self.spans), uniform=uniform)

    def tiers_of(self, along: Sequence[Count], *, uniform: bool = True) -> Sequence[Tier]:
        """The same of a group that has so many members along each dimension, innermost first."""
        return [
            Tier(
                chips=chips,
                rate=level.sustained(chips),
                latency=level.latency,
                steps=level.topology.steps(chips),
                bisection=level.topology.evenly(chips) if uniform else 1.0,
                setup=level.setup,
                fill=level.fill,
                reduces=level.reduces,
                reduction_efficiency=level.reduction_efficiency,
                unhidden=level.unhidden,
            )
            for level, chips in zip(self.levels, along, strict=True)
        ]


def _network_factor(cluster: Cluster, element: str, calibration: Calibrations | None) -> Number:
    """By what exchanges take longer, by runs of one's own."""
    software = (calibrations_of(cluster) if calibration is None else calibration).software
    return 1.0 if software is None else software.factor(NETWORK, cluster.chip.family, element)


def _own_shapes(cluster: Cluster, element: str, calibration: Calibrations | None) -> OwnShapes | None:
    known = calibrations_of(cluster) if calibration is None else calibration
    if known.software is None or known.software.own_runs is None or not known.own_runs(cluster.chip, element):
        return None
    return known.software.own_runs().shapes


def _parameters(topology: AbstractTopology) -> dict[str, Any]:
    """Numbers that a shape is made with; one of them may be a column."""
    return {part.name: getattr(topology, part.name) for part in fields(topology)} if is_dataclass(topology) else {}
