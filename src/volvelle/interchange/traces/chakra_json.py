"""Chakra nodes as JSON, as its feeder reads them: `workload_graph` of Id, Name, NodeType, dependencies, runtime."""

from pathlib import Path
from typing import Any, Final

from volvelle.errors import DescriptionError, brief
from volvelle.interchange.traces.chakra import ChakraNode, chakra_trace
from volvelle.interchange.traces.trace_file import MOST_OPERATIONS, JsonObjects, seconds_of, whole_of
from volvelle.workload.trace.values import Trace

LONG: Final = "workload_graph"
_MICRO: Final = 1e-6
_PASSED_ON: Final = (
    "is_cpu_op",
    "comm_type",
    "comm_size",
    "comm_src",
    "comm_dst",
    "pg_name",
    "num_ops",
    "tensor_size",
    "tid",
)


def read_chakra_json(text: str, file: Path) -> Trace:
    """One rank's nodes."""
    objects = JsonObjects(text, file, LONG)
    nodes = []
    for place, told in enumerate(objects):
        nodes.append(_node(told, f"{str(file)!r}, node {place}"))
        if len(nodes) > MOST_OPERATIONS:
            raise DescriptionError(f"{str(file)!r} has more than {MOST_OPERATIONS:,} nodes; record fewer steps")
    return chakra_trace(nodes, file, "Chakra as JSON")


def _node(told: object, where: str) -> ChakraNode:
    if not isinstance(told, dict):
        raise DescriptionError(f"{where} is {brief(told)}; a node is an object with Id, Name and NodeType")
    number = whole_of(_either(told, "Id", "id"), "Id", where=where)
    where = f"{where} (Id {number})"
    name, kind = _either(told, "Name", "name"), _either(told, "NodeType", "type")
    if not isinstance(name, str):
        raise DescriptionError(f"{where}: Name is {brief(name)}; name the operation")
    kind = whole_of(kind, "NodeType", where=where)
    if kind not in range(8):
        raise DescriptionError(f"{where}: NodeType is {kind}; Chakra has 0 to 7")
    taken = _either(told, "runtime", "duration_micros")
    return ChakraNode(
        number,
        name[:200],
        kind,
        _numbers(_either(told, "ctrlDeps", "ctrl_deps"), where),
        _numbers(_either(told, "data_deps", "dataDeps"), where),
        None if taken is None else seconds_of(taken, unit=_MICRO, where=where),
        {key: told[key] for key in _PASSED_ON if isinstance(told.get(key), int | float | str)},
    )


def _either(told: dict[str, Any], *names: str) -> Any:
    return next((told[name] for name in names if name in told), None)


def _numbers(told: object, where: str) -> list[int]:
    if told is None:
        return []
    if not isinstance(told, list):
        raise DescriptionError(f"{where}: its dependencies are {brief(told)}; write a list of numbers of nodes")
    return [whole_of(number, "a dependency", where=where) for number in told]
