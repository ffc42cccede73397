"""Kinds of kernels: which law times each, by which constants, from which sizes of a measured row."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from volvelle.laws.kernels.attention import (
    causal_attention_work,
    longest_tile_work,
    one_token_time,
    prompt_attention_time,
)
from volvelle.laws.kernels.experts import (
    busiest_rank_rows,
    carried_rows,
    experts_time,
    grouped_product_time,
    padded_rows,
    rows_by_expert,
    sorting_time,
    touched_experts,
)
from volvelle.laws.kernels.node_collectives import node_collective_time
from volvelle.laws.kernels.products import (
    cast_passes_time,
    product_rate,
    product_traffic,
    smooth_maximum,
    sustained_share,
)
from volvelle.quantities import Count, Number
from volvelle.system.chip import Chip

Column = NDArray[np.float64]
Sizes = Mapping[str, Number]

REPLAYS = 9.0
"""Times that a source ran a kernel in a row, which decides how far the clock had fallen."""
ACCESS = 0.8
"""Share of the memory's rate that attention over a prompt gets; not told apart from its other constants."""
HEADS_OF_A_TILE = 16.0
"""Queries that share a head of keys are padded to so many."""
SKEWS = {"balanced": 0.0, "power_law_1.01": 1.01, "power_law_1.2": 1.2}
"""Exponent of the power law by which tokens fall on experts, by what the source calls it."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant of a law: where a fit starts, and between which values it looks."""

    start: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernels:
    """Kernels of one kind, in one element type, on one chip."""

    chip: Chip
    element: str
    """As the catalogue names it."""
    cache_bytes: float
    """Of an element of cached keys and values."""
    weight_bytes: float = 0.0
    """Of an element of weights, scales included; 0: that of the element type."""
    burst: Column | None = None
    """Seconds that the chip multiplies in a row, which decides how far its clock falls; None: as sources time."""

    @property
    def operand_bytes(self) -> float:
        """Of an element that a product reads."""
        return OPERAND_BYTES[self.element]

    @property
    def read_bytes(self) -> float:
        """Of an element of weights."""
        return self.weight_bytes or self.operand_bytes

    @property
    def peak(self) -> Number:
        """FLOP a second."""
        return self.chip.matrix_rate(self.element)

    @property
    def wide_peak(self) -> Number:
        """FLOP a second in 16 bits."""
        return self.chip.matrix_rate("bf16")

    @property
    def memory_rate(self) -> Number:
        """Bytes a second."""
        return self.chip.memory.rate

    @property
    def units(self) -> Count | None:
        """Streaming multiprocessors or compute units that a kernel's tiles and blocks are scheduled over.

        None: the chip has none that compare to these, or its entry states none. Its kernels are then timed without
        partly filled waves, and without the share of the memory rate that bounds a single block.
        """
        return self.chip.units


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A law with its constants, and the sizes it needs."""

    name: str
    kind: str
    """The same in a word or two, by which rows are grouped."""
    operations: tuple[str, ...]
    sizes: tuple[str, ...]
    constants: Mapping[str, Constant]
    time: Callable[[Kernels, Sizes, Sizes], Column]
    law: str
    """Name of the law, for people reading a breakdown."""


OPERAND_BYTES = {"bf16": 2.0, "fp16": 2.0, "fp8": 1.0, "fp4": 0.5625}
"""Bytes of an element of a product, scales included."""


def _product(kernels: Kernels, sizes: Sizes, by: Sizes) -> Column:
    m, n, k = sizes["m"], sizes["n"], sizes["k"]
    memory = kernels.memory_rate * by["memory_efficiency"]
    rate = product_rate(
        m,
        n,
        k,
        1.0,
        peak=kernels.peak,
        matrix_efficiency=by["matrix_efficiency"],
        units=kernels.units,
        tile=by["tile"],
        half=by["gemm_k_half"],
    )
    sizes_in_bytes = {"operand_bytes": kernels.operand_bytes, "result_bytes": 2.0, "weight_bytes": kernels.read_bytes}
    moved = product_traffic(m, n, k, **sizes_in_bytes) / memory
    cast = cast_passes_time(m * k, passes=by["cast_passes"], memory_rate=memory)
    around = by["kernel_launch_time"] + cast
    arithmetic = 2.0 * m * n * k / rate
    burst = kernels.burst if kernels.burst is not None else REPLAYS * (smooth_maximum(arithmetic, moved) + around)
    clock = sustained_share(burst, sustained=by["sustained"])
    return np.asarray(smooth_maximum(arithmetic / clock, moved) + around)


def _prompt(kernels: Kernels, sizes: Sizes, by: Sizes) -> Column:
    widths = {"query_width": sizes["head_dim"], "value_width": sizes["head_dim"]}
    appended = 2.0 * sizes["head_dim"] * (sizes["heads"] + 2.0 * sizes["kv_heads"])
    read = 2.0 * kernels.cache_bytes * sizes["head_dim"] * sizes["kv_heads"]
    traffic = 4.0 * sizes["head_dim"] * sizes["heads"] + read * (1.0 + sizes.get("past", 0.0) / sizes["query"])
    return _attention(kernels, sizes, by, traffic=traffic, appended=appended, **widths)


def _latent_prompt(kernels: Kernels, sizes: Sizes, by: Sizes) -> Column:
    traffic, appended = sizes["heads"] * 2.0 * (192 + 192 + 128 + 128), sizes["heads"] * 2.0 * (192 + 320)
    widths = {"query_width": 192.0, "value_width": 128.0}
    return _attention(kernels, sizes, by, traffic=traffic, appended=appended, **widths)


def _attention(
    kernels: Kernels,
    sizes: Sizes,
    by: Sizes,
    *,
    traffic: Number,
    appended: Number,
    query_width: Number,
    value_width: Number,
) -> Column:
    width = query_width + value_width + 2.0 * by["exponential_width"]
    tokens, memory = sizes["batch"] * sizes["query"], ACCESS * kernels.memory_rate
    keys, past = by["start_keys"], sizes.get("past", 0.0)
    sequences, heads, query = sizes["batch"], sizes["heads"], sizes["query"]
    return np.asarray(
        prompt_attention_time(
            causal_attention_work(sequences, heads, query, width=width, extra_keys=keys, past=past),
            0.0
            if kernels.units is None
            else longest_tile_work(query, width=width, units=kernels.units, extra_keys=keys, past=past),
            tokens * traffic,
            tokens * appended,
            rate=kernels.peak * by["matrix_efficiency"],
            memory_rate=memory,
            path=by["path"],
            passes=by["passes"],
            start=by["kernel_launch_time"],
        )
    )


def _one_token(kernels: Kernels, sizes: Sizes, by: Sizes) -> Column:
    pairs = sizes["batch"] * sizes["kv_heads"]
    padded = HEADS_OF_A_TILE * np.ceil(sizes["heads"] / sizes["kv_heads"] / HEADS_OF_A_TILE)
    work = 4.0 * pairs * padded * sizes["kv"] * sizes["head_dim"]
    return _decode(kernels, sizes, by, work=work, each=2.0 * sizes["kv"] * sizes["head_dim"], pairs=pairs)


def _latent_one_token(kernels: Kernels, sizes: Sizes, by: Sizes) -> Column:
    work = 2.0 * 1088.0 * sizes["batch"] * sizes["heads"] * sizes["kv"]
    return _decode(kernels, sizes, by, work=work, each=576.0 * sizes["kv"], pairs=sizes["batch"])


def _decode(kernels: Kernels, sizes: Sizes, by: Sizes, *, work: Number, each: Number, pairs: Number) -> Column:
    blocks = None
    if kernels.units is not None:
        blocks = np.minimum(pairs * np.maximum(1.0, sizes["kv"] / by["block_keys"]), kernels.units)
    return np.asarray(
        one_token_time(
            work,
            each * pairs * kernels.cache_bytes,
            pairs,
            blocks=blocks,
            rate=kernels.wide_peak * by["matrix_efficiency"],
            memory_rate=kernels.memory_rate * by["memory_efficiency"],
            block_share=by["block_share"],
            start=by["kernel_launch_time"],
            each=by["pair_time"],
        )
    )


def _experts(kernels: Kernels, sizes: Sizes, by: Sizes) -> Column:
    tokens, chosen, hidden, skew = (sizes[name] for name in ("tokens", "topk", "hidden", "skew"))
    local, inner = sizes["experts"] / sizes["ep"], sizes["inter"] / sizes["tp"]
    rows = busiest_rank_rows(tokens, chosen, sizes["experts"], sizes["ep"], skew=skew)
    each = rows_by_expert(rows, local, tokens, skew=skew)
    more = carried_rows(rows, tokens, chosen, carried=by["carried"])
    # A tile of weights that take fewer bytes than they were measured with is as much sooner there.
    tile_rows = by["least_rows"] * (kernels.read_bytes / kernels.operand_bytes)
    padded = padded_rows(local, each, more, least_rows=tile_rows, unpacking=sizes.get("unpacking", 1.0))
    arithmetic = sum(
        np.asarray(
            grouped_product_time(
                padded,
                columns,
                depth,
                rate=kernels.peak * by["matrix_efficiency"],
                half=by["gemm_k_half"],
                units=kernels.units,
                tile=by["tile"],
            )
        )
        for columns, depth in ((2.0 * inner, hidden), (hidden, inner))
    )
    weights = 3.0 * touched_experts(local, each) * hidden * inner * kernels.read_bytes
    between = 2.0 * (rows + more) * (2.0 * hidden + 3.0 * inner)
    return np.asarray(
        experts_time(
            arithmetic,
            weights + between,
            2.0 * (rows + more) * hidden,
            2.0 * tokens * chosen * hidden,
            memory_rate=kernels.memory_rate * by["memory_efficiency"],
            passes=by["passes"],
            slot_passes=by["slot_passes"],
            around=sorting_time(
                tokens, start=by["kernel_launch_time"], sorting=by["sorting_time"], half=by["sorting_half"]
            ),
        )
    )


CROSSINGS = {"all_reduce": 2.0, "all_gather": 1.0, "reduce_scatter": 1.0, "alltoall": 1.0}
"""How often every byte crosses the links of a node."""


def _collective(kernels: Kernels, sizes: Sizes, by: Sizes) -> Column:
    return np.asarray(
        node_collective_time(
            sizes["bytes"],
            sizes["gpus"],
            crossings=sizes["crossings"],
            start=by["kernel_launch_time"],
            each=by["chip_time"],
            bus_rate=by["bus_rate"],
            between=by["between"],
        )
    )


_LAUNCH = Constant(8e-6, 0.5e-6, 3e-4)
_MATRIX = Constant(0.7, 0.01, 2.0)
_MEMORY = Constant(0.85, 0.1, 1.3)
_ATTENTION = {
    "matrix_efficiency": _MATRIX,
    "exponential_width": Constant(40.0, 1.0, 400.0),
    "start_keys": Constant(50.0, 1.0, 2000.0),
    "kernel_launch_time": _LAUNCH,
    "passes": Constant(1.0, 0.01, 20.0),
    "path": Constant(1.0, 0.02, 10.0),
}
_DECODE = {
    "matrix_efficiency": Constant(0.3, 0.01, 2.0),
    "memory_efficiency": _MEMORY,
    "kernel_launch_time": _LAUNCH,
    "pair_time": Constant(2e-8, 1e-10, 1e-6),
    "block_share": Constant(40.0, 1.0, 800.0),
    "block_keys": Constant(512.0, 16.0, 20000.0),
}
FAMILIES = (
    Family(
        name="products",
        kind="products",
        operations=("gemm",),
        sizes=("m", "n", "k"),
        constants={
            "matrix_efficiency": Constant(0.75, 0.1, 1.0),
            "tile": Constant(3000.0, 64.0, 40000.0),
            "gemm_k_half": Constant(100.0, 5.0, 4000.0),
            "kernel_launch_time": Constant(4e-6, 0.5e-6, 3e-5),
            "memory_efficiency": Constant(0.75, 0.3, 1.1),
            "sustained": Constant(0.9, 0.3, 1.0),
            "cast_passes": Constant(2.0, 1e-3, 10.0),
        },
        time=_product,
        law=smooth_maximum.__name__,
    ),
    Family(
        name="attention over a prompt",
        kind="prompt",
        operations=("context_attention",),
        sizes=("batch", "query", "heads", "kv_heads", "head_dim"),
        constants=_ATTENTION,
        time=_prompt,
        law=prompt_attention_time.__name__,
    ),
    Family(
        name="attention of one token",
        kind="one token",
        operations=("generation_attention",),
        sizes=("batch", "kv", "heads", "kv_heads", "head_dim"),
        constants=_DECODE,
        time=_one_token,
        law=one_token_time.__name__,
    ),
    Family(
        name="latent attention over a prompt",
        kind="latent prompt",
        operations=("mla_context",),
        sizes=("batch", "query", "heads"),
        constants=_ATTENTION,
        time=_latent_prompt,
        law=prompt_attention_time.__name__,
    ),
    Family(
        name="latent attention of one token",
        kind="latent token",
        operations=("mla_generation",),
        sizes=("batch", "kv", "heads"),
        constants=_DECODE,
        time=_latent_one_token,
        law=one_token_time.__name__,
    ),
    Family(
        name="experts",
        kind="experts",
        operations=("moe",),
        sizes=("tokens", "hidden", "inter", "topk", "experts", "tp", "ep", "skew"),
        constants={
            "matrix_efficiency": Constant(0.6, 0.03, 1.0),
            "least_rows": Constant(80.0, 1.0, 600.0),
            "gemm_k_half": Constant(60.0, 1.0, 3000.0),
            "kernel_launch_time": Constant(2e-5, 1e-6, 3e-4),
            "memory_efficiency": Constant(0.85, 0.3, 1.0),
            "passes": Constant(4.0, 0.05, 30.0),
            "slot_passes": Constant(1.0, 1e-3, 60.0),
            "carried": Constant(0.1, 1e-3, 1.0),
            "sorting_time": Constant(1e-5, 1e-8, 1e-3),
            "sorting_half": Constant(64.0, 1.0, 4000.0),
            "tile": Constant(3000.0, 64.0, 1e5),
        },
        time=_experts,
        law=experts_time.__name__,
    ),
    Family(
        name="collectives in a node",
        kind="in a node",
        operations=tuple(CROSSINGS),
        sizes=("bytes", "gpus", "crossings"),
        constants={
            "kernel_launch_time": Constant(6e-6, 2e-7, 1e-3),
            "chip_time": Constant(1.5e-6, 1e-9, 1e-4),
            "bus_rate": Constant(3e11, 1e9, 2e12),
            "between": Constant(1.0, 1e-3, 10.0),
        },
        time=_collective,
        law=node_collective_time.__name__,
    ),
)
"""Every kind of kernel that there is a law for."""
FAMILY = {family.name: family for family in FAMILIES}
