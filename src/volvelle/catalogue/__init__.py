"""Facts: chips, links, clusters and models, every number with its unit, evidence and source.

>>> from volvelle import catalogue
>>> catalogue.models.llama3_70b.layers
80
>>> catalogue.clusters["dgx-h100/64"].accelerators
64
"""

from functools import cache
from typing import TYPE_CHECKING, Any

from volvelle.catalogue.loader import Catalogue

if TYPE_CHECKING:
    from volvelle.catalogue.shelves import Shelf
    from volvelle.system.chip import Chip
    from volvelle.system.cluster import Cluster
    from volvelle.system.link import Link
    from volvelle.workload.families.shape import Transformer

    chips: Shelf[Chip]
    clusters: Shelf[Cluster]
    links: Shelf[Link]
    models: Shelf[Transformer]

__all__ = ["Catalogue"]
_SHELVES = ("chips", "clusters", "links", "models")


@cache
def _own() -> Catalogue:
    """The package's catalogue, without folders of anybody's own."""
    return Catalogue()


def __getattr__(name: str) -> Any:
    """The shelves of the package's own catalogue, read when first asked for."""
    if name not in _SHELVES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    return getattr(_own(), name)


def __dir__() -> list[str]:
    return sorted([*__all__, *_SHELVES])
