"""Constants of a chip family, fitted to calibration runs: how near to its peaks whole training steps get.

Candidates are columns: all of them are priced for all runs of one question in one call. The search is a few rounds of
stratified samples, each around the best of the round before; it needs no derivative and no library.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from volvelle.applications.training.measurements import TrainingMeasurement
from volvelle.applications.training.rows import Question, question
from volvelle.catalogue import Catalogue
from volvelle.errors import DescriptionError
from volvelle.estimators.calibration import with_constants as with_fitted
from volvelle.estimators.training.closed_form import ClosedForm
from volvelle.mapping.parallelism import MappingTable, ParallelMapping
from volvelle.system.cluster import Cluster
from volvelle.workload.training import TrainingStep

__all__ = ["BOUNDS", "FamilyFit", "fit_family", "training_cases", "training_losses", "with_constants"]

BOUNDS: Mapping[str, tuple[float, float]] = {
    "matrix_efficiency": (0.74, 0.85),
    "memory_efficiency": (0.70, 0.92),
    "kernel_launch_time": (1e-6, 5e-6),
    "host_dispatch_time": (0.0, 60e-6),
    "attention_efficiency": (0.3, 1.6),
    "attention_kv_half": (0.0, 2000.0),
    "contention": (0.0, 0.3),
    "communication_sm_share": (0.0, 0.3),
}
"""What is fitted, and within which bounds: those of single products and copies, where they have been measured."""

Column = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyFit:
    """Fitted constants of a family and how well they do on what they were fitted to."""

    family: str
    constants: Mapping[str, float]
    ranges: Mapping[str, tuple[float, float]]
    """Where candidates lie that do nearly as well."""
    runs: int
    mean_abs_error: float
    median_abs_error: float
    bias: float


@dataclass(frozen=True, slots=True)
class _Case:
    """Runs of one model on one cluster: one call prices all of them."""

    step: TrainingStep
    cluster: Cluster
    mappings: tuple[ParallelMapping, ...]
    seconds: tuple[float, ...]
    weights: tuple[float, ...]


def fit_family(
    family: str,
    runs: Sequence[TrainingMeasurement],
    catalogue: Catalogue,
    *,
    starts: int = 3,
    rounds: int = 5,
    candidates: int = 64,
    progress: Callable[[int, int], None] | None = None,
) -> FamilyFit:
    """Fit one family's constants to its calibration runs; rows of any other split are refused.

    Every start is a search of its own, from its own seed; the best of them counts.
    """
    cases = training_cases(family, runs, catalogue)
    tried: list[tuple[float, Column]] = []
    for seed in range(starts):
        found: list[tuple[float, Column]] = []
        low, high = (np.array([bounds[side] for bounds in BOUNDS.values()]) for side in (0, 1))
        generator = np.random.default_rng(seed)
        for step in range(rounds):
            points = low + _stratified(generator, candidates, len(BOUNDS)) * (high - low)
            losses = training_losses(cases, dict(zip(BOUNDS, points.T, strict=True)))
            found = sorted([*found, *zip(map(float, losses), points, strict=True)], key=lambda pair: pair[0])
            low, high = _around(found[0][1], (high - low) * 0.45)
            if progress is not None:
                progress(seed * rounds + step + 1, starts * rounds)
        tried += found
    tried.sort(key=lambda pair: pair[0])
    best = tried[0][1]
    near = np.array([point for loss, point in tried if loss <= 1.05 * tried[0][0]])
    errors = _errors(cases, {name: np.array([value]) for name, value in zip(BOUNDS, best, strict=True)})[:, 0]
    return FamilyFit(
        family=family,
        constants=dict(zip(BOUNDS, map(float, best), strict=True)),
        ranges={name: (float(near[:, i].min()), float(near[:, i].max())) for i, name in enumerate(BOUNDS)},
        runs=len(errors),
        mean_abs_error=float(np.mean(np.abs(errors))),
        median_abs_error=float(np.median(np.abs(errors))),
        bias=float(np.mean(errors)),
    )


def _stratified(generator: np.random.Generator, count: int, width: int) -> Column:
    """Points in the unit cube, one in each of `count` slices along every side."""
    slices = np.argsort(generator.random((count, width)), axis=0)
    return np.asarray((slices + generator.random((count, width))) / count)


def _around(point: Column, width: Column) -> tuple[Column, Column]:
    """A box around a point, within the bounds."""
    ends = [np.array([bounds[side] for bounds in BOUNDS.values()]) for side in (0, 1)]
    return np.maximum(point - width / 2, ends[0]), np.minimum(point + width / 2, ends[1])


def training_cases(family: str, runs: Sequence[TrainingMeasurement], catalogue: Catalogue) -> list[_Case]:
    """Runs of the family that can be asked about, by question; each source counts by the root of its size."""
    strange = {run.split for run in runs} - {"calibration"}
    if strange:
        raise DescriptionError(f"a fit takes calibration rows only, not {', '.join(sorted(strange))}")
    found: dict[tuple[object, ...], list[tuple[Question, float, str]]] = defaultdict(list)
    sizes: dict[str, int] = defaultdict(int)
    families = {name: catalogue.chip_file(name).family for name in catalogue.names("chips")}
    for run in runs:
        asked = question(run, catalogue)
        if isinstance(asked, str) or run.seconds is None or families.get(asked.cluster.chip.name) != family:
            continue
        step = asked.step
        key = (
            id(step.model),
            step.batch,
            step.element,
            step.gradient_element,
            asked.cluster.name,
            _links(asked.cluster),
        )
        found[key].append((asked, run.seconds, run.group))
        sizes[run.group] += 1
    if not found:
        raise DescriptionError(f"no calibration run is on a chip of the family {family!r}")
    return [
        _Case(
            rows[0][0].step,
            rows[0][0].cluster,
            tuple(asked.mapping for asked, _, _ in rows),
            tuple(seconds for _, seconds, _ in rows),
            tuple(sizes[group] ** -0.5 for _, _, group in rows),
        )
        for rows in found.values()
    ]


def _links(cluster: Cluster) -> tuple[object, ...]:
    return tuple((dimension.link.name, float(np.max(dimension.link.rate))) for dimension in cluster.dimensions)


def _errors(cases: Sequence[_Case], constants: Mapping[str, Column]) -> Column:
    """Relative error of every run (rows) under every candidate (columns)."""
    count = len(next(iter(constants.values())))
    rows = []
    for case in cases:
        table = MappingTable.of(case.mappings)
        repeated = MappingTable.columns(
            **{field.name: np.repeat(getattr(table, field.name), count) for field in fields(table)}
        )
        tiled = {name: np.tile(column, len(table)) for name, column in constants.items()}
        times = ClosedForm().table(case.step, with_constants(case.cluster, tiled), repeated).time
        rows.append(times.reshape(len(table), count) / np.array(case.seconds)[:, None] - 1)
    return np.concatenate(rows)


def training_losses(cases: Sequence[_Case], constants: Mapping[str, Column]) -> Column:
    """Weighted mean of absolute log errors, for every candidate."""
    weights = np.concatenate([case.weights for case in cases])
    errors = np.abs(np.log1p(_errors(cases, constants)))
    return np.asarray(weights @ errors / weights.sum())


def with_constants(cluster: Cluster, constants: Mapping[str, Column | float]) -> Cluster:
    """A cluster with some constants of its chip, and of its outermost network, replaced."""
    of_chip = {name: value for name, value in constants.items() if name != "contention"}
    *inner, outer = cluster.dimensions
    if "contention" in constants and inner:
        outer = replace(outer, link=replace(outer.link, contention=constants["contention"]))
    return with_fitted(replace(cluster, dimensions=(*inner, outer)), of_chip)
