"""Up to how many units collectives were timed over each link, and how far larger groups may be off besides.

Written by ``scripts/left_out_residuals.py collectives`` from calibration rows alone (``data/collective_groups.yaml``).
"""

from collections.abc import Mapping, Sequence
from functools import cache
from math import log2

from pydantic import BaseModel, ConfigDict

from volvelle.catalogue.packaged_rows import packaged_fields

Spanned = Sequence[tuple[str, float]]
"""Links that a group spans, innermost first, each with its units along it."""


class MeasuredGroups(BaseModel):
    """What calibration rows tell of the size of groups."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    largest: Mapping[str, int]
    """Link → units of the largest group along it."""
    inside: int
    """The same in the middle of all links inside nodes, for those that nobody timed; and of those between nodes."""
    across: int
    doubling: float
    """One standard deviation of ln(measured / predicted) that a doubling beyond it adds, by the squares."""
    source: str

    def most(self, name: str, place: int) -> int:
        """Units of the largest group that was timed along a link, the innermost being at 0."""
        return self.largest.get(name, self.across if place else self.inside)

    def doublings(self, links: Spanned) -> float:
        """By how many doublings a group is larger than any that was timed."""
        return sum(max(0.0, log2(units / self.most(name, place))) for place, (name, units) in enumerate(links))


@cache
def measured_groups() -> MeasuredGroups:
    """As the file has it."""
    return MeasuredGroups(**packaged_fields("collective_groups.yaml"))
