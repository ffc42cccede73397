"""Constants of the link that one's own sweeps ran over, drawn towards the catalogue's by how little they tell."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import exp, log

import numpy as np

from volvelle.applications.collectives.collective_error import LONG
from volvelle.applications.collectives.fit import fitted_stage, stage_residuals
from volvelle.applications.collectives.measurements import CollectiveMeasurement
from volvelle.applications.collectives.series import series_of
from volvelle.applications.collectives.stages import Constant, Stage
from volvelle.applications.measured_table import RowHead
from volvelle.applications.own_factor import FREEDOM, machine_spreads, two_spreads
from volvelle.catalogue import Catalogue
from volvelle.catalogue.left_out import left_out_of
from volvelle.errors import DescriptionError
from volvelle.interchange.logs.logged import LoggedCollective
from volvelle.laws.shrinkage import shrunk_shift
from volvelle.system.cluster import Cluster

_GROUP = "own"
_WHOLE_CURVE = 6
"""Sizes from which on latency and fill are fitted too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnLink:
    """A link as own sweeps have it."""

    link: str
    before: dict[str, float]
    after: dict[str, float]
    error_before: float
    error_after: float
    """Median of absolute errors of the rows."""
    rows: int


def own_rows(rows: Sequence[LoggedCollective], template: str, *, ranks: int) -> list[CollectiveMeasurement]:
    """Rows of own logs as measured rows are asked about; in place and out of place are one another's repetition."""
    found = []
    for row in rows:
        if row.in_place:
            continue
        found.append(
            CollectiveMeasurement(
                head=RowHead(row_id=f"line {row.line}", group=_GROUP, split="calibration"),
                operation=row.operation,
                system=template,
                accelerator="",
                chips=row.ranks or ranks,
                nodes=row.nodes,
                cluster=template,
                library="nccl-tests",
                algorithm="",
                size=float(row.size),
                time=row.seconds,
            )
        )
    return found


@cache
def link_spreads(*, inside: bool, long: bool) -> tuple[float, float]:
    """How far machines are apart and sizes within one, by published sweeps that the fit of their links did not see.

    Inside a node with their publication left out. No two publications share a link between nodes, so there with all
    rows over their links left out.
    """
    if inside:
        return machine_spreads("collectives", f"{'long' if long else 'short'}/inside")
    return two_spreads([row for row in left_out_of("collectives") if row.axis == "link"])


def fit_own_link(rows: Sequence[CollectiveMeasurement], system: Cluster, catalogue: Catalogue) -> OwnLink:
    """Fit the link that limits these rows: that inside a node where all ranks are in one, else the outermost."""
    series = series_of(rows, catalogue)
    if not series:
        raise DescriptionError("no row of the sweeps can be timed by a law: give sizes above 0 of a known collective")
    inside = max(row.chips or 1 for row in rows) <= system.dimensions[0].size
    link = (system.dimensions[0] if inside else system.dimensions[-1]).link
    sizes = len({row.size for row in rows})
    names = ["efficiency"]
    if sizes >= _WHOLE_CURVE:
        names += ["setup", "fill"] if inside else ["latency", "fill"]
    held = {name: float(np.max(getattr(link, name))) for name in names}
    start = {"efficiency": 0.8, "setup": 30e-6, "latency": 20e-6, "fill": 100e-6}
    stage = Stage(
        groups=(_GROUP,),
        constants=tuple(
            Constant(
                name=name,
                links=(link.name,),
                start=held[name] or start[name],
                most=1.0 if name == "efficiency" else np.inf,
            )
            for name in names
        ),
    )
    links = {link.name: catalogue.link(link.name)}
    values = fitted_stage(stage, series, links)
    before = stage_residuals(series, links)
    between, within = link_spreads(inside=inside, long=max(row.size or 0.0 for row in rows) > LONG)
    told = np.full(len(before), log(values[0] / held["efficiency"]))
    shift = shrunk_shift(told, centre=0.0, between=between, within=within, freedom=FREEDOM)
    values[0] = min(1.0, held["efficiency"] * exp(shift.shift))
    after = stage_residuals(series, links, stage, values)
    return OwnLink(
        link=link.name,
        before=held,
        after={name: float(value) for name, value in zip(names, values, strict=True)},
        error_before=float(np.median(np.abs(np.expm1(before)))),
        error_after=float(np.median(np.abs(np.expm1(after)))),
        rows=len(before),
    )
