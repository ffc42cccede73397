"""Fields of a machine by dotted names: what they are, what they are worth, and a machine with others.

``chip.memory.rate``, ``chip.matrix_rate``, ``scale_up.rate`` (of the link of the innermost network dimension) and
``host_rate`` are numbers and may be columns, and so are the fitted constants, ``calibration.matrix_efficiency`` and
the others. ``accelerators``, ``scale_up.size``, ``chip`` and the like make another
machine: they are set one value at a time. Network dimensions are ``scale_up`` (innermost), ``scale_out`` (outermost),
or ``network.0``, ``network.1`` … from the inside.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from volvelle.domains import SIZE, NumberDomain, domains_of
from volvelle.errors import DescriptionError, UnknownNameError
from volvelle.estimators.calibration import CONSTANTS, ERRORS, fitted_constants, with_constants
from volvelle.quantities import Number, Quantity
from volvelle.system.chip import Chip, Memory
from volvelle.system.cluster import Cluster
from volvelle.system.link import Link

_LINK = domains_of(Link)
_CHIP = {name.replace("_rates", "_rate"): domain for name, domain in domains_of(Chip).items()}
_MEMORY = {name: domains_of(Memory)[name] for name in ("rate", "capacity")}
_CLUSTER = domains_of(Cluster)
_ROOMS: Mapping[str, Mapping[str, NumberDomain]] = {
    "chip": _CHIP,
    "calibration": {name: domain for name, domain in CONSTANTS.items() if name not in ERRORS},
    "chip.memory": {**_MEMORY, "capacity": SIZE},
    "chip.expansion": _MEMORY,
    "": _CLUSTER,
}
"""Parts of a machine besides its network dimensions, and the domains of their numbers."""
_RATES = ("chip.matrix_rate", "chip.vector_rate")
"""Those that stand for the rates in all element types."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A number of a machine that may be a column."""

    domain: NumberDomain

    @property
    def kind(self) -> Quantity | None:
        """None: a plain number without a unit."""
        return self.domain.kind


def dimension_names(cluster: Cluster) -> tuple[str, ...]:
    """What the network dimensions of a machine are called in a study, innermost first."""
    inner = [f"network.{place}" for place in range(1, len(cluster.dimensions) - 1)]
    return ("scale_up", *inner, *(["scale_out"] if len(cluster.dimensions) > 1 else []))


def dimension_place(name: str, cluster: Cluster) -> int | None:
    """Which dimension a name stands for; None: none."""
    count = len(cluster.dimensions)
    numbered = {f"network.{place}": place for place in range(count)}
    named = {"scale_up": 0} | ({"scale_out": count - 1} if count > 1 else {})
    return (numbered | named).get(name)


def _domains(room: str, cluster: Cluster) -> Mapping[str, NumberDomain]:
    """Numbers of a part of a machine, and their domains; none where it has no such part."""
    return _LINK if dimension_place(room, cluster) is not None else _ROOMS.get(room, {})


def field_names(cluster: Cluster) -> tuple[str, ...]:
    """Every numeric field of a machine."""
    rooms = [*_ROOMS, *dimension_names(cluster)]
    return (*(f"{room}.{name}" for room in rooms if room for name in _domains(room, cluster)), *_CLUSTER)


def numeric_field(path: str, cluster: Cluster) -> Field | None:
    """What a dotted name stands for, if for a number of this machine."""
    room, _, name = path.rpartition(".")
    domains = _domains(room, cluster)
    return Field(domain=domains[name]) if name in domains else None


def value_of(path: str, cluster: Cluster) -> Number:
    """What a field is worth on a machine."""
    if numeric_field(path, cluster) is None:
        raise UnknownNameError.among("field of the machine", path, field_names(cluster))
    room, _, name = path.rpartition(".")
    stated = _reference_rate(cluster.chip, name) if path in _RATES else getattr(_part(room, cluster), name, None)
    if stated is None:
        raise DescriptionError(
            f"{cluster.name!r} states no {path}, so nothing can be taken relative to it; give values with units"
        )
    value: Number = stated
    return value


def _part(room: str, cluster: Cluster) -> object:
    """The part of a machine that has the fields of a room; None: it has no such part."""
    chip = cluster.chip
    match room:
        case "":
            return cluster
        case "chip":
            return chip
        case "calibration":
            return fitted_constants(cluster, _reference_element(chip))
        case "chip.memory" | "chip.expansion":
            return next(iter(chip.memories[room == "chip.expansion" :]), None)
    place = dimension_place(room, cluster)
    return None if place is None else cluster.dimensions[place].link


def with_values(cluster: Cluster, values: Mapping[str, Number]) -> Cluster:
    """The machine with some fields replaced, each by a number or a column."""
    changes: dict[str | int, dict[str, Any]] = {room: {} for room in _ROOMS}
    for path, value in values.items():
        room, _, name = path.rpartition(".")
        if numeric_field(path, cluster) is None:
            raise DescriptionError(
                f"{cluster.name!r} has no {path}: its network dimensions are {', '.join(dimension_names(cluster))}"
            )
        if path in _RATES:
            scale = value / np.asarray(_reference_rate(cluster.chip, name))
            rates: Mapping[str, Number] = getattr(cluster.chip, f"{name}s")
            changes["chip"][f"{name}s"] = {element: rate * scale for element, rate in rates.items()}
        else:
            place = dimension_place(room, cluster)
            changes.setdefault(room if place is None else place, {})[name] = value
    own, chip = changes[""], changes["chip"]
    if changes["chip.memory"] or changes["chip.expansion"]:
        first = replace(cluster.chip.memory, **changes["chip.memory"])
        chip["memories"] = (first, *_expanded(cluster.chip, changes["chip.expansion"]))
    if chip:
        own["chip"] = replace(cluster.chip, **chip)
    if any(isinstance(room, int) for room in changes):
        own["dimensions"] = tuple(
            replace(part, link=replace(part.link, **changes[place])) if place in changes else part
            for place, part in enumerate(cluster.dimensions)
        )
    return with_constants(replace(cluster, **own) if own else cluster, changes["calibration"])


def _expanded(chip: Chip, values: Mapping[str, Any]) -> tuple[Memory, ...]:
    """Tiers behind the first; one that the chip lacks needs both its numbers."""
    if len(chip.memories) > 1:
        return (replace(chip.memories[1], **values), *chip.memories[2:])
    if not values:
        return ()
    if set(values) != set(_MEMORY):
        raise DescriptionError(
            f"chip {chip.name!r} has no expansion memory; set both chip.expansion.rate and chip.expansion.capacity"
        )
    return (Memory(name="expansion memory", **values),)


def _reference_rate(chip: Chip, name: str) -> Number:
    """The rate that stands for all element types: in 16 bits, or the first there is; other types keep their ratio."""
    if name == "vector_rate":
        return chip.vector_rate()
    if not chip.matrix_rates:
        raise DescriptionError(f"chip {chip.name!r} has no matrix rate, so chip.matrix_rate cannot be an axis")
    return chip.matrix_rates[_reference_element(chip)]


def _reference_element(chip: Chip) -> str:
    """The element type that stands for all: one of 16 bits, or the first there is."""
    return next((name for name in ("bf16", "fp16") if name in chip.matrix_rates), next(iter(chip.matrix_rates), "bf16"))
