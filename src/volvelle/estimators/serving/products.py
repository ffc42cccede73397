"""The matrix products of a served layer on one chip: what each multiplies, and the weights it reads."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from volvelle.laws.kv_cache import cached_heads
from volvelle.mapping.serving_layout import ServingLayout
from volvelle.workload.families.layer_kind import LayerKind
from volvelle.workload.served_model import FORMATS, ServedModel, WeightFormat

Rows = Literal["tokens", "prompts", "decodes", "yields"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedProduct:
    """A product of what goes through a layer with weights: projections that read the same are one."""

    part: str
    """What it counts to in a breakdown."""
    columns: float
    depth: float
    form: WeightFormat
    rows: Rows = "tokens"
    """Of which tokens of a step."""
    held: bool = True
    """False: it reads weights that another product has counted."""

    @property
    def weights(self) -> float:
        """Numbers that it reads."""
        return self.columns * self.depth

    @property
    def bytes(self) -> float:
        """Of weights that a chip keeps for it."""
        return self.weights * self.form.bytes if self.held else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductGroup:
    """Products in one format, which kernels of one kind do: one a row, so that all are timed at once."""

    form: WeightFormat
    parts: tuple[str, ...]
    """What each counts to."""
    rows: tuple[Rows, ...]
    columns: NDArray[np.float64]
    depth: NDArray[np.float64]
    layers: NDArray[np.float64]
    """That have each."""

    def beside(self, rows: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
        """Columns, depth and layers, for rows of each product along further axes."""
        along = (-1, *(1,) * (rows.ndim - 1))
        return self.columns.reshape(along), self.depth.reshape(along), self.layers.reshape(along)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layers:
    """What all layers of a served model have, each thing once with the number of layers that have it."""

    products: tuple[ProductGroup, ...]
    """The head among them."""
    head: ProductGroup
    """Alone."""
    reaches: tuple[tuple[float, int], ...]
    """Tokens that attention sees back."""
    recurrent: int
    experts: int
    halves: int
    """Mixers and feed-forwards: an exchange between chips after each."""


@lru_cache(maxsize=4096)
def all_layers(served: ServedModel, layout: ServingLayout) -> Layers:
    """Of one stage after another."""
    shape, kinds = served.shape, Counter(served.shape.kinds)
    found: Counter[ServedProduct] = Counter()
    reaches: Counter[float] = Counter()
    for kind, layers in kinds.items():
        for product in layer_products(served, layout, kind):
            found[product] += layers
        if kind.attends:
            reaches[float(shape.window) if kind.mixer == "local attention" else np.inf] += layers
    head = head_product(served, layout)
    found[head] += 1
    forms = dict.fromkeys(product.form for product in found)
    return Layers(
        products=tuple(_group({one: layers for one, layers in found.items() if one.form == form}) for form in forms),
        head=_group({head: 1}),
        reaches=tuple(reaches.items()),
        recurrent=sum(layers for kind, layers in kinds.items() if kind.mixer == "delta net"),
        experts=sum(layers for kind, layers in kinds.items() if kind.feed == "experts"),
        halves=sum(layers * ((kind.mixer != "none") + (kind.feed != "none")) for kind, layers in kinds.items()),
    )


def _group(products: dict[ServedProduct, int]) -> ProductGroup:
    return ProductGroup(
        form=next(iter(products)).form,
        parts=tuple(product.part for product in products),
        rows=tuple(product.rows for product in products),
        columns=np.array([product.columns for product in products]),
        depth=np.array([product.depth for product in products]),
        layers=np.array([float(layers) for layers in products.values()]),
    )


def layer_products(served: ServedModel, layout: ServingLayout, kind: LayerKind) -> tuple[ServedProduct, ...]:
    """All products of a layer but those of experts that tokens choose."""
    return (*_mixing(served, layout, kind), *_feeding(served, layout, kind))


def head_product(served: ServedModel, layout: ServingLayout) -> ServedProduct:
    """Logits; the head keeps 16 bits."""
    shape = served.shape
    columns = shape.vocabulary / layout.tensor
    return ServedProduct(part="head", columns=columns, depth=shape.hidden, form=FORMATS["bf16"], rows="yields")


def expert_weights(served: ServedModel, layout: ServingLayout) -> float:
    """Numbers of the experts of one layer that a chip keeps."""
    experts = served.shape.experts
    if experts is None:
        return 0.0
    matrices = 3.0 if served.shape.gated else 2.0
    return matrices * served.shape.hidden * experts.ffn * experts.count / (layout.expert * layout.expert_tensor)


def _mixing(served: ServedModel, layout: ServingLayout, kind: LayerKind) -> Iterator[ServedProduct]:
    shape, form, part = served.shape, served.dense_format, "attention projections"
    heads = shape.heads / layout.tensor
    if kind.mixer == "delta net" and shape.delta_net is not None:
        net = shape.delta_net
        keyed, valued = net.key_heads * net.key_dim, net.value_heads * net.value_dim
        columns = 2.0 * (keyed + valued + net.value_heads) / layout.tensor
        yield ServedProduct(part=part, columns=columns, depth=shape.hidden, form=form)
        yield ServedProduct(part=part, columns=shape.hidden, depth=valued / layout.tensor, form=form)
        return
    if not kind.attends:
        return
    if shape.latent is None:
        kept = float(cached_heads(shape.kv_heads, layout.tensor))
        columns = ((2.0 if shape.attention_gate else 1.0) * heads + 2.0 * kept) * shape.head_dim
        yield ServedProduct(part=part, columns=columns, depth=shape.hidden, form=form)
        yield ServedProduct(part=part, columns=shape.hidden, depth=heads * shape.head_dim, form=form)
        return
    latent, wide = shape.latent, shape.head_dim + shape.latent.rotary_dim
    down = latent.query_rank + latent.kv_rank + latent.rotary_dim
    yield ServedProduct(part=part, columns=down, depth=shape.hidden, form=form)
    yield ServedProduct(part=part, columns=heads * wide, depth=latent.query_rank or shape.hidden, form=form)
    expanded = heads * (shape.head_dim + latent.value_dim)
    yield ServedProduct(part=part, columns=expanded, depth=latent.kv_rank, form=form, rows="prompts")
    # Decodes work in the latent: what expands keys goes into the query, what expands values into the output.
    for width in (shape.head_dim, latent.value_dim):
        yield ServedProduct(
            part=part, columns=latent.kv_rank, depth=heads * width, form=FORMATS["bf16"], rows="decodes", held=False
        )
    yield ServedProduct(part=part, columns=shape.hidden, depth=heads * latent.value_dim, form=form)
    if shape.sparse is not None:  # every chip has the whole index
        index = shape.sparse
        asked = index.heads * index.dim
        yield ServedProduct(part="index", columns=asked, depth=latent.query_rank or shape.hidden, form=form)
        yield ServedProduct(part="index", columns=index.dim + index.heads, depth=shape.hidden, form=FORMATS["bf16"])


def _feeding(served: ServedModel, layout: ServingLayout, kind: LayerKind) -> Iterator[ServedProduct]:
    shape, experts = served.shape, served.shape.experts
    widths = {"mlp": ("feed-forward", shape.ffn), "experts": ("shared experts", experts.shared_ffn if experts else 0)}
    part, inner = widths.get(kind.feed, ("", 0))
    branches = 2.0 if shape.gated else 1.0
    if kind.feed == "experts" and experts is not None:
        yield ServedProduct(part="router", columns=experts.count, depth=shape.hidden, form=FORMATS["bf16"])
    if inner:
        split = inner / layout.tensor
        yield ServedProduct(part=part, columns=branches * split, depth=shape.hidden, form=served.dense_format)
        yield ServedProduct(part=part, columns=shape.hidden, depth=split, form=served.dense_format)
