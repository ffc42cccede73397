"""What calibration rows tell of the size of groups whose collectives were timed."""

from collections.abc import Iterable, Mapping

import numpy as np

from volvelle.applications.collectives.collective_error import links_of
from volvelle.applications.collectives.measured_groups import MeasuredGroups
from volvelle.applications.collectives.measurements import CollectiveMeasurement
from volvelle.applications.collectives.series import series_of
from volvelle.applications.collectives.stages import FITTED, STAGES
from volvelle.applications.measured_table import CalibrationRows
from volvelle.catalogue import Catalogue
from volvelle.catalogue.left_out import LeftOut


def groups_timed(
    rows: CalibrationRows[CollectiveMeasurement], catalogue: Catalogue, left_out: Iterable[LeftOut]
) -> MeasuredGroups:
    """The largest groups along links that are fitted; and what publications are off whose groups no other has.

    Publications count alike, each by its deviation over the root of the doublings by which it goes beyond the others.
    """
    told = [row for stage in STAGES for row in rows.rows if row.head.group in stage.groups]
    spans: dict[str, dict[str, Mapping[str, float]]] = {}  # row → its link → units, by publication
    for each in series_of(told, catalogue):
        system = each.question.system
        units = links_of(system, (part.size for part in system.dimensions))
        spans.setdefault(each.group, {}).update(dict.fromkeys(each.rows, units))
    reached = {
        source: {link: max(units.get(link, 1.0) for units in own.values()) for link in FITTED}
        for source, own in spans.items()
    }
    squares: dict[str, list[float]] = {}
    for row in left_out:
        units = spans.get(row.source, {}).get(row.row_id, {})
        others = MeasuredGroups(largest=_largest(reached, without=row.source), doubling=0.0, source="")
        # No publication but one tells of a link that no other has: there is nothing to go beyond.
        doublings = others.doublings({link: count for link, count in units.items() if others.largest[link] > 1})
        if doublings and row.regime.startswith("long/"):
            squares.setdefault(row.source, []).append(row.residual**2 / doublings)
    doubling = float(np.sqrt(np.mean([np.mean(own) for own in squares.values()])))
    return MeasuredGroups(
        largest=_largest(reached),
        doubling=float(f"{doubling:.3g}"),
        source=f"{sum(map(len, squares.values()))} messages of {len(squares)} publications with larger groups than any "
        "other over their links, left out of the fit (scripts/left_out_residuals.py)",
    )


def _largest(reached: Mapping[str, Mapping[str, float]], *, without: str = "") -> dict[str, int]:
    """Link → units of the largest group of any publication but one."""
    return {
        link: max([1, *(int(own[link]) for source, own in reached.items() if source != without)])
        for link in sorted(FITTED)
    }
