"""What the memory of a chip of an instance is for, and whether a batch of requests fits."""

from dataclasses import dataclass

from volvelle.applications.serving.instance import Instance
from volvelle.estimators.result import AbstractFigure
from volvelle.estimators.serving.cache import weight_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldPart:
    """A part of the memory of a chip."""

    name: str
    bytes: float


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldMemory(AbstractFigure):
    """Memory of the chip of the fullest stage, in bytes; as a figure, what of it is used."""

    capacity: float
    allowed: float
    """What the engine may take."""
    weights: float
    draft_weights: float = 0.0
    """Of what drafts tokens."""
    working: float
    """Activations, captured graphs, buffers of collectives."""
    request_cache: float
    """Of one request at its end."""
    sequences: int
    """That the batch puts on the chip at once."""
    cache_blocks: int
    cache_tokens: int
    """Tokens that blocks of the whole cache hold."""
    cache_peak: float | None = None
    """Bytes of the cache at its fullest, where a load was followed."""

    @property
    def cache(self) -> float:
        """Of the batch at its end, or at the fullest under load."""
        return self.sequences * self.request_cache if self.cache_peak is None else self.cache_peak

    @property
    def room(self) -> float:
        """For the cache; nothing is left where it is negative."""
        return self.allowed - self.weights - self.draft_weights - self.working

    @property
    def most_sequences(self) -> int:
        """Such requests that the cache holds at once."""
        return max(int(self.room // self.request_cache), 0) if self.request_cache > 0 else self.sequences

    @property
    def fits(self) -> bool:
        """Whether weights and the whole batch do."""
        return self.cache <= self.room

    @property
    def used(self) -> float:
        """All that the instance holds."""
        return self.weights + self.draft_weights + self.working + self.cache

    @property
    def value(self) -> float:
        """All that the instance holds."""
        return self.used

    @property
    def range(self) -> None:
        """None: not known of memory."""

    @property
    def unit(self) -> str:
        """Bytes."""
        return "B"

    @property
    def parts(self) -> tuple[HeldPart, ...]:
        """The parts, the largest first; of what does not fit nothing is left free."""
        held = [
            HeldPart(name="weights", bytes=self.weights),
            HeldPart(name="weights of the drafter", bytes=self.draft_weights),
            HeldPart(name="KV cache in use", bytes=self.cache),
            HeldPart(name="activations, graphs and buffers", bytes=self.working),
            HeldPart(name="KV cache left free", bytes=max(self.room - self.cache, 0.0)),
            HeldPart(name="not given to the engine", bytes=self.capacity - self.allowed),
        ]
        return tuple(sorted((part for part in held if part.bytes > 0.0), key=lambda part: -part.bytes))


def held_memory(instance: Instance, *, sequences: int, context: int) -> HeldMemory:
    """Of so many requests on a chip at once, each of so many tokens at its end."""
    plan = instance.memory
    blocks = max(instance.kv_blocks, 0)
    weights = weight_bytes(instance.served, instance.layout)
    return HeldMemory(
        capacity=plan.capacity,
        allowed=plan.allowed(weights + instance.draft_weights),
        weights=weights,
        draft_weights=instance.draft_weights,
        working=plan.working,
        request_cache=instance.request_cache(float(context)),
        sequences=sequences,
        cache_blocks=blocks,
        cache_tokens=blocks * plan.block,
    )
