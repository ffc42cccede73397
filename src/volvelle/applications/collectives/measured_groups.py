"""Up to how many units collectives were timed over each link, and how far larger groups may be off besides.

Written by ``scripts/left_out_residuals.py collectives`` from calibration rows alone (``data/collective_groups.yaml``).
"""

from collections.abc import Mapping
from functools import cache
from math import log2

from pydantic import BaseModel, ConfigDict

from volvelle.catalogue.packaged_rows import packaged_fields


class MeasuredGroups(BaseModel):
    """What calibration rows tell of the size of groups."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    largest: Mapping[str, int]
    """Link → units of the largest group along it."""
    doubling: float
    """One standard deviation of ln(measured / predicted) that a doubling beyond it adds, by the squares."""
    source: str

    def doublings(self, links: Mapping[str, float]) -> float:
        """By how many doublings a group with so many units along these links is larger than any that was timed."""
        return sum(max(0.0, log2(units / self.largest[name])) for name, units in links.items() if name in self.largest)


@cache
def measured_groups() -> MeasuredGroups:
    """As the file has it."""
    return MeasuredGroups(**packaged_fields("collective_groups.yaml"))
