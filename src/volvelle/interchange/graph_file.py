"""Reads any graph of kernels from a small YAML file.

    name: two-layer MLP
    sizes: {batch: 64, hidden: 4096, ffn: 16384}
    stream: batch
    inputs: {x: batch hidden}
    weights: {w1: hidden ffn, w2: ffn hidden}
    kernels:
      up: contract x, w1 -> batch ffn
      relu: pointwise up -> batch ffn
      down: contract relu, w2 -> batch hidden
    outputs: down

A kernel's result has the kernel's name. Kernels may stand in any order. What each kind of kernel is called, and which
options it takes, is in :mod:`volvelle.interchange.graph_kernel`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from volvelle.domains import GRAPH_SIZE
from volvelle.errors import DescriptionError, GraphError, UnknownNameError, brief
from volvelle.interchange.graph_block import read_block
from volvelle.interchange.graph_kernel import NAME, check_element
from volvelle.interchange.yaml_file import read_fields
from volvelle.workload.graph import Block, Workload
from volvelle.workload.transforms import with_backward

_BLOCK = ("inputs", "weights", "data", "kernels", "outputs", "repeat")
_TOP = ("name", "element", "sizes", "stream", "training", "blocks", *_BLOCK)


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphFile:
    """A graph of kernels as a file describes it."""

    workload: Workload
    stream: str | None
    """The dimension in whose tiles kernels hand data to each other; None: the file names none."""
    pins: Mapping[str, Mapping[str, int]]
    """Block → kernel → the partition it is pinned to, counted from 0; a block without pins has none."""
    is_model: bool = False
    """A whole model, trained as models are; else a graph whose parameters take what its drawing says."""


def read_graph(source: Path | Mapping[str, object], *, name: str | None = None) -> GraphFile:
    """The graph a YAML file describes, or its fields.

    Raises :class:`GraphError` where the graph does not hold together and :class:`DescriptionError` where the file
    cannot be read; each message names file and kernel, what was found and what to do.
    """
    if isinstance(source, Mapping):
        fields, where = source, name or "graph"
    else:
        fields = read_fields(source, what="a graph", examples="examples/graphs", twice=GraphError)
        where = source.name
    _only(fields, _TOP, where)
    sizes = _sizes(fields.get("sizes"), where)
    element = fields.get("element", "bf16")
    check_element(element, where)
    training = fields.get("training", False)
    if not isinstance(training, bool):
        raise DescriptionError(f"{where}: training is {brief(training)}; it must be true or false")
    called = name or str(fields.get("name") or Path(where).stem)
    blocks: list[Block] = []
    pins: dict[str, Mapping[str, int]] = {}
    for block_name, stated, block_where in _blocks(fields, called, where):
        if block_name in pins:
            raise GraphError(f"{where} has two blocks named {block_name!r}; name each once")
        block, pins[block_name] = read_block(block_name, stated, sizes=sizes, element=str(element), where=block_where)
        blocks.append(block)
    stream = _stream(fields.get("stream"), sizes, where)
    used = {dim for block in blocks for tensor in block.tensors for dim in tensor.dims}
    used |= {dim for block in blocks for op in block.operations for dim in op.kind.signature.dims}
    for dim in sizes:
        if dim not in used:
            raise GraphError(f"{where}: sizes gives {dim!r} a size, but no tensor has it; use it or leave it out")
    try:
        workload = Workload(name=called, sizes=sizes, blocks=tuple(blocks))
        return GraphFile(workload=with_backward(workload) if training else workload, stream=stream, pins=pins)
    except GraphError as error:
        raise GraphError(f"{where}: {error}") from None


def _only(fields: Mapping[str, object], known: tuple[str, ...], where: str) -> None:
    for key in fields:
        if key not in known:
            raise DescriptionError(f"{where}: {UnknownNameError.among('field', str(key), known)}")


def _sizes(stated: object, where: str) -> dict[str, float]:
    if not isinstance(stated, Mapping) or not stated:
        raise DescriptionError(
            f"{where}: sizes is {brief(stated)}; give every dimension its size, like {{batch: 64, hidden: 4096}}"
        )
    for dim, size in stated.items():
        if not isinstance(dim, str) or not NAME.fullmatch(dim):
            raise DescriptionError(
                f"{where}: sizes has a dimension called {brief(dim)}; use letters, digits, '_' and '-'"
            )
        GRAPH_SIZE.check(size, f"{where}: the size of {dim!r}")
    return dict(stated)


def _stream(stated: object, sizes: Mapping[str, float], where: str) -> str | None:
    if stated is None:
        return None
    if not isinstance(stated, str) or stated not in sizes:
        problem = UnknownNameError.among("dimension", str(stated), sizes)
        raise GraphError(f"{where}: stream names the dimension that tiles are cut along, but {problem}")
    return str(stated)


def _blocks(fields: Mapping[str, object], called: str, where: str) -> list[tuple[str, Mapping[str, object], str]]:
    """Each block's name, its fields and how messages call it; without `blocks` the file is one block."""
    if "blocks" not in fields:
        return [(called, {key: fields[key] for key in _BLOCK if key in fields}, where)]
    stray = [key for key in _BLOCK if key in fields]
    if stray:
        raise DescriptionError(f"{where} has blocks and, beside them, {', '.join(stray)}; move these into a block")
    stated = fields["blocks"]
    if not isinstance(stated, list) or not stated:
        raise DescriptionError(f"{where}: blocks is {brief(stated)}; list the blocks in the order in which they run")
    found = []
    for index, block in enumerate(stated):
        if not isinstance(block, Mapping) or not isinstance(block.get("name"), str):
            raise DescriptionError(f"{where}: block {index + 1} of {len(stated)} has no name; give it one")
        block_where = f"{where}: block {block['name']!r}"
        _only(block, ("name", *_BLOCK), block_where)
        found.append((block["name"], block, block_where))
    return found
