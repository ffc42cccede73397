"""An ONNX model: nodes and sizes from its protocol buffer, without onnx; weights are skipped.

Numbers of fields are those of onnx.proto. Sizes stand in `value_info`, `input`, `output` and `initializer`; where they
do not, `onnx.shape_inference` adds them.
"""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from volvelle.errors import DescriptionError
from volvelle.interchange.traces import wire
from volvelle.interchange.traces.trace_file import refuse_many
from volvelle.workload.trace.counting import Argument, moved_bytes, work_of
from volvelle.workload.trace.values import Operation, Tensor, Trace

_ELEMENTS: Final = {
    1: "fp32",
    2: "int8",
    3: "int8",
    4: "fp16",
    5: "fp16",
    6: "int32",
    7: "int64",
    9: "mask",
    10: "fp16",
    11: "fp64",
    12: "int32",
    13: "int64",
    16: "bf16",
    17: "fp8",
    18: "fp8",
    19: "fp8",
    20: "fp8",
    21: "fp4",
    22: "fp4",
    23: "fp4",
}
"""TensorProto.DataType; whole numbers of 16 bits take as many bytes as fp16."""
_RENAMED: Final = {
    "min": "min_elementwise",
    "max": "max_elementwise",
    "sum": "sum_elementwise",
    "mean": "sum_elementwise",
    "expand": "expandcopy",
    "transpose": "permute_copy",
    "slice": "split_copy",
    "split": "split_copy",
    "resize": "resize_image",
    "upsample": "resize_image",
    "size": "shape",
}
"""Operators whose name means another thing in ATen, or that move data here and are views there."""


@dataclass(slots=True)
class _Node:
    operator: str = ""
    name: str = ""
    domain: str = ""
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    marks: list[str] = field(default_factory=list)


def looks_like_onnx(data: bytes) -> bool:
    """Whether bytes are a model: fields of one, with a graph among them."""
    found = set()
    try:
        for number, kind, _ in wire.fields(data):
            if number not in (1, 2, 3, 4, 5, 6, 7, 8, 14, 20, 25, 26) or (number in (1, 5)) != (kind == wire.VARINT):
                return False
            found.add(number)
    except DescriptionError:
        return 1 in found and len(data) > 1 and data[0] == 0x08  # begins as one, and is cut off
    return 7 in found or (1 in found and 8 in found)


def read_onnx(data: bytes, file: Path) -> Trace:
    """The graph of the model, its nodes one after another."""
    try:
        return _model(data, file)
    except DescriptionError as error:
        told = str(error)
        raise DescriptionError(told if str(file) in told else f"{str(file)!r}: {told}") from None


def _model(data: bytes, file: Path) -> Trace:
    version, opset, graph, functions = 0, 0, None, 0
    for number, _, value in wire.fields(data):
        if number == 1 and isinstance(value, int):
            version = value
        elif number == 7 and isinstance(value, bytes):
            graph = value
        elif number == 8 and isinstance(value, bytes):
            opset = max([opset, *(part for key, _, part in wire.fields(value) if key == 2 and isinstance(part, int))])
        elif number == 25:
            functions += 1
    if graph is None:
        raise DescriptionError(f"{str(file)!r} has no graph; give a model that was exported whole")
    nodes, sizes, left_out = _graph(graph, file)
    if functions:
        left_out["functions of the model, which nodes may call"] += functions
    operations: list[Operation] = []
    made: dict[str, int] = {}
    for node in nodes:
        inputs: tuple[Argument, ...] = tuple(sizes.get(name) for name in node.inputs)
        outputs = tuple(sizes[name] for name in node.outputs if name in sizes)
        known = _RENAMED.get(node.operator.lower(), node.operator.lower())
        operations.append(
            Operation(
                node.operator or "unnamed",
                node.name or (node.outputs[0] if node.outputs else str(len(operations))),
                0,
                after=tuple(sorted({made[name] for name in node.inputs if name in made})),
                work=work_of(known, inputs, outputs, tuple(node.marks)) if node.domain in _DOMAINS else None,
                moved=moved_bytes((*inputs, *outputs)),
            )
        )
        for name in node.outputs:
            if name and name in made:
                raise DescriptionError(
                    f"{str(file)!r}, node {node.name!r}: {name!r} is made twice; every tensor of a graph is made once"
                )
            made[name] = len(operations) - 1
    if not operations:
        raise DescriptionError(f"{str(file)!r} has no nodes; export a model that does something")
    notes = []
    if not any(name in sizes for node in nodes for name in node.outputs):
        notes.append("no sizes of results are told: run onnx.shape_inference.infer_shapes on the model")
    return Trace(
        format=f"ONNX, IR {version}, opset {opset}",
        operations=tuple(operations),
        streams=("compute",),
        left_out=dict(left_out),
        notes=tuple(notes),
    )


_DOMAINS: Final = ("", "ai.onnx", "com.microsoft", "pkg.torch")


def _graph(data: bytes, file: Path) -> tuple[list[_Node], dict[str, Tensor], Counter[str]]:
    nodes: list[_Node] = []
    sizes: dict[str, Tensor] = {}
    left_out: Counter[str] = Counter()
    for number, _, value in wire.fields(data):
        if not isinstance(value, bytes):
            continue
        if number == 1:
            nodes.append(_node(value, left_out))
            refuse_many(len(nodes), file)
        elif number == 5:
            _weight(value, sizes)
        elif number in (11, 12, 13):
            _value_info(value, sizes, left_out)
    return nodes, sizes, left_out


def _text(value: int | bytes) -> str:
    return value.decode("utf-8", errors="replace")[:300] if isinstance(value, bytes) else str(value)


def _node(data: bytes, left_out: Counter[str]) -> _Node:
    node = _Node()
    for number, _, value in wire.fields(data):
        if number in (1, 2):
            (node.inputs if number == 1 else node.outputs).append(_text(value))
        elif number == 3:
            node.name = _text(value)
        elif number == 4:
            node.operator = _text(value)
        elif number == 7:
            node.domain = _text(value)
        elif number == 5 and isinstance(value, bytes):
            told = {key: part for key, _, part in wire.fields(value) if key in (1, 3, 6, 11)}
            if 6 in told or 11 in told:
                left_out["graphs within nodes"] += 1
            if told.get(1) == b"transA" and told.get(3) == 1:
                node.marks.append("transA")
            if told.get(1) in (b"is_causal", b"unidirectional") and told.get(3) == 1:
                node.marks.append("True")
    return node


def _weight(data: bytes, sizes: dict[str, Tensor]) -> None:
    name, element, dims = "", "", []
    for number, _, value in wire.fields(data):
        if number == 1:
            dims += _whole(value)
        elif number == 2 and isinstance(value, int):
            element = _ELEMENTS.get(value, "")
        elif number == 8:
            name = _text(value)
    if all(0 <= size < 2**48 for size in dims):
        sizes[name] = Tensor(tuple(dims), element)


def _whole(value: int | bytes) -> list[int]:
    if isinstance(value, int):
        return [value]
    found, at = [], 0
    while at < len(value):
        number, at = wire.read_varint(value, at)
        found.append(number)
    return found


def _value_info(data: bytes, sizes: dict[str, Tensor], left_out: Counter[str]) -> None:
    name, tensor = "", None
    for number, _, value in wire.fields(data):
        if number == 1:
            name = _text(value)
        elif number == 2 and isinstance(value, bytes):
            tensor = next((part for key, _, part in wire.fields(value) if key == 1 and isinstance(part, bytes)), None)
    if tensor is None:
        return
    element, dims, shaped = "", [], False
    for number, _, value in wire.fields(tensor):
        if number == 1 and isinstance(value, int):
            element = _ELEMENTS.get(value, "")
        elif number == 2 and isinstance(value, bytes):
            shaped = True
            for key, _, part in wire.fields(value):
                if key == 1 and isinstance(part, bytes):
                    dims.append(
                        next((size for at, _, size in wire.fields(part) if at == 1 and isinstance(size, int)), -1)
                    )
    if shaped and all(0 <= size < 2**48 for size in dims):
        sizes[name] = Tensor(tuple(dims), element)
    elif shaped:
        left_out["tensors whose sizes are symbols"] += 1
