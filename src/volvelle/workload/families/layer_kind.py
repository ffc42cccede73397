"""Kinds of layers: what mixes positions, and what works on each position alone."""

from dataclasses import dataclass
from typing import Literal, Self, cast, get_args

from volvelle.domains import check_fields
from volvelle.errors import DescriptionError, UnknownNameError

Mixer = Literal["attention", "local attention", "mamba", "mamba2", "delta net", "none"]
"""How positions learn of each other: attention over all of them or over a window, or a recurrence."""
Feed = Literal["mlp", "experts", "none"]
"""What each position then goes through alone."""

_MIXERS, _FEEDS = ([name for name in get_args(kind) if name != "none"] for kind in (Mixer, Feed))


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerKind:
    """One kind of layer: a mixer, a feed-forward, or the one after the other."""

    mixer: Mixer
    feed: Feed

    def __post_init__(self) -> None:
        check_fields(self, "layer")
        if self.mixer == self.feed == "none":
            raise DescriptionError("a layer has something that mixes positions, a feed-forward, or both")

    @property
    def attends(self) -> bool:
        """Whether it has attention, over all positions or a window."""
        return self.mixer in ("attention", "local attention")

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``"local attention + mlp"``, ``"mamba"`` or ``"experts"``."""
        parts = [part.strip() for part in text.split("+")]
        for part in parts:
            if part not in (*_MIXERS, *_FEEDS):
                raise UnknownNameError.among("part of a layer", part, [*_MIXERS, *_FEEDS])
        mixer = parts[0] if parts[0] in _MIXERS else "none"
        feed = parts[-1] if parts[-1] in _FEEDS else "none"
        if [part for part in (mixer, feed) if part != "none"] != parts:
            raise DescriptionError(f"the layer {text!r} is not one mixer, one feed-forward, or the one + the other")
        return cls(mixer=cast("Mixer", mixer), feed=cast("Feed", feed))

    def __str__(self) -> str:
        return " + ".join(part for part in (self.mixer, self.feed) if part != "none")
