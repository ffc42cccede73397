"""Caches on their way from the pool that computes prompts to the pool that decodes."""

from dataclasses import dataclass
from typing import final

import numpy as np

from volvelle.applications.serving.instance import Instance
from volvelle.domains import BYTE_RATE, DELAY, check_fields, number
from volvelle.estimators.serving.cache import cache_bytes
from volvelle.laws.serving.transfer import cache_transfer_time, streamed_arrival
from volvelle.system.cluster import Cluster
from volvelle.workload.serving.requests import Real, Whole


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferLink:
    """What one chip sends to another pool over."""

    name: str
    rate: float = number(BYTE_RATE)
    """Sustained, in each direction."""
    latency: float = number(DELAY, 0.0)

    def __post_init__(self) -> None:
        check_fields(self, f"link {self.name!r} between pools")


def link_between(prefill: Cluster, decode: Cluster, *, chips: int) -> TransferLink:
    """The link that joins two pools of so many chips together: within a node where one holds both.

    Pools of different machines are joined by the slower of their outermost networks.
    """
    if prefill.name == decode.name:
        inner = prefill.dimensions[0]
        found = [inner.link if chips <= inner.size else prefill.dimensions[-1].link]
    else:
        found = [prefill.dimensions[-1].link, decode.dimensions[-1].link]
    slowest = min(found, key=lambda link: float(link.sustained))
    return TransferLink(
        name=slowest.name,
        rate=float(slowest.sustained),
        latency=max(float(link.setup + link.latency) for link in found),
    )


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CacheTransfer:
    """Of requests, each over the link of the engine that computed its prompt, one after the other."""

    seconds: Real
    """Of the cache of each request, on a link that is free."""
    latency: float
    layers: int
    """Pieces that are sent as they are computed; 1: all after the prompt."""

    @property
    def least(self) -> float:
        """Seconds that any cache arrives after its prompt was computed, at least."""
        return float(self.seconds.min()) / self.layers + self.latency

    def arrival(self, request: int, *, started: float, computed: float, free: float) -> float:
        """When the cache of a request has arrived."""
        took = float(self.seconds[request])
        given = {"transfer": took, "free": free, "latency": self.latency, "layers": self.layers}
        return float(streamed_arrival(started, computed, **given))


def cache_transfer(
    prefill: Instance, decode: Instance, inputs: Whole, link: TransferLink, *, by_layer: bool
) -> CacheTransfer:
    """Of prompts of so many tokens, between one rank of each of two instances."""
    lengths, place = np.unique(inputs, return_inverse=True)
    kept = np.asarray(cache_bytes(decode.served, decode.layout, lengths.astype(np.float64), block=decode.memory.block))
    sources, targets = (one.layout.tensor * one.layout.pipeline for one in (prefill, decode))
    seconds = cache_transfer_time(kept, sources, targets, link_rate=link.rate)
    return CacheTransfer(
        seconds=np.broadcast_to(np.asarray(seconds, np.float64), lengths.shape)[place.reshape(-1)],
        latency=link.latency,
        layers=decode.served.shape.layers if by_layer else 1,
    )
