"""How far off collectives are when their publication, or all rows over their links, are left out of the fit."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from volvelle.applications.collectives.collective_error import links_of, message_regime
from volvelle.applications.collectives.fit import fitted_stage, link_residuals, with_values
from volvelle.applications.collectives.measurements import CollectiveMeasurement
from volvelle.applications.collectives.series import Series, series_of
from volvelle.applications.collectives.stages import STAGES, Stage
from volvelle.applications.measured_table import CalibrationRows
from volvelle.catalogue import Catalogue
from volvelle.catalogue.left_out import LeftOut
from volvelle.system.link import Link


def collectives_left_out(rows: CalibrationRows[CollectiveMeasurement], catalogue: Catalogue) -> Iterator[LeftOut]:
    """Every row of a publication that a stage is fitted to, with the publication left out of it, and with its links.

    Where a stage has one publication, only its links can be left out. Links that nothing was fitted to have, as the
    catalogue's have, what such links have in the middle, those inside nodes apart from those between them.
    """
    for stage in STAGES:
        series = series_of([row for row in rows.rows if row.head.group in stage.groups], catalogue)
        links = {name: catalogue.link(name) for one in stage.constants for name in one.links}
        groups = dict.fromkeys(each.group for each in series)
        for group in groups:
            rest, out = ([each for each in series if (each.group == group) is own] for own in (False, True))
            seen = {part.link.name for each in rest for part in each.question.system.dimensions}
            told = replace(stage, constants=tuple(one for one in stage.constants if set(one.links) & seen))
            alike = [each for each in out if _exchanged_over(each, links) <= seen]
            if told.constants and alike:
                yield from _residuals(alike, with_values(links, told, fitted_stage(told, rest, links)), "")
            yield from _residuals(out, _middle(stage, links, catalogue), "link")


def _exchanged_over(series: Series, links: Mapping[str, Link]) -> set[str]:
    """Which links of a stage a series tells of."""
    return {part.link.name for part in series.question.system.dimensions if part.link.name in links}


def _middle(stage: Stage, links: Mapping[str, Link], catalogue: Catalogue) -> dict[str, Link]:
    """Links of a stage with the middle of what other stages inside nodes, or between them, found for theirs.

    Where none of them fitted a constant, the middle is of what their links have.
    """
    others = [other for other in STAGES if other is not stage and other.between is stage.between]
    found = dict(links)
    for name in {constant.name for constant in stage.constants}:
        fitted = {
            link for other in others for constant in other.constants if constant.name == name for link in constant.links
        }
        told = fitted or {link for other in others for constant in other.constants for link in constant.links}
        middle = float(np.median([float(getattr(catalogue.link(link), name)) for link in sorted(told)]))
        found = {
            key: replace(link, **{name: middle})  # type: ignore[arg-type]
            for key, link in found.items()
        }
    return found


def _residuals(series: list[Series], links: Mapping[str, Link], axis: str) -> Iterator[LeftOut]:
    for each in series:
        system = each.question.system
        crossed = [name for name, _ in links_of(system, (part.size for part in system.dimensions))]
        for row_id, size, error in zip(each.rows, each.sizes, -link_residuals([each], links), strict=True):
            yield LeftOut(
                application="collectives",
                row_id=row_id,
                source=each.group,
                regime=message_regime(float(size), crossed),
                chips=system.accelerators,
                axis=axis,
                residual=float(error),
            )
