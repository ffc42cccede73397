"""An exported program of PyTorch (`torch.export.save`, schema 8): its graph from the archive, read without torch.

A .pt2 file is a zip; `*/models/model.json` has nodes, targets and the sizes of every tensor. Weights are not read.
"""

import io
import json
import zipfile
import zlib
from collections import Counter
from pathlib import Path
from typing import Any, Final

from volvelle.errors import DescriptionError, brief
from volvelle.interchange.traces.collective_words import collective_named
from volvelle.interchange.traces.trace_file import most_bytes, refuse_many
from volvelle.workload.trace.counting import Argument, moved_bytes, work_of
from volvelle.workload.trace.values import Communication, Operation, Tensor, Trace

_GRAPHS: Final = ("models/model.json", "serialized_exported_program.json")
"""The graph of archives as of torch 2.6 and before."""
_LARGEST_GRAPH: Final = 2**28
_MOST_PACKED: Final = 200
"""Bytes that a packed byte of a graph stands for; text packs to a tenth, a bomb to a thousandth."""
_ELEMENTS: Final = {
    1: "int8",
    2: "int8",
    3: "fp16",
    4: "int32",
    5: "int64",
    6: "fp16",
    7: "fp32",
    8: "fp64",
    12: "mask",
    13: "bf16",
    29: "fp8",
    30: "fp8",
}
"""ScalarType of torch/_export/serde/schema.py; a short takes as many bytes as fp16."""


def read_torch_export(data: bytes, file: Path) -> Trace:
    """The graph of the program, its nodes one after another."""
    told = _graph(data, file)
    module = told.get("graph_module")
    graph = module.get("graph") if isinstance(module, dict) else None
    if not isinstance(graph, dict) or not isinstance(graph.get("nodes"), list):
        raise DescriptionError(f"{str(file)!r} has no graph_module.graph.nodes; save it again with torch.export.save")
    refuse_many(len(graph["nodes"]), file)
    left_out: Counter[str] = Counter()
    sizes = _tensors(graph.get("tensor_values"), left_out)
    operations: list[Operation] = []
    made: dict[str, int] = {}
    for place, node in enumerate(graph["nodes"]):
        if not isinstance(node, dict) or not isinstance(node.get("target"), str):
            raise DescriptionError(f"{str(file)!r}, node {place} is {brief(node)}; a node has a target")
        operations.append(_operation(node, place, sizes, made, left_out))
        for name in _named(node.get("outputs")):
            made[name] = place
    if not operations:
        raise DescriptionError(f"{str(file)!r} has no nodes; export a model that does something")
    version = told.get("schema_version")
    number = f"{version.get('major')}.{version.get('minor')}" if isinstance(version, dict) else "not told"
    return Trace(
        format=f"torch.export, schema {brief(number)[1:-1]}",
        operations=tuple(operations),
        streams=("compute",),
        left_out=dict(left_out),
    )


def _graph(data: bytes, file: Path) -> dict[str, Any]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entry = next((one for one in archive.infolist() if one.filename.endswith(_GRAPHS)), None)
            if entry is None:
                raise DescriptionError(
                    f"{str(file)!r} is an archive without models/model.json; save it with torch.export.save of torch "
                    "2.13 (AOTInductor packages and TorchScript files have no graph to read)"
                )
            most = min(_LARGEST_GRAPH, most_bytes())
            if entry.file_size > most or entry.file_size > _MOST_PACKED * max(entry.compress_size, 1):
                raise DescriptionError(
                    f"{str(file)!r}: its graph takes {entry.file_size // 2**20} MiB unpacked and {most // 2**20} MiB "
                    "can be read; export a part of the model"
                )
            with archive.open(entry) as opened:
                text = opened.read(most + 1)
        if len(text) > most:
            raise DescriptionError(f"{str(file)!r}: its graph is larger than it says; the archive is damaged")
        told = json.loads(text)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError) as error:
        if isinstance(error, RecursionError):
            raise DescriptionError(f"{str(file)!r}: its graph is nested too deeply; export it again") from None
        raise DescriptionError(f"{str(file)!r} is a damaged archive: {error}; export it again") from None
    except ValueError as error:
        raise DescriptionError(f"{str(file)!r}: its graph is no JSON ({error}); export it again") from None
    if not isinstance(told, dict):
        raise DescriptionError(f"{str(file)!r}: its graph is {brief(told)}, no object; export it again")
    return told


def _tensors(told: object, left_out: Counter[str]) -> dict[str, Tensor]:
    found: dict[str, Tensor] = {}
    for name, one in told.items() if isinstance(told, dict) else ():
        if not isinstance(one, dict) or not isinstance(one.get("sizes"), list):
            continue
        dims = [_size(size, left_out) for size in one["sizes"]]
        if all(size is not None and 0 <= size < 2**48 for size in dims):
            element = one.get("dtype")
            found[name] = Tensor(tuple(dims), _ELEMENTS.get(element, "") if type(element) is int else "")  # type: ignore[arg-type]
    return found


def _size(told: object, left_out: Counter[str]) -> int | None:
    """A size, or what a symbol stood for when the program was exported."""
    if not isinstance(told, dict):
        return None
    size = told.get("as_int")
    if type(size) is int:
        return size
    expression = told.get("as_expr")
    hint = expression.get("hint") if isinstance(expression, dict) else None
    size = hint.get("as_int") if isinstance(hint, dict) else None
    left_out["sizes that are symbols, taken as they were when exported"] += 1
    return size if type(size) is int else None


def _operation(
    node: dict[str, Any], place: int, sizes: dict[str, Tensor], made: dict[str, int], left_out: Counter[str]
) -> Operation:
    inputs: list[Argument] = []
    said: list[str] = []
    after: set[int] = set()
    listed = node.get("inputs")
    for one in listed if isinstance(listed, list) else ():
        told = one.get("arg") if isinstance(one, dict) else None
        if not isinstance(told, dict):
            continue
        if "as_graph" in told:
            left_out["graphs within nodes"] += 1
        names = _named([told])
        after.update(made[name] for name in names if name in made)
        known = [sizes[name] for name in names if name in sizes]
        inputs.append(known[0] if "as_tensor" in told and known else tuple(known) or None)
        said.append(_said(told))
    outputs = tuple(sizes[name] for name in _named(node.get("outputs")) if name in sizes)
    target = node["target"][:200]
    name = target.removeprefix("torch.ops.")
    exchanged = None
    if name.startswith(("_c10d_functional.", "c10d_functional.")) and "wait" not in name:
        kind = collective_named(name)
        exchanged = None if kind is None else Communication(kind, max((one.bytes for one in outputs), default=0.0))
    return Operation(
        name.replace(".default", ""),
        str(node.get("name", place))[:80],
        0,
        after=tuple(sorted(after)),
        work=None if exchanged else _work(name, tuple(inputs), outputs, tuple(said)),
        communication=exchanged,
        moved=moved_bytes((*inputs, *outputs)),
    )


def _work(name: str, inputs: tuple[Argument, ...], outputs: tuple[Tensor, ...], said: tuple[str, ...]):  # type: ignore[no-untyped-def]
    if name.startswith("_operator.") or "wait_tensor" in name or "_assert" in name:
        return work_of("view", ())
    return work_of(name, inputs, outputs, said)


def _named(told: object) -> list[str]:
    """Names of tensors among arguments."""
    found: list[str] = []
    for one in told if isinstance(told, list) else ():
        if not isinstance(one, dict):
            continue
        single = one.get("as_tensor")
        parts = [single] if isinstance(single, dict) else []
        for key in ("as_tensors", "as_optional_tensors"):
            several = one.get(key)
            if isinstance(several, list):
                parts += [part.get("as_tensor", part) for part in several if isinstance(part, dict)]
        found += [part["name"] for part in parts if isinstance(part, dict) and isinstance(part.get("name"), str)]
    return found


def _said(told: dict[str, Any]) -> str:
    for key in ("as_bool", "as_int", "as_ints"):
        if key in told:
            return str(told[key])[:100]
    return ""
