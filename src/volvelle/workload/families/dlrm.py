"""Deep-learning recommendation models: embedding tables, a bottom and a top stack of dense layers.

Naumov et al., "Deep Learning Recommendation Model for Personalization and Recommendation Systems"
(arXiv:1906.00091). DFModel's network is the one whose rows are fetched but stay ``apart``: 5 + 15 square layers
without activations, whose derived training graph has exactly its 60 kernels and 76 edges. ``cross`` is the low-rank
cross network of Wang et al., "DCN V2" (arXiv:2008.13535), as MLPerf trains it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from volvelle.domains import DENSE_LAYERS, TABLE_ROWS, TABLES, WIDTH, check_fields, number
from volvelle.errors import DescriptionError
from volvelle.workload.builder import BlockBuilder
from volvelle.workload.elements import element_bytes
from volvelle.workload.graph import Workload
from volvelle.workload.operations import Pointwise
from volvelle.workload.signature import Signature


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingTables:
    """Tables of one shape."""

    count: int = number(TABLES)
    rows: int = number(TABLE_ROWS)
    width: int = number(WIDTH)
    pooling: int = number(WIDTH, 1)
    """Rows that are looked up in each table for one sample, and added."""

    def __post_init__(self) -> None:
        check_fields(self, "tables")

    @property
    def parameters(self) -> int:
        """Numbers in all of them."""
        return self.count * self.rows * self.width


@dataclass(frozen=True, slots=True, kw_only=True)
class Dlrm:
    """Architecture numbers of a recommendation model."""

    name: str
    dense: int = number(WIDTH)
    """Numbers that describe a sample without tables."""
    bottom: tuple[int, ...]
    """Widths of the dense layers before the interaction."""
    top: tuple[int, ...]
    """Widths of the dense layers after it; the last is usually 1."""
    tables: tuple[EmbeddingTables, ...] = ()
    interaction: Literal["dot", "concatenate", "cross", "apart"] = "dot"
    """How table rows meet the bottom stack: by pairwise products, side by side, side by side and then through a cross
    network, or not at all (the rows are a second result, as in DFModel, which prices fetching and exchanging them
    only)."""
    cross_layers: int = number(DENSE_LAYERS, 3)
    cross_rank: int = number(WIDTH, 512)
    """Layers of a cross network, and the width between their two factors."""
    activation: bool = True
    """Whether a ReLU follows each dense layer."""
    element: str = "fp32"

    def __post_init__(self) -> None:
        if not self.bottom or not self.top:
            raise DescriptionError(f"model {self.name!r} needs dense layers below and above the interaction")
        check_fields(self, f"model {self.name!r}")
        for width in (*self.bottom, *self.top):
            WIDTH.check(width, f"model {self.name!r}: the width of a dense layer")
        DENSE_LAYERS.check(len(self.bottom) + len(self.top), f"model {self.name!r}: the number of dense layers")
        uneven = {each.width for each in self.tables} - {self.bottom[-1]}
        if self.interaction == "dot" and uneven:
            raise DescriptionError(
                f"model {self.name!r}: pairwise products need tables as wide as the bottom stack's end "
                f"({self.bottom[-1]}), not {', '.join(map(str, sorted(uneven)))}; correct it, or concatenate"
            )
        if self.interaction != "apart" and not self.tables:
            raise DescriptionError(f"model {self.name!r} has no tables to interact with; say interaction='apart'")

    @property
    def vectors(self) -> int:
        """How many vectors meet in the interaction."""
        return 1 + sum(each.count for each in self.tables)

    @property
    def top_input(self) -> int:
        """Width of what the top stack reads."""
        wide = self.bottom[-1]
        if self.interaction == "dot":
            return wide + self.vectors * (self.vectors - 1) // 2
        if self.interaction in ("concatenate", "cross"):
            return wide + sum(each.count * each.width for each in self.tables)
        return wide

    def rows_bytes(self, batch: int) -> float:
        """Bytes of all rows that `batch` samples look up, before they are added."""
        looked_up = sum(each.count * each.pooling * each.width for each in self.tables)
        return batch * looked_up * element_bytes(self.element)


def dlrm(shape: Dlrm, *, batch: int) -> Workload:
    """The workload of one forward pass over `batch` samples."""
    sizes: dict[str, float] = {"batch": batch, "dense": shape.dense}
    b = BlockBuilder("dlrm", element=shape.element)
    bottom = _stack(b, shape, sizes, "bottom", b.input("features", "batch dense"), "dense", shape.bottom)
    last = f"bottom_{len(shape.bottom)}"
    pooled = [_rows(b, each, index, sizes) for index, each in enumerate(shape.tables)]
    b.part = "interaction"
    entry, read, outputs = last, bottom, tuple(pooled)
    if shape.interaction != "apart":
        entry, outputs = "top_input", ()
        sizes["top_input"] = shape.top_input
        read = _dot(b, shape, sizes, bottom, pooled) if shape.interaction == "dot" else _side(b, bottom, pooled, last)
        if shape.interaction == "cross":
            read = _cross(b, shape, sizes, read)
    top = _stack(b, shape, sizes, "top", read, entry, shape.top)
    return Workload(name=shape.name, sizes=sizes, blocks=(b.build(outputs=(top, *outputs)),))


def _stack(
    b: BlockBuilder, shape: Dlrm, sizes: dict[str, float], name: str, x: str, entry: str, widths: Sequence[int]
) -> str:
    b.part = f"{name} layers"
    for index, width in enumerate(widths, 1):
        out = f"{name}_{index}"
        sizes[out] = width
        x = b.contract(
            f"{out}_layer",
            f"batch {entry}, {entry} {out} -> batch {out}",
            x,
            b.weight(f"{out}_weight", f"{entry} {out}"),
        )
        if shape.activation:
            x = b.pointwise(f"{out}_relu", f"batch {out} -> batch {out}", x, saves=(~0,))
        entry = out
    return x


def _rows(b: BlockBuilder, tables: EmbeddingTables, index: int, sizes: dict[str, float]) -> str:
    b.part = "embeddings"
    count, rows, width, pool = (f"{name}_{index}" for name in ("tables", "rows", "width", "pooled"))
    sizes |= {count: tables.count, rows: tables.rows, width: tables.width}
    wanted = f"batch {count}"
    if tables.pooling > 1:
        sizes[pool] = tables.pooling
        wanted += f" {pool}"
    found = b.look_up(
        f"lookup_{index}",
        f"{wanted}, {count} {rows} {width} -> {wanted} {width}",
        b.data(f"indices_{index}", wanted),
        b.weight(f"table_{index}", f"{count} {rows} {width}"),
    )
    if tables.pooling > 1:
        found = b.pointwise(f"pooling_{index}", f"{wanted} {width} -> batch {count} {width}", found)
    return found


def _dot(b: BlockBuilder, shape: Dlrm, sizes: dict[str, float], bottom: str, pooled: Sequence[str]) -> str:
    """Every vector by every other; below the diagonal they go on, beside the bottom stack's end."""
    last = f"bottom_{len(shape.bottom)}"
    sizes |= {"vector": shape.vectors, "other_vector": shape.vectors}
    parts = [("batch", last), *[("batch", f"tables_{index}", f"width_{index}") for index in range(len(pooled))]]
    made = ("batch", "vector", last)
    stacked = b.add("stack", Pointwise(Signature(tuple(parts), (made,)), flops=0.0, over=made), (bottom, *pooled))
    dots = b.contract(
        "pairs", f"batch vector {last}, batch other_vector {last} -> batch vector other_vector", stacked, stacked
    )
    read = (("batch", last), ("batch", "vector", "other_vector"))
    wide = ("batch", "top_input")
    return b.add("join", Pointwise(Signature(read, (wide,)), flops=0.0, over=wide), (bottom, dots))


def _side(b: BlockBuilder, bottom: str, pooled: Sequence[str], last: str) -> str:
    parts = [("batch", last), *[("batch", f"tables_{index}", f"width_{index}") for index in range(len(pooled))]]
    made = ("batch", "top_input")
    return b.add("join", Pointwise(Signature(tuple(parts), (made,)), flops=0.0, over=made), (bottom, *pooled))


def _cross(b: BlockBuilder, shape: Dlrm, sizes: dict[str, float], joined: str) -> str:
    """Layers x ← x₀ ⊙ (x U V) + x, each of two narrow products."""
    x = joined
    sizes["narrow"] = shape.cross_rank
    for index in range(1, shape.cross_layers + 1):
        down = b.weight(f"cross_{index}_down", "top_input narrow")
        up = b.weight(f"cross_{index}_up", "narrow top_input")
        low = b.contract(f"cross_{index}_in", "batch top_input, top_input narrow -> batch narrow", x, down)
        high = b.contract(f"cross_{index}_out", "batch narrow, narrow top_input -> batch top_input", low, up)
        wide = "batch top_input"
        scaled = b.pointwise(f"cross_{index}_scale", f"{wide}, {wide} -> {wide}", joined, high, saves=(0, 1))
        x = b.pointwise(f"cross_{index}_sum", f"{wide}, {wide} -> {wide}", scaled, x, is_sum=True)
    return x
