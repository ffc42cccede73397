"""Small traces in every format that is read, of the same shape as public ones."""

import gzip
import io
import json
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from volvelle.interchange.traces import wire

TENSOR = "Tensor(float)"


def operator(name: str, start: float, length: float, *, tid: int = 1, **args: Any) -> dict[str, Any]:
    """An operation of the host in a Kineto profile; times in microseconds."""
    return {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": tid, "ts": start, "dur": length, "args": args}


def sized(*dims: list[int], kind: str = "float") -> dict[str, Any]:
    """Sizes of arguments as a profile has them."""
    return {"Input Dims": list(dims), "Input type": [kind] * len(dims)}


def kernel(
    name: str, start: float, length: float, *, stream: int = 7, correlation: int = 0, **args: Any
) -> dict[str, Any]:
    """A kernel of a device."""
    told = {"device": 0, "stream": stream, "correlation": correlation, **args}
    return {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": stream, "ts": start, "dur": length, "args": told}


def launch(start: float, length: float, correlation: int, name: str = "cudaLaunchKernel") -> dict[str, Any]:
    """A call that starts a kernel, or that waits for one."""
    args = {"correlation": correlation}
    return {
        "ph": "X",
        "cat": "cuda_runtime",
        "name": name,
        "pid": 1,
        "tid": 1,
        "ts": start,
        "dur": length,
        "args": args,
    }


def kineto(events: list[dict[str, Any]], **more: Any) -> bytes:
    """A profile."""
    return json.dumps({"schemaVersion": 1, **more, "traceEvents": events}).encode()


def cpu_profile() -> bytes:
    """Two products behind a frame each, an elementwise operation, and time between them."""
    return kineto(
        [
            operator("aten::linear", 0.0, 100.0, **sized([64, 256], [512, 256])),
            operator("aten::addmm", 10.0, 80.0, **sized([512], [64, 256], [256, 512])),
            operator("aten::relu", 110.0, 20.0, **sized([64, 512])),
            operator("aten::linear", 130.0, 90.0, **sized([64, 512], [256, 512])),
            operator("aten::addmm", 135.0, 80.0, **sized([256], [64, 512], [512, 256])),
        ]
    )


def gpu_profile() -> bytes:
    """A product and an all-reduce on two streams, each behind its launch, and a host that waits for both."""
    exchange = {"Collective name": "allreduce", "In msg nelems": 1_000_000, "Out msg nelems": 1_000_000}
    exchange |= {"dtype": "BFloat16", "Group size": 8}
    return kineto(
        [
            operator("aten::mm", 0.0, 10.0, **sized([4096, 4096], [4096, 4096], kind="c10::BFloat16")),
            launch(2.0, 5.0, 1),
            launch(12.0, 5.0, 2),
            kernel("ampere_gemm", 8.0, 600.0, correlation=1),
            kernel(
                "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage)",
                20.0,
                90.0,
                stream=9,
                correlation=2,
                **exchange,
            ),
            launch(20.0, 590.0, 3, name="cudaDeviceSynchronize"),
        ]
    )


def execution_trace(schema: str = "1.1.1-chakra.0.0.4") -> bytes:
    """A product inside a frame, and an all-reduce of its result."""

    def node(number: int, parent: int, name: str, shapes: list[Any], **more: Any) -> dict[str, Any]:
        values = [[number * 10 + at, number * 10 + at, 0, 1, 4, "cpu"] for at, _ in enumerate(shapes)]
        side = {"values": values, "shapes": shapes, "types": [TENSOR] * len(shapes)}
        attrs = [{"name": key, "type": "uint64", "value": value} for key, value in {"rf_id": number, **more}.items()]
        return {"id": number, "name": name, "ctrl_deps": parent, "inputs": side, "outputs": {}, "attrs": attrs}

    exchange = {
        "collective_name": "allreduce",
        "dtype": "Float",
        "in_msg_nelems": 1000,
        "out_msg_nelems": 1000,
        "pg_size": 4,
    }
    nodes = [
        node(1, 1, "[pytorch|profiler|execution_trace|process]", []),
        node(2, 1, "aten::linear", [[64, 256], [512, 256]]),
        node(3, 2, "aten::t", [[512, 256]]),
        node(4, 2, "aten::addmm", [[512], [64, 256], [256, 512]]),
        node(5, 1, "record_param_comms", [[1000]], **exchange),
    ]
    return json.dumps({"schema": schema, "pid": 1, "nodes": nodes}).encode()


def chakra_attribute(name: str, number: int, value: float | str) -> bytes:
    """An attribute of a node; `number` is that of the kind of value."""
    told = wire.chunk(number, value) if isinstance(value, str) else wire.integer(number, int(value))
    if isinstance(value, float):
        told = wire.double(number, value)
    return wire.chunk(10, wire.chunk(1, name) + told)


def chakra_node(number: int, kind: int, after: tuple[int, ...] = (), micros: int = 0, attributes: bytes = b"") -> bytes:
    """A node behind its length."""
    told = wire.integer(1, number) + wire.chunk(2, f"node {number}") + wire.integer(3, kind)
    told += b"".join(wire.integer(5, other) for other in after) + wire.integer(7, micros) + attributes
    return wire.behind_length(told)


def chakra() -> bytes:
    """A computation with its work told, an all-reduce, and a computation that waits for it."""
    work = chakra_attribute("num_ops", 9, 10**12) + chakra_attribute("tensor_size", 9, 10**6)
    spoken = chakra_attribute("comm_type", 9, 0) + chakra_attribute("comm_size", 9, 10**8)
    return (
        wire.behind_length(wire.chunk(1, "0.0.4"))
        + chakra_node(1, 4, micros=100, attributes=work)
        + chakra_node(2, 7, (1,), 50, spoken)
        + chakra_node(3, 4, (2,), 100, chakra_attribute("volvelle_seconds", 3, 1.00000001e-4))
    )


def chakra_json() -> bytes:
    """The same as JSON."""
    nodes = [
        {"Id": 1, "Name": "first", "NodeType": 4, "runtime": 100, "data_deps": [], "is_cpu_op": False},
        {"Id": 2, "Name": "all", "NodeType": 7, "runtime": 50, "data_deps": [1], "comm_type": 0, "comm_size": 10**8},
        {"Id": 3, "Name": "last", "NodeType": 4, "runtime": 100, "data_deps": [2], "is_cpu_op": False},
    ]
    return json.dumps({"workload_graph": nodes}).encode()


def exported(nodes: list[dict[str, Any]] | None = None) -> bytes:
    """An archive of torch.export with a product and an activation; no weights."""

    def tensor(*sizes: int) -> dict[str, Any]:
        return {"dtype": 7, "sizes": [{"as_int": size} for size in sizes]}

    def node(target: str, inputs: list[str], output: str) -> dict[str, Any]:
        args = [{"name": "x", "arg": {"as_tensor": {"name": name}}, "kind": 1} for name in inputs]
        return {"target": f"torch.ops.aten.{target}", "inputs": args, "outputs": [{"as_tensor": {"name": output}}]}

    graph = {
        "nodes": nodes or [node("linear.default", ["x", "w"], "y"), node("relu.default", ["y"], "z")],
        "tensor_values": {"x": tensor(64, 256), "w": tensor(512, 256), "y": tensor(64, 512), "z": tensor(64, 512)},
    }
    told = {"graph_module": {"graph": graph}, "schema_version": {"major": 8, "minor": 20}}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("m/models/model.json", json.dumps(told))
        archive.writestr("m/data/weights/weight_0", b"\0" * 64)
    return packed.getvalue()


def onnx() -> bytes:
    """A model with a product of a weight, and an activation."""

    def value(name: str, *sizes: int) -> bytes:
        shape = b"".join(wire.chunk(1, wire.integer(1, size)) for size in sizes)
        return wire.chunk(1, name) + wire.chunk(2, wire.chunk(1, wire.integer(1, 1) + wire.chunk(2, shape)))

    def node(operator_name: str, inputs: list[str], output: str) -> bytes:
        return b"".join(wire.chunk(1, name) for name in inputs) + wire.chunk(2, output) + wire.chunk(4, operator_name)

    weight = wire.integer(1, 256) + wire.integer(1, 512) + wire.integer(2, 1) + wire.chunk(8, "w")
    graph = wire.chunk(1, node("MatMul", ["x", "w"], "y")) + wire.chunk(1, node("Relu", ["y"], "z"))
    graph += wire.chunk(5, weight) + wire.chunk(11, value("x", 64, 256)) + wire.chunk(12, value("z", 64, 512))
    graph += wire.chunk(13, value("y", 64, 512))
    return wire.integer(1, 10) + wire.chunk(7, graph) + wire.chunk(8, wire.integer(2, 20))


def phases(**changes: Any) -> bytes:
    """Two phases with an all-reduce between them, and a link of a phase to itself."""

    def node(label: str, cycles: float, size: float) -> dict[str, Any]:
        layer = {"fwd_pass_comp_cycles": cycles, "fwd_pass_msg_size": size, "fwd_pass_collective": "MPI_Allreduce"}
        layer |= {"GPU_tiles": 1, "GPU_cards": 2, "CPU_nodes": 4}
        return {"label": label, "data": {"Layer": {**layer, **changes}}, "id": 0}

    links = [{"source": "a", "target": "a", "key": "1"}, {"source": "a", "target": "b", "key": "2"}]
    return json.dumps({"nodes": [node("a", 1e6, 8.0), node("b", 2e6, 0.0)], "links": links}).encode()


MADE: Mapping[str, Callable[[], bytes]] = {
    "profile.json": cpu_profile,
    "profile.json.gz": lambda: gzip.compress(gpu_profile(), mtime=0),
    "recorded.json": execution_trace,
    "rank.et": chakra,
    "rank.json": chakra_json,
    "model.pt2": exported,
    "model.onnx": onnx,
    "phases.json": phases,
}
"""Name of a file, and what makes it."""


def written(folder: Path, name: str, data: bytes | None = None) -> Path:
    """A trace in a file; the small one of that name where no bytes are given."""
    file = folder / name
    file.write_bytes(MADE[name]() if data is None else data)
    return file
