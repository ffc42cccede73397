"""Design spaces that somebody published, evaluated as their authors describe: found by name, known by a contract.

A study names one as ``system: published/NAME``. Whoever brings one declares an entry point of the group
``volvelle.published_spaces``; studies know none of them.
"""

from collections.abc import Sequence
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Protocol, cast

from volvelle.errors import UnknownNameError
from volvelle.studies.design_space.points import PointSource

if TYPE_CHECKING:
    from volvelle.studies.design_space.design_study import DesignStudy

__all__ = ["GROUP", "PublishedSpace", "published_space"]

GROUP = "volvelle.published_spaces"


class PublishedSpace(Protocol):
    """A published design space."""

    package: str
    """Package whose files its answers depend on, besides those every study depends on."""
    measures: tuple[str, ...]
    """What is written of every point."""

    def values(self, path: str, values: Sequence[object] | None, where: str) -> tuple[str, ...]:
        """Values of an axis, checked against what was published."""

    def source(self, study: "DesignStudy") -> PointSource:
        """What evaluates the points of a study of it."""


def published_space(name: str) -> PublishedSpace:
    """The space of that name."""
    known = {entry.name: entry for entry in entry_points(group=GROUP)}
    if name not in known:
        raise UnknownNameError.among("published design space", name, known)
    return cast(PublishedSpace, known[name].load())
