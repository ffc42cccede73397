"""What calibration rows tell of the size of groups whose collectives were timed."""

from collections.abc import Iterable, Mapping
from math import log, log2

import numpy as np

from volvelle.applications.collectives.collective_error import links_of
from volvelle.applications.collectives.measured_groups import MeasuredGroups, Spanned
from volvelle.applications.collectives.measurements import CollectiveMeasurement
from volvelle.applications.collectives.series import series_of
from volvelle.applications.collectives.stages import FITTED, STAGES
from volvelle.applications.measured_table import CalibrationRows
from volvelle.catalogue import Catalogue
from volvelle.catalogue.left_out import LeftOut
from volvelle.catalogue.model_errors import model_error


def groups_timed(
    rows: CalibrationRows[CollectiveMeasurement], catalogue: Catalogue, left_out: Iterable[LeftOut]
) -> MeasuredGroups:
    """The largest groups along links that are fitted; and what publications are off whose groups no other has.

    Beyond what any of their kind are, and over the root of the doublings by which they go beyond the others;
    publications count alike.
    """
    told = [row for stage in STAGES for row in rows.rows if row.head.group in stage.groups]
    spans: dict[str, dict[str, Spanned]] = {}  # publication → row → its links
    for each in series_of(told, catalogue):
        system = each.question.system
        spanned = links_of(system, (part.size for part in system.dimensions))
        spans.setdefault(each.group, {}).update(dict.fromkeys(each.rows, spanned))
    squares: dict[str, list[float]] = {}
    largest = {source: _largest(own for name, own in spans.items() if name != source) for source in spans}
    for row in left_out:
        others = largest.get(row.source, {})
        links = spans.get(row.source, {}).get(row.row_id, ())
        # A link that no other publication has: there is nothing to go beyond.
        doublings = sum(max(0.0, log2(units / others[name])) for name, units in links if name in others)
        if doublings and "/above " in row.regime:  # shorter ones are off by how pipelines fill
            usual = log(model_error(row.application, row.regime, without=row.source).factor)
            squares.setdefault(row.source, []).append((row.residual**2 - usual**2) / doublings)
    found = _largest(spans.values())
    between = {link for stage in STAGES if stage.between for constant in stage.constants for link in constant.links}
    middle = [
        int(np.median([found[link] for link in found if (link in between) is across])) for across in (False, True)
    ]
    return MeasuredGroups(
        largest=dict(sorted(found.items())),
        inside=middle[0],
        across=middle[1],
        doubling=float(f"{np.sqrt(np.mean([max(0.0, np.mean(own)) for own in squares.values()])):.3g}"),
        source=f"{sum(map(len, squares.values()))} messages of {len(squares)} publications with larger groups than any "
        "other over their links, left out of the fit (scripts/left_out_residuals.py)",
    )


def _largest(publications: Iterable[Mapping[str, Spanned]]) -> dict[str, int]:
    """Link → units of the largest group of any publication, of links that are fitted."""
    found: dict[str, int] = {}
    for own in publications:
        for name, units in (pair for links in own.values() for pair in links):
            if name in FITTED:
                found[name] = max(int(units), found.get(name, 1))
    return found
