"""How far the time of a collective may be off, by measured rows on the same links and on others."""

from collections.abc import Iterable, Sequence
from math import exp, hypot, log, sqrt

from volvelle.applications.collectives.measured_groups import Spanned, measured_groups
from volvelle.applications.collectives.stages import FITTED
from volvelle.catalogue.model_errors import error_reach, model_error
from volvelle.estimators.result import Range
from volvelle.system.cluster import Cluster

LEVEL = 0.8
LONG = 1e6
"""Messages of more bytes are long; below, launching decides and libraries differ most."""
_BULK = 3e7
"""Long messages of no more bytes depend on how pipelines fill: they are off further than those of more. Any cut from
30 to 300 MB scores as well within its doubt (0.93 to 0.96, one deviation 0.02); this one has most publications within
their band."""


def collective_range(time: float, size: float, links: Spanned, *, level: float = LEVEL) -> Range:
    """Where the time of a message lies over links with so many units, by rows that their fit did not see."""
    told, one = collective_error(size, links)
    factor = one ** error_reach("collectives", level)
    return Range(low=time / factor, high=time * factor, level=level, varied=(told,))


def collective_error(size: float, links: Spanned) -> tuple[str, float]:
    """What tells how far a message over some links is off, and by what factor, one standard deviation.

    Groups that are larger than any that was timed over a link are off further.
    """
    names = [name for name, _ in links]
    known = FITTED.issuperset(names)
    told = "measured collectives over these links" if known else "measured collectives whose links were not fitted"
    factor = model_error("collectives", message_regime(size, names), () if known else ("link",)).factor
    groups = measured_groups()
    doublings = groups.doublings(links)
    if not doublings:
        return told, factor
    beyond = " and ".join(
        f"{units:,.0f} units of {name} where at most {groups.most(name, place)} were timed"
        for place, (name, units) in enumerate(links)
        if units > groups.most(name, place)
    )
    return f"{told}, with {beyond}", exp(hypot(log(factor), groups.doubling * sqrt(doublings)))


def message_regime(size: float, links: Sequence[str]) -> str:
    """Of which regime of the model's error a message over some links is, innermost first."""
    where = "across" if len(links) > 1 else "inside"
    told = f"long/{where}/{'above' if size > _BULK else 'to'} {_BULK / 1e6:.0f} MB" if size > LONG else f"short/{where}"
    return f"{told}/{links[-1]}" if links else told


def links_of(cluster: Cluster, along: Iterable[float]) -> Spanned:
    """Links that a group with so many members along each dimension spans, innermost first, each with its units."""
    pairs = zip(cluster.dimensions, along, strict=True)
    return tuple((part.link.name, float(count)) for part, count in pairs if count > 1)
