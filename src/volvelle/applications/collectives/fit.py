"""Constants of links, fitted to the calibration rows of measured collectives.

Links are fitted in stages, each on the rows in which it matters, with what earlier stages found: links inside a node
on one node, networks on two. A stage minimises the mean of |ln(predicted / measured)|, which a few odd rows cannot
pull far; every publication weighs alike, so that a long table does not outvote the others, but one of a few rows less.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from volvelle.applications.collectives.measurements import CollectiveMeasurement
from volvelle.applications.collectives.nccl_fit import fit_nccl
from volvelle.applications.collectives.prediction import collective_times
from volvelle.applications.collectives.series import Series, series_of, weighed
from volvelle.applications.collectives.stages import STAGES, Stage
from volvelle.applications.fit import least_from
from volvelle.applications.fitted_constants import Fit, FittedConstant
from volvelle.applications.measured_table import CalibrationRows
from volvelle.catalogue import Catalogue
from volvelle.errors import DescriptionError
from volvelle.quantities import FRACTION, SECONDS
from volvelle.system.link import Link

Column = NDArray[np.float64]


def fit_collectives(
    rows: CalibrationRows[CollectiveMeasurement], catalogue: Catalogue, *, stages: Sequence[Stage] = STAGES
) -> Fit:
    """Fit every stage to the calibration rows of its publications."""
    links: dict[str, Link] = {}
    constants: list[FittedConstant] = []
    for stage, series, held, values in _fitted_stages(rows, catalogue, stages):
        links = held | with_values(held, stage, values)
        constants += _described(stage, series, links, values, held)
    constants += fit_nccl(rows, catalogue)
    if not constants:
        raise DescriptionError("no calibration row is of a publication that tells the constants of a link")
    return Fit(
        constants=tuple(constants), notes=("rows: those whose time depends on the constant most",), calibration=links
    )


def _fitted_stages(
    rows: CalibrationRows[CollectiveMeasurement], catalogue: Catalogue, stages: Sequence[Stage]
) -> Iterator[tuple[Stage, list[Series], dict[str, Link], Column]]:
    """Stages that rows tell of, with the links before each and what is fitted for its constants."""
    links: dict[str, Link] = {}
    for stage in stages:
        series = series_of([row for row in rows.rows if row.head.group in stage.groups], catalogue)
        if series:
            for name in {link for constant in stage.constants for link in constant.links}:
                links.setdefault(name, catalogue.link(name))
            values = fitted_stage(stage, series, links)
            yield stage, series, dict(links), values
            links = with_values(links, stage, values)


def _yaml_line(name: str, value: float, low: float, high: float) -> str:
    """The line of a link's file that holds a constant."""
    share = name.endswith("efficiency")

    def text(number: float) -> str:
        return f"{float(f'{number * 100:.3g}'):g} %" if share else f"{float(f'{number * 1e6:.3g}'):g} us"

    return (
        f"{name}: {{value: {text(value)}, kind: derived, source: volvelle-collectives-fit, "
        f"spread: {{interval: [{text(low)}, {text(high)}]}}}}"
    )


def with_values(links: Mapping[str, Link], stage: Stage, values: Column) -> dict[str, Link]:
    """Links with other values of a stage's constants."""
    changed = dict(links)
    for constant, value in zip(stage.constants, values, strict=True):
        for name in constant.links:
            changed[name] = replace(changed[name], **{constant.name: float(value)})  # type: ignore[arg-type]
    return changed


def stage_losses(
    rows: CalibrationRows[CollectiveMeasurement], catalogue: Catalogue, *, stages: Sequence[Stage] = STAGES
) -> list[tuple[float, float]]:
    """The loss of every stage as it is fitted again, and with the constants of the catalogue."""
    losses = []
    for stage, series, links, fresh in _fitted_stages(rows, catalogue, stages):
        held = np.array([float(getattr(links[constant.links[0]], constant.name)) for constant in stage.constants])
        losses.append((_loss(stage, series, links, fresh), _loss(stage, series, links, held)))
    return losses


def fitted_stage(stage: Stage, series: Sequence[Series], links: Mapping[str, Link]) -> Column:
    """What series say of a stage's constants, with links as they are otherwise."""
    start = {f"{constant.name} of {' '.join(constant.links)}": constant.start for constant in stage.constants}
    best = least_from(
        lambda values: _loss(stage, series, links, np.array(list(values.values()))),
        start,
        most=[constant.most for constant in stage.constants],
    )
    return np.array(list(best.constants.values()))


def stage_residuals(
    series: Sequence[Series], links: Mapping[str, Link], stage: Stage | None = None, values: Column | None = None
) -> Column:
    """ln(predicted / measured) row by row, with the links as they are or with values of a stage."""
    return link_residuals(series, links if stage is None or values is None else with_values(links, stage, values))


def _loss(stage: Stage, series: Sequence[Series], links: Mapping[str, Link], values: Column) -> float:
    return weighed(series, link_residuals(series, with_values(links, stage, values)))


def link_residuals(series: Sequence[Series], links: Mapping[str, Link]) -> Column:
    """ln(predicted / measured), row by row, with other links."""
    return np.concatenate([np.log(_predicted(each, links) / each.times) for each in series])


def _predicted(series: Series, links: Mapping[str, Link]) -> Column:
    """Times of a series with other links; the rate is kept, because it holds the cluster's share of a port."""
    asked = series.question
    dimensions = tuple(
        replace(d, link=replace(links.get(d.link.name, d.link), rate=d.link.rate)) for d in asked.system.dimensions
    )
    return collective_times(asked.work, replace(asked.system, dimensions=dimensions), asked.decision, series.sizes)


def _described(
    stage: Stage, series: Sequence[Series], links: Mapping[str, Link], values: Column, held: Mapping[str, Link]
) -> list[FittedConstant]:
    """The constants with the range in which most rows that depend on them would have put them.

    A row whose time changes by s % when a constant changes by 1 % asks, alone, for a constant that is off by its
    residual over s. Of the rows that depend on a constant most, the middle four fifths give the range.
    """
    residuals = link_residuals(series, links)
    error = float(np.median(np.abs(np.expm1(residuals))))
    found = []
    for index, constant in enumerate(stage.constants):
        nudged = values.copy()
        nudged[index] *= 1.01
        slope = (link_residuals(series, with_values(links, stage, nudged)) - residuals) / np.log(1.01)
        telling = np.abs(slope) >= 0.8 * np.abs(slope).max()
        asked = np.log(values[index]) - residuals[telling] / slope[telling]
        value = float(values[index])
        # One or two rows show no scatter; a tenth either way is then taken.
        low, high = np.exp(np.quantile(asked, [0.1, 0.9])) if telling.sum() > 2 else (0.9 * value, 1.1 * value)
        low, high = min(float(low), value), min(max(float(high), value), constant.most)
        found += [
            FittedConstant(
                of=name,
                name=constant.name,
                fitted=value,
                catalogue=float(getattr(held[name], constant.name)),
                kind=FRACTION if constant.name.endswith("efficiency") else SECONDS,
                low=low,
                high=high,
                rows=int(telling.sum()),
                error=error,
                yaml=_yaml_line(constant.name, value, low, high),
            )
            for name in constant.links
        ]
    return found
