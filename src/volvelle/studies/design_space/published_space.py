"""Design spaces that somebody published, evaluated as their authors describe: found by name, known by a contract.

A study names one as ``system: published/NAME``. Whoever brings one declares an entry point of the group
``volvelle.published_spaces``; studies know none of them.
"""

from collections.abc import Sequence
from importlib.metadata import entry_points
from typing import Protocol, cast

from volvelle.errors import UnknownNameError
from volvelle.studies.design_space.axes import Axis, Grid
from volvelle.studies.design_space.points import PointSource

GROUP = "volvelle.published_spaces"


class StudiedPoints(Protocol):
    """What a published space is told of a study."""

    @property
    def axes(self) -> tuple[Axis, ...]:
        """What varies."""

    @property
    def grid(self) -> Grid:
        """All points, by number."""

    @property
    def measures(self) -> tuple[str, ...]:
        """What is written of every point."""


class PublishedSpace(Protocol):
    """A published design space."""

    package: str
    """Package whose files its answers depend on, besides those every study depends on."""
    measures: tuple[str, ...]
    """What is written of every point."""

    def values(self, path: str, values: Sequence[object] | None, where: str) -> tuple[str, ...]:
        """Values of an axis, checked against what was published."""

    def source(self, study: StudiedPoints) -> PointSource:
        """What evaluates the points of a study of it."""


def published_space(name: str) -> PublishedSpace:
    """The space of that name."""
    known = {entry.name: entry for entry in entry_points(group=GROUP)}
    if name not in known:
        raise UnknownNameError.among("published design space", name, known)
    return cast(PublishedSpace, known[name].load())
