"""How far the time of a collective may be off, by measured rows on the same links and on others."""

from collections.abc import Iterable, Sequence

from volvelle.applications.collectives.stages import FITTED
from volvelle.catalogue.model_errors import model_error
from volvelle.estimators.result import Range
from volvelle.spread import model_reach
from volvelle.system.cluster import Cluster

LEVEL = 0.8
LONG = 1e6
"""Messages of more bytes are long; below, launching decides and libraries differ most."""
_BULK = 1e8
"""Long messages of no more bytes depend on how pipelines fill: they are off three times as far as those of more."""


def collective_range(time: float, size: float, links: Sequence[str], *, level: float = LEVEL) -> Range:
    """Where the time of a message over some links lies; by calibration rows that their fit did not see."""
    told, one = collective_error(size, links)
    factor = one ** model_reach(level)
    return Range(low=time / factor, high=time * factor, level=level, varied=(told,))


def collective_error(size: float, links: Sequence[str]) -> tuple[str, float]:
    """What tells how far a message over some links is off, and by what factor, one standard deviation."""
    known = FITTED.issuperset(links)
    told = "measured collectives over these links" if known else "measured collectives whose links were not fitted"
    return told, model_error("collectives", message_regime(size, links), () if known else ("link",)).factor


def message_regime(size: float, links: Sequence[str]) -> str:
    """Of which regime of the model's error a message over some links is."""
    where = "across" if len(links) > 1 else "inside"
    told = f"long/{where}/{'above' if size > _BULK else 'to'} 100 MB" if size > LONG else f"short/{where}"
    return f"{told}/{links[-1]}" if links else told


def links_of(cluster: Cluster, along: Iterable[float]) -> tuple[str, ...]:
    """Names of the links that a group with so many members along each dimension spans."""
    return tuple(part.link.name for part, count in zip(cluster.dimensions, along, strict=True) if count > 1)
