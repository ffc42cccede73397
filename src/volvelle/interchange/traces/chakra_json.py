"""Chakra nodes as JSON, as its feeder reads them: `workload_graph` of Id, Name, NodeType, dependencies, runtime."""

from pathlib import Path
from typing import Any, Final

from volvelle.errors import DescriptionError, brief
from volvelle.interchange.traces.chakra import ChakraNode, chakra_trace
from volvelle.interchange.traces.trace_file import JsonObjects, refuse_many, seconds_of, whole_of
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
    refuse_many(max(text.count('"NodeType"'), text.count('"Id"')), file)
    name = repr(str(file))
    nodes = [_node(told, f"{name}, node {place}") for place, told in enumerate(JsonObjects(text, file, LONG))]
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
        {key: told[key] for key in _PASSED_ON if key in told and isinstance(told[key], int | float | str)},
    )


def _either(told: dict[str, Any], *names: str) -> Any:
    for name in names:
        if name in told:
            return told[name]
    return None


def _numbers(told: object, where: str) -> list[int]:
    if told is None:
        return []
    if not isinstance(told, list):
        raise DescriptionError(f"{where}: its dependencies are {brief(told)}; write a list of numbers of nodes")
    return [whole_of(number, "a dependency", where=where) for number in told]
