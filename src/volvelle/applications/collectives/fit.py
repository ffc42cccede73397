"""Constants of links, fitted to the calibration rows of measured collectives.

Links are fitted in stages, each on the rows in which it matters, with what earlier stages found: links inside a node
on one node, networks on two. A stage minimises the mean of |ln(predicted / measured)|, which a few odd rows cannot
pull far; every publication weighs alike, so that a long table does not outvote the others, but one of a few rows less.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from volvelle.applications.collectives.measurements import CollectiveMeasurement, collective_measurements
from volvelle.applications.collectives.prediction import Clusters, Series, predicted, series_of, why_unusable
from volvelle.catalogue import Catalogue
from volvelle.system.link import Link

__all__ = ["STAGES", "Constant", "FittedConstant", "Stage", "fit_collectives", "yaml_line"]

Column = NDArray[np.float64]

_FEW = 10
"""Rows from which on a publication has its full weight."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant:
    """A number that a stage is free to choose, of one link or of several that share it."""

    name: str
    links: tuple[str, ...]
    start: float
    most: float = np.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Some constants, and the groups of rows they are fitted to."""

    groups: tuple[str, ...]
    constants: tuple[Constant, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedConstant:
    """What a stage chose, and between which values most of its rows would have put it."""

    link: str
    name: str
    value: float
    low: float
    high: float
    rows: int
    median_abs_error: float
    """Of the stage's rows."""


def _node(link: str, *groups: str, reduces: bool = False) -> Stage:
    """A link inside a node. One node cannot tell steps from launching, so the latency of a step stays as it is."""
    constants = [
        Constant(name="setup", links=(link,), start=30e-6),
        Constant(name="efficiency", links=(link,), start=0.8, most=1.0),
        Constant(name="fill", links=(link,), start=60e-6),
    ]
    if reduces:
        constants.append(Constant(name="reduction_efficiency", links=(link,), start=0.85, most=1.0))
    return Stage(groups=groups, constants=tuple(constants))


# The rows of vtrain-lut-* are those of peers-vtrain-* at fewer sizes. The OSU rows of JUWELS time MPI messages,
# which use a node's links otherwise than a collective does.
STAGES = (
    _node("nvlink3", "azure-nd_a100_v4", "stas-a100", "peers-vtrain-a100", "peers-galvatron"),
    _node(
        "nvlink4",
        "azure-nd_h100_v5",
        "azure-nd_h200_v5",
        "stas-h200",
        "stas-nvls-sweep",
        "stas-h200-ops",
        "voltage-park",
        reduces=True,
    ),
    _node("nvlink2-cube-mesh", "peers-vtrain-v100", "peers-aceso-v100"),
    # On p5 the switches of the node are the narrowest, so p4de alone says what the network sustains.
    Stage(
        groups=("aws-p4de", "aws-p5"),
        constants=(
            Constant(name="latency", links=("efa-400-per-node",), start=60e-6),
            Constant(name="fill", links=("efa-400-per-node",), start=400e-6),
            Constant(name="latency", links=("efa-3200-per-node",), start=20e-6),
            Constant(name="fill", links=("efa-3200-per-node",), start=300e-6),
            Constant(name="efficiency", links=("efa-400-per-node", "efa-3200-per-node"), start=0.85, most=1.0),
        ),
    ),
    Stage(
        groups=("mi300x-transferbench",),
        constants=(Constant(name="efficiency", links=("infinity-fabric-mi300x",), start=0.7, most=1.0),),
    ),
    Stage(
        groups=("peers-nnscaler-mi200",),
        constants=(
            Constant(name="setup", links=("infinity-fabric-mi250x",), start=90e-6),
            Constant(name="latency", links=("infinity-fabric-mi250x",), start=3e-6),
        ),
    ),
)


def fit_collectives(
    rows: Sequence[CollectiveMeasurement] | None = None,
    *,
    catalogue: Catalogue | None = None,
    stages: Sequence[Stage] = STAGES,
) -> tuple[FittedConstant, ...]:
    """Fit every stage to the calibration rows; the others are not looked at."""
    measured = collective_measurements() if rows is None else rows
    kept = [row for row in measured if row.split == "calibration" and why_unusable(row) is None]
    clusters = Clusters(catalogue or Catalogue())
    links: dict[str, Link] = {}
    found: list[FittedConstant] = []
    for stage in stages:
        series = series_of([row for row in kept if row.group in stage.groups], clusters)
        for name in {link for constant in stage.constants for link in constant.links}:
            links.setdefault(name, clusters.link(name))
        values = _fitted(stage, series, links)
        links |= _with(links, stage, values)
        found += _described(stage, series, links, values)
    return tuple(found)


def yaml_line(constant: FittedConstant) -> str:
    """The line of a link's file that holds a constant."""
    share = constant.name.endswith("efficiency")

    def text(number: float) -> str:
        return f"{float(f'{number * 100:.3g}'):g} %" if share else f"{float(f'{number * 1e6:.3g}'):g} us"

    return (
        f"{constant.name}: {{value: {text(constant.value)}, kind: derived, source: volvelle-collectives-fit, "
        f"spread: {{interval: [{text(constant.low)}, {text(constant.high)}]}}}}"
    )


def _with(links: Mapping[str, Link], stage: Stage, values: Column) -> dict[str, Link]:
    changed = dict(links)
    for constant, value in zip(stage.constants, values, strict=True):
        for name in constant.links:
            changed[name] = replace(changed[name], **{constant.name: float(value)})  # type: ignore[arg-type]
    return changed


def _fitted(stage: Stage, series: Sequence[Series], links: Mapping[str, Link]) -> Column:
    rows: dict[str, int] = {}
    for each in series:
        rows[each.first.group] = rows.get(each.first.group, 0) + len(each.rows)
    weights = np.concatenate([np.full(len(each.rows), 1.0 / max(rows[each.first.group], _FEW)) for each in series])

    def miss(logs: Column) -> float:
        return float(np.average(np.abs(_residuals(series, _with(links, stage, np.exp(logs)))), weights=weights))

    most = np.log([constant.most for constant in stage.constants])
    start = np.log([constant.start for constant in stage.constants])
    return np.asarray(np.exp(_pattern_search(miss, start, most)))


def _residuals(series: Sequence[Series], links: Mapping[str, Link]) -> Column:
    """ln(predicted / measured), row by row."""
    return np.concatenate([np.log(predicted(each, links=links) / each.times) for each in series])


def _pattern_search(miss: Callable[[Column], float], start: Column, most: Column) -> Column:
    """Hooke and Jeeves: try each direction, go on where it helped, halve the step where nothing does."""
    here, least, step = start, miss(start), 0.5
    while step > 5e-4:
        there, lower = here, least
        for index in range(len(start)):
            for way in (step, -step):
                tried = there.copy()
                tried[index] = min(tried[index] + way, most[index])
                value = miss(tried)
                if value < lower:
                    there, lower = tried, value
                    break
        if lower >= least - 1e-9:
            step /= 2
            continue
        onward = np.minimum(2 * there - here, most)
        here, least = there, lower
        further = miss(onward)
        if further < least:
            here, least = onward, further
    return here


def _described(
    stage: Stage, series: Sequence[Series], links: Mapping[str, Link], values: Column
) -> list[FittedConstant]:
    """The constants with the range in which most rows that depend on them would have put them.

    A row whose time changes by s % when a constant changes by 1 % asks, alone, for a constant that is off by its
    residual over s. Of the rows that depend on a constant most, the middle four fifths give the range.
    """
    residuals = _residuals(series, links)
    error = float(np.median(np.abs(np.expm1(residuals))))
    found = []
    for index, constant in enumerate(stage.constants):
        nudged = values.copy()
        nudged[index] *= 1.01
        slope = (_residuals(series, _with(links, stage, nudged)) - residuals) / np.log(1.01)
        telling = np.abs(slope) >= 0.8 * np.abs(slope).max()
        asked = np.log(values[index]) - residuals[telling] / slope[telling]
        value = float(values[index])
        # One or two rows show no scatter; a tenth either way is then taken.
        low, high = np.exp(np.quantile(asked, [0.1, 0.9])) if telling.sum() > 2 else (0.9 * value, 1.1 * value)
        found += [
            FittedConstant(
                link=name,
                name=constant.name,
                value=value,
                low=min(float(low), value),
                high=min(max(float(high), value), constant.most),
                rows=int(telling.sum()),
                median_abs_error=error,
            )
            for name in constant.links
        ]
    return found
