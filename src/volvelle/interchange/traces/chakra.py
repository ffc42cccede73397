"""Chakra execution traces (schema of mlc-chakra 1.0.0): a `GlobalMetadata`, then a `Node` each behind its length.

Read without protobuf. `volvelle_seconds` and `volvelle_stream`, where a file has them, hold what whole microseconds
cannot. A collective's group stands in `comm_groups.json` beside the file, as ASTRA-sim reads it.
"""

import ast
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from volvelle.errors import DescriptionError, brief
from volvelle.interchange.traces import wire
from volvelle.interchange.traces.kineto_events import short_name
from volvelle.interchange.traces.tensors import arguments_of, said_of
from volvelle.interchange.traces.trace_file import refuse_many, seconds_of
from volvelle.workload.tensor_layout import Collective
from volvelle.workload.trace.counting import Argument, moved_bytes, tensors, work_of
from volvelle.workload.trace.order import running_order
from volvelle.workload.trace.values import Communication, Operation, Place, Trace, Work

_INVALID, _METADATA, _LOAD, _STORE, _COMPUTE, _SEND, _RECEIVE, _COLLECTIVE = range(8)
COLLECTIVES: Final = {
    0: Collective.ALL_REDUCE,
    1: Collective.BROADCAST,  # a sum at one rank: a broadcast run backwards
    2: Collective.ALL_GATHER,
    3: Collective.ALL_GATHER,  # what one rank gathers goes through its link as in an all-gather
    4: Collective.ALL_GATHER,
    5: Collective.BROADCAST,
    6: Collective.ALL_TO_ALL,
    7: Collective.REDUCE_SCATTER,
    8: Collective.REDUCE_SCATTER,
    9: Collective.ALL_REDUCE,  # a barrier, of no bytes
}
_MICRO: Final = 1e-6
_LONGEST_TEXT: Final = 200_000
"""Characters of a list of arguments that is looked at."""
_SIGNED: Final = frozenset((7, 9))
_ZIGZAG: Final = frozenset((15, 17))

Value = int | float | str | bool
"""Of an attribute."""


@dataclass(slots=True)
class ChakraNode:
    """A node as its file has it, in binary or in JSON."""

    number: int
    name: str = ""
    kind: int = 0
    control: list[int] = field(default_factory=list)
    data: list[int] = field(default_factory=list)
    seconds: float | None = None
    attributes: dict[str, Value] = field(default_factory=dict)
    inputs: tuple[Argument, ...] = ()
    outputs: tuple[Argument, ...] = ()
    said: tuple[str, ...] = ()


def looks_like_chakra(data: bytes) -> bool:
    """Whether bytes begin with a message behind its length that has a version or attributes, and end with one."""
    try:
        size, at = wire.read_varint(data[:16], 0)
        if size > len(data) - at or (size == 0 and len(data) == at):
            return False
        return all(number in (1, 2) and kind == wire.BYTES for number, kind, _ in wire.fields(data[at : at + size]))
    except DescriptionError:
        return False


def read_chakra(data: bytes, file: Path) -> Trace:
    """One rank's nodes."""
    nodes, version = chakra_nodes(data, file)
    return chakra_trace(nodes, file, f"Chakra {version}".strip())


def chakra_nodes(data: bytes, file: Path) -> tuple[list[ChakraNode], str]:
    """Nodes as the file has them, and the version it states."""
    nodes: list[ChakraNode] = []
    version = ""
    for place, message in enumerate(_messages(data, file)):
        try:
            if place == 0:
                version = next((str(_text(value)) for number, _, value in wire.fields(message) if number == 1), "")
                continue
            nodes.append(_node(message, f"{str(file)!r}, message {place}"))
        except DescriptionError as error:
            if str(file) in str(error):
                raise
            raise DescriptionError(f"{str(file)!r}, message {place}: {error}") from None
        refuse_many(len(nodes), file)
    return nodes, version


def _messages(data: bytes, file: Path) -> Iterator[bytes]:
    try:
        yield from wire.messages(data)
    except DescriptionError as error:
        raise DescriptionError(f"{str(file)!r}: {error}") from None


def chakra_trace(nodes: list[ChakraNode], file: Path, told: str) -> Trace:
    """Nodes in an order in which they can run, each on a stream."""
    if not nodes:
        raise DescriptionError(f"{str(file)!r} has no nodes; give a trace that has some")
    left_out: Counter[str] = Counter()
    after: dict[int, list[int]] = {}
    # Control dependencies say who contains whom where a trace was linked, and contradict the order of data there; the
    # feeder of Chakra does not look at them either. They are the order where nothing else is told.
    by_data = any(node.data for node in nodes)
    for node in nodes:
        if by_data:
            left_out["control dependencies, which say who contains whom"] += len(node.control)
        after[node.number] = list(dict.fromkeys(node.data if by_data else node.control))
    order = running_order([node.number for node in nodes], after, where=repr(str(file)))
    by_number = {node.number: node for node in nodes}
    place = {number: at for at, number in enumerate(order)}
    groups, notes = _groups(file)
    streams: dict[str, int] = {}
    found = []
    for number in order:
        node = by_number[number]
        work, exchanged = _work(node), _communication(node, groups)
        idle = node.kind in (_INVALID, _METADATA)
        if idle:
            left_out["nodes of metadata"] += 1
        host = node.attributes.get("is_cpu_op") is True and exchanged is None
        found.append(
            Operation(
                (node.name if host else short_name(node.name)) or "unnamed",
                str(number),
                streams.setdefault(_stream(node, host=host), len(streams)),
                0.0 if idle else node.seconds,
                tuple(sorted(place[other] for other in after[number])),
                None if host else work,
                exchanged,
                Place.HOST if idle or host else Place.DEVICE,
                moved=moved_bytes((*node.inputs, *node.outputs)) or (exchanged.size if exchanged else 0.0),
            )
        )
    if not any(operation.place is Place.DEVICE for operation in found):
        # A trace of a host alone: its operations are the work.
        found = [
            operation._replace(place=Place.DEVICE, work=_work(by_number[int(operation.node)]))
            if by_number[int(operation.node)].kind not in (_INVALID, _METADATA)
            else operation
            for operation in found
        ]
    return Trace(
        format=told,
        operations=tuple(found),
        streams=tuple(streams),
        left_out={name: count for name, count in left_out.items() if count},
        notes=notes,
    )


def _stream(node: ChakraNode, *, host: bool) -> str:
    own = node.attributes.get("volvelle_stream")
    if own is not None:
        return f"stream {own}"
    if host:
        return f"host thread {node.attributes.get('tid', 0)}"
    if node.kind in (_SEND, _RECEIVE, _COLLECTIVE):
        return "communication"
    return f"stream {node.attributes.get('stream', node.attributes.get('tid', 0))}"


def _work(node: ChakraNode) -> Work | None:
    size, flop = (_number(node, name) for name in ("tensor_size", "num_ops"))
    if node.kind in (_LOAD, _STORE):
        return None if size is None else Work("copy", traffic=size)
    if node.kind != _COMPUTE:
        return None
    if flop is not None and size is not None:
        return Work("given", matrix_flop=flop, traffic=size, element="bf16")
    return work_of(node.name.rsplit("(", 1)[0], node.inputs, tuple(tensors(node.outputs)), node.said)


def _number(node: ChakraNode, name: str) -> float | None:
    value = node.attributes.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0.0 <= value < 1e30 else None


def _communication(node: ChakraNode, groups: dict[str, int]) -> Communication | None:
    if node.kind not in (_SEND, _RECEIVE, _COLLECTIVE):
        return None
    size = _number(node, "comm_size")
    if size is None:
        return None
    if node.kind != _COLLECTIVE:
        ends = [_number(node, name) for name in ("comm_src", "comm_dst")]
        apart = 1 if None in ends else int(abs((ends[0] or 0.0) - (ends[1] or 0.0)))
        return Communication(Collective.POINT_TO_POINT, size, 2, max(min(apart, 2**24), 1))
    kind = COLLECTIVES.get(int(_number(node, "comm_type") or 0))
    if kind is None or "comm_type" not in node.attributes:  # 0 is an all-reduce: one that is not told is none
        return None
    group = groups.get(str(node.attributes.get("pg_name", "")), 0)
    if kind is Collective.ALL_GATHER:  # what a rank gives, of what all have in the end
        return Communication(kind, size, group) if group == 0 else Communication(kind, size * group, group)
    return Communication(kind, size, group)


def _groups(file: Path) -> tuple[dict[str, int], tuple[str, ...]]:
    """Ranks of every group, from the file beside the trace."""
    beside = file.parent / "comm_groups.json"
    if not beside.is_file():
        return {}, ()
    try:
        told = json.loads(beside.read_bytes()[: 2**26])
        return {str(name): len(ranks) for name, ranks in told.items() if isinstance(ranks, list)}, (
            f"groups of ranks are those of {beside.name}",
        )
    except (ValueError, AttributeError, OSError, RecursionError):
        raise DescriptionError(f"{str(beside)!r} does not name lists of ranks; mend it or take it away") from None


# -- the wire ----------------------------------------------------------------------------------------------------------


def _node(message: bytes, where: str) -> ChakraNode:
    node = ChakraNode(-1)
    seen = False
    for number, kind, value in wire.fields(message):
        if number == 1:
            node.number, seen = _integer(value, where), True
        elif number == 2:
            node.name = _text(value)[:200]
        elif number == 3:
            node.kind = _integer(value, where)
        elif number in (4, 5):
            (node.control if number == 4 else node.data).extend(_integers(kind, value))
        elif number == 7:
            node.seconds = seconds_of(_integer(value, where), unit=_MICRO, where=f"{where} (id {node.number})")
        elif number in (8, 9) and isinstance(value, bytes):
            arguments, said = _sides(value)
            if number == 8:
                node.inputs, node.said = arguments, said
            else:
                node.outputs = arguments
        elif number == 10 and isinstance(value, bytes):
            name, told = _attribute(value)
            if name and told is not None:
                node.attributes[name] = told
    if not seen:
        node.number = 0  # zero is not written
    if node.kind not in range(8):
        raise DescriptionError(f"{where} (id {node.number}): its type is {node.kind}; Chakra has 0 to 7")
    exact = node.attributes.get("volvelle_seconds")
    if exact is not None:
        node.seconds = seconds_of(exact, unit=1.0, where=f"{where} (id {node.number})")
    return node


def _integer(value: int | bytes, where: str) -> int:
    if isinstance(value, bytes):
        raise DescriptionError(f"{where}: {brief(value)} stands where a number should; this is no Chakra trace")
    return value


def _integers(kind: int, value: int | bytes) -> list[int]:
    """Repeated numbers, packed or one by one."""
    if isinstance(value, int):
        return [value]
    found, at = [], 0
    while at < len(value):
        number, at = wire.read_varint(value, at)
        found.append(number)
    return found


def _text(value: int | bytes) -> str:
    return value.decode("utf-8", errors="replace") if isinstance(value, bytes) else str(value)


def _sides(message: bytes) -> tuple[tuple[Argument, ...], tuple[str, ...]]:
    told = {number: _text(value) for number, _, value in wire.fields(message)}
    lists = [_list(told.get(number, "")) for number in (1, 2, 3)]
    return arguments_of(lists[1], lists[2]), said_of(lists[0])


def _list(text: str) -> list[object]:
    """A list that was written as Python writes it."""
    if not text or len(text) > _LONGEST_TEXT:
        return []
    try:
        found = ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return []
    return list(found) if isinstance(found, list | tuple) else []


def _attribute(message: bytes) -> tuple[str, Value | None]:
    """Name and value; lists are not needed, and a value may be missing."""
    name = ""
    told: Value | None = None
    for number, kind, value in wire.fields(message):
        if number == 1:
            name = _text(value)
        elif number in (29, 31):
            told = _text(value)
        elif number == 27 and isinstance(value, int):
            told = bool(value)
        elif kind == wire.VARINT and isinstance(value, int) and number % 2:
            told = wire.signed(value) if number in _SIGNED else value
            if number in _ZIGZAG:
                told = (value >> 1) ^ -(value & 1)
        elif kind in (wire.FIXED64, wire.FIXED32) and isinstance(value, bytes) and number % 2:
            told = wire.real(value) if number in (3, 5) else int.from_bytes(value, "little", signed=number in (23, 25))
    return name, told
