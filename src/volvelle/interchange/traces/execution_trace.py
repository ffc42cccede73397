"""PyTorch's execution trace (schemas 1.0.1 to 1.1.1-chakra.0.0.4): operations with sizes, without times.

Nodes contain each other; work is that of the innermost operations that have any. All run in the order of their numbers,
communication on a stream of its own: what touches its memory waits for it.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from volvelle.errors import DescriptionError, brief
from volvelle.interchange.traces.collective_words import collective_named, communication, is_communication
from volvelle.interchange.traces.kineto import Recorded
from volvelle.interchange.traces.tensors import ELEMENTS, arguments_of, said_of
from volvelle.interchange.traces.trace_file import JsonObjects, finite, refuse_many, whole_of
from volvelle.workload.elements import ELEMENT_BYTES
from volvelle.workload.tensor_layout import Collective
from volvelle.workload.trace.counting import Argument, moved_bytes, rank, tensors, work_of
from volvelle.workload.trace.operation_names import is_bookkeeping
from volvelle.workload.trace.order import running_order
from volvelle.workload.trace.values import Communication, Operation, Place, Trace, Work

_COMMUNICATION: Final = 3


@dataclass(slots=True)
class _Node:
    number: int
    parent: int
    name: str
    record: int
    inputs: tuple[Argument, ...]
    outputs: tuple[Argument, ...]
    storages: tuple[int, ...]
    work: Work | None
    communication: Communication | None
    below: int = -1

    @property
    def own(self) -> bool:
        """Whether what it does is not done by nodes inside it."""
        if self.communication is not None:
            return self.below < _COMMUNICATION
        return self.work is not None and self.work.kind != "view" and rank(self.work) > self.below


@dataclass(frozen=True, slots=True)
class ExecutionTrace:
    """An execution trace by itself, and what it adds to a profile of the same run."""

    trace: Trace
    recorded: Mapping[int, Recorded]


def read_execution_trace(text: str, file: Path) -> ExecutionTrace:
    """The trace, its nodes within each other resolved."""
    refuse_many(max(text.count('"id"'), text.count('"ctrl_deps"')), file)
    objects = JsonObjects(text, file, "nodes")
    nodes: dict[int, _Node] = {}
    for place, told in enumerate(objects):
        node = _node(told, f"{str(file)!r}, node {place}")
        if node.number in nodes:
            raise DescriptionError(
                f"{str(file)!r}: node {node.number} ({brief(node.name)}) is there twice; give every node a number of "
                "its own"
            )
        nodes[node.number] = node
    left_out: Counter[str] = Counter()
    above = {}
    for node in nodes.values():
        if node.parent in nodes and node.parent != node.number:
            above[node.number] = (node.parent,)
        elif node.parent not in nodes and node.parent > 1:
            left_out["parents that are not in the file"] += 1
    order = running_order(sorted(nodes), above, where=repr(str(file)))
    for number in reversed(order):
        node = nodes[number]
        if number in above:
            inside = _COMMUNICATION if node.communication is not None else rank(node.work)
            parent = nodes[node.parent]
            parent.below = max(parent.below, node.below, inside)
    schema = objects.rest.get("schema")
    operations, streams = _operations([nodes[number] for number in sorted(nodes)], left_out)
    if not operations:
        raise DescriptionError(f"{str(file)!r} has no operations; record with ExecutionTraceObserver around a step")
    trace = Trace(
        format=f"PyTorch execution trace, schema {schema if isinstance(schema, str) else 'not told'}",
        operations=operations,
        streams=streams,
        left_out=dict(left_out),
    )
    recorded = {
        node.record: Recorded(node.name, node.work, moved_bytes((*node.inputs, *node.outputs)))
        for node in nodes.values()
        if node.record > 0
    }
    return ExecutionTrace(trace, recorded)


def _operations(nodes: list[_Node], left_out: Counter[str]) -> tuple[tuple[Operation, ...], tuple[str, ...]]:
    found: list[Operation] = []
    last = -1
    busy: dict[int, int] = {}
    for node in nodes:
        if node.below >= 0 and not node.own:
            left_out["frames around other nodes"] += 1
            continue
        if not node.own and (node.work is not None or is_bookkeeping(node.name) or node.name.startswith("[pytorch")):
            left_out["views and frames"] += 1
            continue
        speaks = node.communication is not None
        waits = {busy[storage] for storage in node.storages if storage in busy}
        if speaks and last >= 0:
            waits.add(last)
        if speaks:
            busy.update(dict.fromkeys(node.storages, len(found)))
        else:
            last = len(found)
        found.append(
            Operation(
                node.name,
                str(node.number),
                1 if speaks else 0,
                after=tuple(sorted(waits)),
                work=node.work if node.own else None,
                communication=node.communication,
                place=Place.DEVICE,
                moved=moved_bytes((*node.inputs, *node.outputs)),
            )
        )
    return tuple(found), ("compute", "communication")


def _node(told: object, where: str) -> _Node:
    if not isinstance(told, dict):
        raise DescriptionError(f"{where} is {brief(told)}; a node is an object with id, name, inputs and outputs")
    number = whole_of(told.get("id"), "id", where=where)
    where = f"{where} (id {number})"
    name = told.get("name")
    if not isinstance(name, str) or not name:
        raise DescriptionError(f"{where}: name is {brief(name)}; name the operation")
    attributes = _attributes(told)
    parent = told.get("ctrl_deps", told.get("parent", 0))
    inputs, values = _sides(told, "inputs", "input")
    outputs, results = _sides(told, "outputs", "output")
    made = tuple(tensors(outputs))
    speaks = is_communication(name)
    return _Node(
        number,
        whole_of(parent, "its parent", where=where),
        name[:200],
        _whole(attributes.get("rf_id")),
        inputs,
        outputs,
        tuple(_storages(values) + _storages(results)),
        None if speaks else work_of(name, inputs, made, said_of(_plain_values(values))),
        _communication(name, attributes, inputs, values) if speaks else None,
    )


def _attributes(told: dict[str, Any]) -> dict[str, Any]:
    """Attributes of newer schemas, fields of older ones."""
    listed = told.get("attrs")
    if not isinstance(listed, list):
        return told
    return {
        one["name"]: one.get("value") for one in listed if isinstance(one, dict) and isinstance(one.get("name"), str)
    }


def _sides(told: dict[str, Any], side: str, old: str) -> tuple[tuple[Argument, ...], list[Any]]:
    """Sizes with types, and values, as both families of schemas write them."""
    found = told.get(side)
    if isinstance(found, dict):
        values = found.get("values")
        return arguments_of(found.get("shapes"), found.get("types")), values if isinstance(values, list) else []
    values = found if isinstance(found, list) else []
    return arguments_of(told.get(f"{old}_shapes"), told.get(f"{old}_types")), values


def _storages(values: list[Any]) -> list[int]:
    """Numbers of the memory that tensors lie in; one is [tensor, storage, offset, elements, bytes, device]."""
    found: list[int] = []
    for value in values:
        if isinstance(value, list):
            if len(value) == 6 and isinstance(value[5], str):
                if type(value[1]) is int and value[1]:
                    found.append(value[1])
            elif value and isinstance(value[0], list):
                found += [
                    part[1] for part in value if isinstance(part, list) and len(part) == 6 and type(part[1]) is int
                ]
    return found


def _plain_values(values: list[Any]) -> list[Any]:
    return [
        "" if isinstance(value, list) and len(value) == 6 and isinstance(value[5], str) else value for value in values
    ]


def _whole(value: object) -> int:
    return value if type(value) is int else -1


def _communication(
    name: str, attributes: dict[str, Any], inputs: tuple[Argument, ...], values: list[Any]
) -> Communication | None:
    word = attributes.get("collective_name")
    if not isinstance(word, str) or not word:
        said = [value for value in values if isinstance(value, str)] if name == "record_param_comms" else []
        word = next((value for value in said if collective_named(value) is not None), name)
    kind = collective_named(word)
    if kind is None or word == "wait":
        return None
    group = max(_whole(attributes.get("pg_size")), 0)
    each = ELEMENT_BYTES.get(ELEMENTS.get(str(attributes.get("dtype")), ""), 4.0)
    sent, received = (finite(attributes.get(f"{side}_msg_nelems"), most=2.0**60) for side in ("in", "out"))
    if sent is None and received is None:
        given = tensors(inputs)
        if not given:
            return None
        size = sum(tensor.bytes for tensor in given)
        return Communication(kind, size * (max(group, 1) if kind is Collective.ALL_GATHER else 1), group)
    return communication(kind, max(sent or 0.0, 0.0) * each, max(received or 0.0, 0.0) * each, group)
