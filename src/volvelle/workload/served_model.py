"""A model as it is served: its architecture, and how its weights and what it caches are written."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from volvelle.errors import UnknownNameError, plainly
from volvelle.workload.families.shape import Transformer


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightFormat:
    """How weights are written, and in what they are multiplied."""

    name: str
    bytes: float
    """Of a weight, scales included."""
    multiplied_in: str
    """Element type of the products: weights of a format that only stores are widened on the way."""
    kernels: str
    """What sources of kernel times call that type."""
    experts_only: bool = False
    """Whether all but the experts of a mixture stay in 16 bits."""
    native: tuple[str, str] = ("", "")
    """Chips that multiply a format as narrow: what sources call its kernels, and the element type; none: widened."""

    @property
    def widened(self) -> bool:
        """Whether weights are stored in fewer bits than they are multiplied in."""
        return self.multiplied_in == "bf16" and self.bytes < 2.0

    def on(self, measured: Collection[str]) -> "WeightFormat":
        """The format as a chip multiplies it whose kernels were measured in these types."""
        kernels, element = self.native
        return replace(self, kernels=kernels, multiplied_in=element) if kernels and kernels in measured else self


FORMATS = {
    one.name: one
    for one in (
        WeightFormat(name="bf16", bytes=2.0, multiplied_in="bf16", kernels="bfloat16"),
        WeightFormat(name="fp16", bytes=2.0, multiplied_in="bf16", kernels="bfloat16"),
        WeightFormat(name="fp8", bytes=1.0, multiplied_in="fp8", kernels="fp8"),
        WeightFormat(name="fp8-block", bytes=1.0 + 4.0 / 128**2, multiplied_in="fp8", kernels="fp8_block"),
        WeightFormat(name="nvfp4", bytes=0.5625, multiplied_in="fp4", kernels="nvfp4"),
        WeightFormat(
            name="mxfp4",
            bytes=0.53125,
            multiplied_in="bf16",
            kernels="bfloat16",
            experts_only=True,
            native=("nvfp4", "fp4"),
        ),
        WeightFormat(name="int8", bytes=1.0, multiplied_in="bf16", kernels="bfloat16"),
        WeightFormat(name="int4", bytes=0.53125, multiplied_in="bf16", kernels="bfloat16", experts_only=True),
    )
}
"""Formats of weights by name."""
_WORDS = {
    **dict.fromkeys(("awq", "gptq", "gptq-int4", "w4a16", "q4_k_m", "q4_k_s", "q4_0"), "int4"),
    **dict.fromkeys(("gptq-int8", "w8a16", "q8_0"), "int8"),
}
"""Names of quantised checkpoints → the format that stores weights in as many bits."""
CACHES = {"bf16": 2.0, "fp8": 1.0}
"""Bytes of an element of what is cached, by its type."""


def weight_format(name: str) -> WeightFormat:
    """A format by its name."""
    if name not in FORMATS:
        raise UnknownNameError.among("format of weights", name, FORMATS)
    return FORMATS[name]


def format_named(text: str) -> str:
    """Return a format by its name as people write it: ``FP8`` is fp8; ``awq`` and ``q4_K_M`` are int4."""
    plain = plainly(text)
    named = {plainly(name): name for name in FORMATS} | {plainly(word): name for word, name in _WORDS.items()}
    if plain not in named:
        raise UnknownNameError.among("format of weights", text, FORMATS)
    return named[plain]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedModel:
    """A model, the format of its weights, and the type of what is cached."""

    shape: Transformer
    weights: str = "bf16"
    cache: str = "bf16"

    def __post_init__(self) -> None:
        weight_format(self.weights)
        if self.cache not in CACHES:
            raise UnknownNameError.among("type of a cache", self.cache, CACHES)

    @property
    def expert_format(self) -> WeightFormat:
        """Of the experts' weights."""
        return weight_format(self.weights)

    @property
    def dense_format(self) -> WeightFormat:
        """Of the weights of all other products but the head, the embedding and the router, which keep 16 bits."""
        only_experts = self.expert_format.experts_only and self.shape.experts is not None
        return FORMATS["bf16"] if only_experts else self.expert_format

    @property
    def cache_bytes(self) -> float:
        """Of an element of what is cached."""
        return CACHES[self.cache]
