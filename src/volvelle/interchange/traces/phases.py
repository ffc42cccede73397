"""Phases of an application: nodes with cycles of computation and messages, and links between their labels.

Fields: `nodes` of {label, data: {Layer: {fwd_pass_comp_cycles, fwd_pass_msg_size, fwd_pass_collective,
comms_time_fwd_cycles, comms_scaleout_time_fwd_cycles, source, destination, GPU_tiles, GPU_cards, CPU_nodes}}}, and
`links` of {source, target}. Cycles need a clock rate. A link from a phase to itself is dropped and counted.
"""

from collections import Counter
from pathlib import Path
from typing import Any, Final

from volvelle.errors import DescriptionError, brief
from volvelle.interchange.traces.collective_words import collective_named
from volvelle.interchange.traces.trace_file import JsonObjects, finite, refuse_many
from volvelle.workload.tensor_layout import Collective
from volvelle.workload.trace.order import running_order
from volvelle.workload.trace.values import Communication, Operation, Trace

_CYCLES: Final = ("fwd_pass_comp_cycles", "comms_time_fwd_cycles", "comms_scaleout_time_fwd_cycles")


def read_phases(text: str, file: Path, *, clock: float | None) -> Trace:
    """Every phase as its computation and then its message; `clock` are cycles a second."""
    refuse_many(text.count('"label"'), file)
    objects = JsonObjects(text, file, "nodes")
    layers: dict[str, dict[str, Any]] = {}
    for place, told in enumerate(objects):
        label, layer = _layer(told, f"{str(file)!r}, node {place}")
        if label in layers:
            raise DescriptionError(f"{str(file)!r}: node {label!r} is there twice; give every node a label of its own")
        layers[label] = layer
    if not layers:
        raise DescriptionError(f"{str(file)!r} has no nodes; give a list of phases")
    if clock is None and any(_cycles(layer, label, file) for label, layer in layers.items()):
        raise DescriptionError(
            f"{str(file)!r} counts in cycles, and nobody says how many a second has; give --clock, like 1.6GHz"
        )
    labels = list(layers)
    numbers = {label: number for number, label in enumerate(labels)}
    after, left_out = _links(objects.rest.get("links"), numbers, file)
    order = running_order(range(len(labels)), after, where=repr(str(file)))
    operations: list[Operation] = []
    ends: dict[int, int] = {}
    for number in order:
        label = labels[number]
        _phase(
            label, layers[label], tuple(sorted(ends[other] for other in after.get(number, ()))), operations, clock, file
        )
        ends[number] = len(operations) - 1
    return Trace(
        format="phases",
        operations=tuple(operations),
        streams=("compute", "communication"),
        left_out={name: count for name, count in left_out.items() if count},
    )


def _phase(
    label: str,
    layer: dict[str, Any],
    after: tuple[int, ...],
    operations: list[Operation],
    clock: float | None,
    file: Path,
) -> None:
    rate = clock or 1.0
    computed, spoken, outside = (_number(layer, name, label, file) for name in _CYCLES)
    size = _number(layer, "fwd_pass_msg_size", label, file)
    word = layer.get("fwd_pass_collective")
    speaks = size > 0.0 or spoken + outside > 0.0
    if computed > 0.0 or not speaks:
        operations.append(Operation(label, label, 0, computed / rate, after))
        after = (len(operations) - 1,)
    if speaks:
        kind = collective_named(word) if isinstance(word, str) else None
        group = 2 if kind is Collective.POINT_TO_POINT else _group(layer)
        exchanged = None if kind is None else Communication(kind, size, group)
        taken = (spoken + outside) / rate
        name = f"{label} {word}" if isinstance(word, str) else label
        operations.append(
            Operation(name, label, 1, taken if taken > 0.0 else None, after, communication=exchanged, moved=size)
        )


def _group(layer: dict[str, Any]) -> int:
    """All tiles of all cards of all nodes take part."""
    found = 1
    for name in ("GPU_tiles", "GPU_cards", "CPU_nodes"):
        count = layer.get(name)
        if type(count) is not int or not 0 < count < 2**24:
            return 0
        found *= count
    return found


def _layer(told: object, where: str) -> tuple[str, dict[str, Any]]:
    if not isinstance(told, dict) or not isinstance(told.get("label"), str):
        raise DescriptionError(f"{where} is {brief(told)}; a node is an object with a label and data")
    held = told.get("data")
    layer = held.get("Layer") if isinstance(held, dict) else None
    if not isinstance(layer, dict):
        raise DescriptionError(
            f"{where} ({told['label'][:80]!r}) has no data.Layer; write its cycles and messages there"
        )
    return told["label"][:200], layer


def _number(layer: dict[str, Any], name: str, label: str, file: Path) -> float:
    found = finite(layer.get(name, 0.0))
    if found is None or found < 0.0:
        raise DescriptionError(
            f"{str(file)!r}, node {label!r}: {name} is {brief(layer.get(name))}; write a number of zero or more"
        )
    return found


def _cycles(layer: dict[str, Any], label: str, file: Path) -> float:
    return sum(_number(layer, name, label, file) for name in _CYCLES)


def _links(told: object, numbers: dict[str, int], file: Path) -> tuple[dict[int, list[int]], Counter[str]]:
    left_out: Counter[str] = Counter()
    after: dict[int, list[int]] = {}
    if told is None:
        return after, left_out
    if not isinstance(told, list):
        raise DescriptionError(f"{str(file)!r}: links is {brief(told)}; write a list of source and target")
    for place, link in enumerate(told):
        ends = [link.get(side) for side in ("source", "target")] if isinstance(link, dict) else []
        known = [numbers[end] for end in ends if isinstance(end, str) and end in numbers]
        if len(known) != 2:
            raise DescriptionError(
                f"{str(file)!r}, link {place} is {brief(link)}; its source and target must be labels of nodes"
            )
        source, target = known
        if source == target:
            left_out["links of a phase to itself"] += 1
        else:
            after.setdefault(target, []).append(source)
    return {node: list(dict.fromkeys(before)) for node, before in after.items()}, left_out
