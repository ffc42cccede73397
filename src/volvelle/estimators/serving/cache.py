"""What a served model keeps: bytes of every token and of every request on a chip, weights, and how much is left."""

from dataclasses import dataclass
from functools import lru_cache

from volvelle.domains import NO_SIZE, SHARE, WIDTH, check_fields, number
from volvelle.estimators.serving.products import expert_weights, head_product, layer_products
from volvelle.laws.kernels.recurrence import STATE_BYTES
from volvelle.laws.kv_cache import (
    attended_positions,
    cache_blocks,
    cache_room,
    grouped_cache_bytes,
    latent_cache_bytes,
    recurrent_state_bytes,
)
from volvelle.mapping.serving_layout import ServingLayout
from volvelle.quantities import Bytes, Count
from volvelle.workload.served_model import ServedModel

BLOCK = 16
"""Tokens of a block of the cache, where an engine says nothing else."""


def token_bytes(served: ServedModel, layout: ServingLayout, *, local: bool = False) -> float:
    """Bytes that one layer keeps of a token on one chip; of layers with a window while the window reaches it."""
    shape = served.shape
    if shape.latent is not None and not local:
        return float(
            latent_cache_bytes(shape.latent.kv_rank, shape.latent.rotary_dim, element_bytes=served.cache_bytes)
        )
    return float(grouped_cache_bytes(shape.kv_heads, shape.head_dim, layout.tensor, element_bytes=served.cache_bytes))


def cache_bytes(served: ServedModel, layout: ServingLayout, context: Count, *, block: int = BLOCK) -> Bytes:
    """Bytes that a request of so many tokens keeps on the chip of the fullest stage, in whole blocks."""
    shape = served.shape
    kept = cache_blocks(context, block=block) * block
    found: Bytes = 0.0
    for kind in dict.fromkeys(shape.kinds):
        layers = -(-shape.kinds.count(kind) // layout.pipeline)
        if kind.mixer == "attention":
            found = found + layers * token_bytes(served, layout) * kept
        elif kind.mixer == "local attention":
            reached = attended_positions(kept, reach=float(cache_blocks(shape.window, block=block) * block))
            found = found + layers * token_bytes(served, layout, local=True) * reached
        elif kind.mixer == "delta net":
            found = found + layers * state_bytes(served, layout)
    return found


def state_bytes(served: ServedModel, layout: ServingLayout) -> float:
    """Bytes that a layer of a delta net keeps of a request on one chip, however long the request is."""
    net = served.shape.delta_net
    assert net is not None, "a layer of a delta net has one"
    channels = 2.0 * net.key_heads * net.key_dim + net.value_heads * net.value_dim
    return float(
        recurrent_state_bytes(
            net.value_heads,
            net.key_dim,
            net.value_dim,
            channels,
            net.taps,
            layout.tensor,
            state_bytes=STATE_BYTES,
        )
    )


@lru_cache(maxsize=4096)
def growing_bytes(served: ServedModel, layout: ServingLayout) -> float:
    """Bytes that every further token adds on a chip, beyond all windows."""
    full = [kind for kind in served.shape.kinds if kind.mixer == "attention"]
    return -(-len(full) // layout.pipeline) * token_bytes(served, layout)


@lru_cache(maxsize=4096)
def weight_bytes(served: ServedModel, layout: ServingLayout) -> float:
    """Bytes of weights on the chip of the fullest stage: its layers, embedding and head."""
    shape = served.shape
    found = 0.0
    for kind in dict.fromkeys(shape.kinds):
        one = sum(product.bytes for product in layer_products(served, layout, kind))
        if kind.feed == "experts":
            one += expert_weights(served, layout) * served.expert_format.bytes
        found += -(-shape.kinds.count(kind) // layout.pipeline) * one
    ends = head_product(served, layout).bytes
    return found + ends * (1.0 if shape.tied_embeddings or layout.pipeline > 1 else 2.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPlan:
    """How an engine shares out the memory of a chip."""

    capacity: float = number(NO_SIZE)
    share: float = number(SHARE, 0.9)
    """Of the memory that the engine may take."""
    working: float = number(NO_SIZE, 3e9)
    """Bytes of the largest step's activations, captured graphs and buffers of collectives."""
    block: int = number(WIDTH, BLOCK)
    of_rest: bool = False
    """Whether the share is of what weights and steps leave, as TensorRT-LLM counts, rather than of all."""

    def __post_init__(self) -> None:
        check_fields(self, "memory of a serving engine")

    def room(self, served: ServedModel, layout: ServingLayout, *, beside: float = 0.0) -> float:
        """Bytes that are left for the cache, where so many are of weights beside the model's."""
        weights = weight_bytes(served, layout) + beside
        share = self.allowed(weights) / self.capacity
        return float(cache_room(self.capacity, share=share, weights=weights, working=self.working))

    def allowed(self, weights: float) -> float:
        """Bytes that the engine may take, with so many of weights."""
        if not self.of_rest:
            return self.share * self.capacity
        return self.capacity - (1.0 - self.share) * max(self.capacity - weights - self.working, 0.0)

    def blocks(
        self, served: ServedModel, layout: ServingLayout, *, beside: float = 0.0, growing_beside: float = 0.0
    ) -> int:
        """Blocks of tokens that fit, of a long request, beside weights and cache of another model that goes with it."""
        growing = growing_bytes(served, layout) + growing_beside or 1.0
        return int(self.room(served, layout, beside=beside) // (growing * self.block))
