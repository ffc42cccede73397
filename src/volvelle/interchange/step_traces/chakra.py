"""Chakra execution traces (schema of mlc-chakra 1.0.0): a file a rank, and the groups that its collectives name.

A file is a `GlobalMetadata` and then a `Node` for everything the rank does, each behind its length. Durations are whole
microseconds there; `volvelle_seconds` has them exactly, `volvelle_stream` the queue on which a node runs in order.
`comm_size` is what a rank gives: all of the tensor, or its part of one that is gathered. `num_ops` and `tensor_size`
are the FLOP of a kernel and the bytes that it moves, which the roofline of ASTRA-sim reads.
"""

import json
from collections.abc import Iterable
from pathlib import Path

from volvelle.estimators.event_driven.moved import Group
from volvelle.interchange.step_traces.stage_program import STREAMS, Kind, Node, StageProgram
from volvelle.interchange.step_traces.written import WrittenTrace
from volvelle.interchange.traces import wire
from volvelle.workload.tensor_layout import Collective

SCHEMA = "1.0.0"
SECONDS, STREAM = "volvelle_seconds", "volvelle_stream"
"""Attributes of ours."""
GROUPS = "comm_groups.json"
TYPES = {Kind.COMPUTE: 4, Kind.SEND: 5, Kind.RECEIVE: 6, Kind.COLLECTIVE: 7}
COLLECTIVES = {
    Collective.ALL_REDUCE: 0,
    Collective.ALL_GATHER: 2,
    Collective.BROADCAST: 5,
    Collective.ALL_TO_ALL: 6,
    Collective.REDUCE_SCATTER: 7,
}
_MICRO = 1e6
_DOUBLE, _INT32, _INT64, _UINT64, _BOOL, _STRING = 3, 7, 9, 13, 27, 29
"""Numbers of an attribute's values."""


def write_chakra(programs: Iterable[StageProgram], folder: Path, *, every_rank: bool = False) -> WrittenTrace:
    """A file for the first rank of every stage, or for every rank: step.RANK.et, and the groups."""
    groups: dict[tuple[int, ...], int] = {}
    files = nodes = 0
    for program in programs:
        ranks = program.ranks if every_rank else program.ranks[:1]
        nodes += len(program.nodes) * len(ranks)
        for rank in ranks:
            (folder / f"step.{rank}.et").write_bytes(_file(program, rank, groups))
            files += 1
    named = {str(number): list(members) for members, number in groups.items()}
    (folder / GROUPS).write_text(json.dumps(named) + "\n", "utf-8")
    unsaid = [f"seconds: duration_micros are whole microseconds; {SECONDS} has them exactly"]
    if not every_rank:
        unsaid.append("ranks of a stage beside its first: they do the same in groups of their own (--every-rank)")
    return WrittenTrace(folder=str(folder), files=files + 1, ranks=files, nodes=nodes, unsaid=tuple(unsaid))


def _file(program: StageProgram, rank: int, groups: dict[tuple[int, ...], int]) -> bytes:
    head = wire.chunk(1, SCHEMA) + wire.chunk(2, _attribute("streams", _STRING, ", ".join(STREAMS)))
    parts = [wire.behind_length(head)]
    known: dict[Group, int] = {}
    made: dict[tuple[object, ...], tuple[bytes, bytes]] = {}
    for node in program.nodes:
        if node.kind is Kind.COLLECTIVE and node.group is not None and node.group not in known:
            known[node.group] = groups.setdefault(node.group.members(rank), len(groups) + 1)
        # Micro-batches do the same things at other times.
        alike = (
            node.name,
            node.kind,
            node.stream,
            node.seconds,
            node.size,
            node.collective,
            node.group,
            node.tag,
            node.computed,
        )
        if alike not in made:
            made[alike] = _name(node), _rest(node, program, rank, known)
        name, rest = made[alike]
        after = wire.chunk(5, b"".join(map(wire.varint, node.after))) if node.after else b""
        start = wire.integer(6, round(node.start * _MICRO))
        parts.append(wire.behind_length(b"".join((wire.integer(1, node.number), name, after, start, rest))))
    return b"".join(parts)


def _name(node: Node) -> bytes:
    return wire.chunk(2, node.name) + wire.integer(3, TYPES[node.kind])


def _rest(node: Node, program: StageProgram, rank: int, groups: dict[Group, int]) -> bytes:
    """How long it takes, and its attributes."""
    said: list[tuple[str, int, int | float | str]] = [("is_cpu_op", _BOOL, 0)]
    if node.kind is Kind.COLLECTIVE and node.collective is not None and node.group is not None:
        said += [
            ("comm_type", _INT64, COLLECTIVES[node.collective]),
            ("comm_size", _INT64, round(given(node))),
            ("pg_name", _STRING, str(groups[node.group])),
        ]
    elif node.computed is not None:
        said += [("num_ops", _INT64, round(node.computed.flop)), ("tensor_size", _UINT64, round(node.computed.traffic))]
    elif node.kind is not Kind.COMPUTE:
        other = program.peer(rank, node)
        source, target = (rank, other) if node.kind is Kind.SEND else (other, rank)
        said += [
            ("comm_src", _INT32, source),
            ("comm_dst", _INT32, target),
            ("comm_tag", _INT32, node.tag),
            ("comm_size", _INT64, round(node.size)),
        ]
    said += [(SECONDS, _DOUBLE, node.seconds), (STREAM, _INT32, node.stream)]
    attributes = (wire.chunk(10, _attribute(*one)) for one in said)
    return b"".join((wire.integer(7, round(node.seconds * _MICRO)), *attributes))


def given(node: Node) -> float:
    """Bytes that a rank gives to a collective."""
    assert node.group is not None, "collectives have groups"
    return node.size / node.group.chips if node.collective is Collective.ALL_GATHER else node.size


def _attribute(name: str, number: int, value: float | str) -> bytes:
    if number == _STRING:
        said = wire.chunk(number, str(value))
    elif number == _DOUBLE:
        said = wire.double(number, float(value))
    else:
        said = wire.integer(number, int(value))
    return wire.chunk(1, name) + said
