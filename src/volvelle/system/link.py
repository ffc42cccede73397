"""Links: what one chip can send and receive in one dimension of the network."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from volvelle.domains import BYTE_RATE, DELAY, NO_SHARE, SHARE, check_fields, number
from volvelle.quantities import BYTES_PER_SECOND, SECONDS, BytesPerSecond, Fraction, Seconds, brief_quantity
from volvelle.spread import Figure


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Link:
    """All links of one chip in one network dimension, taken together."""

    name: str
    rate: BytesPerSecond = number(BYTE_RATE)
    """Raw rate in each direction."""
    latency: Seconds = number(DELAY, 0.0)
    """One step of a collective, software included."""
    setup: Seconds = number(DELAY, 0.0)
    """Time before the first step: launching the collective."""
    efficiency: Fraction = number(SHARE, 1.0)
    """Sustained fraction of the raw rate on large messages."""
    fill: Seconds = number(DELAY, 0.0)
    """Most that filling the pipeline of a long message costs, in the largest pieces the library uses."""
    contention: Fraction = number(NO_SHARE, 0.0)
    """What the rate loses, in shares of itself, with every doubling of the units a collective spans."""
    reduces: bool = False
    """The network itself can add up what it forwards (NVLink SHARP, InfiniBand SHARP)."""
    reduction_efficiency: Fraction = number(SHARE, 1.0)
    """Rate while the network adds up, over the sustained rate."""
    unhidden: Fraction = number(NO_SHARE, 0.0)
    """Of its transfer and the longest further in, the share of the shorter that a collective does not hide."""
    figures: Mapping[str, Figure] = field(default_factory=dict)
    """How sure we are of the fields above, by name."""

    def __post_init__(self) -> None:
        check_fields(self, f"link {self.name!r}")

    def __repr__(self) -> str:
        rate, latency = brief_quantity(self.rate, BYTES_PER_SECOND), brief_quantity(self.latency, SECONDS)
        return f"Link({self.name!r}: {rate} each way, {latency} a step)"

    @property
    def sustained(self) -> BytesPerSecond:
        """Rate in each direction that large messages see."""
        return self.rate * self.efficiency
