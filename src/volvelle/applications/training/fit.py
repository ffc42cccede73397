"""Constants of a chip family, fitted to calibration runs: how near to its peaks whole training steps get.

Candidates are columns: all of them are timed for all runs of one question in one call.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from volvelle.applications.fit import Column, least_within
from volvelle.applications.fitted_constants import Fit, searched_fit
from volvelle.applications.measured_table import CalibrationRows
from volvelle.applications.training.measurements import TrainingMeasurement
from volvelle.applications.training.rows import TrainingQuestion, priced_together, training_question
from volvelle.catalogue import Catalogue
from volvelle.errors import DescriptionError
from volvelle.estimators.calibration import calibrated, calibrations_of
from volvelle.estimators.calibration import with_constants as with_fitted
from volvelle.estimators.training.closed_form import ClosedForm
from volvelle.mapping.parallelism import MappingTable, ParallelMapping
from volvelle.quantities import SECONDS
from volvelle.system.cluster import Cluster
from volvelle.workload.training import TrainingStep

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

FAMILIES = {"ampere": ("a100-sxm4-80gb", "infiniband-hdr200"), "hopper": ("h100-sxm", "infiniband-ndr400")}
"""Families with calibration runs, each with the chip and the network that stand for it."""
_KINDS = {"kernel_launch_time": SECONDS, "host_dispatch_time": SECONDS, "attention_kv_half": None}


@dataclass(frozen=True, slots=True)
class _Case:
    """Runs of one model on one cluster: one call prices all of them."""

    step: TrainingStep
    cluster: Cluster
    mappings: tuple[ParallelMapping, ...]
    seconds: tuple[float, ...]
    weights: tuple[float, ...]


def fit_training(
    family: str,
    rows: CalibrationRows[TrainingMeasurement],
    catalogue: Catalogue,
    *,
    starts: int = 3,
    rounds: int = 6,
    candidates: int = 64,
    polish: int = 100,
) -> Fit:
    """Fit one family's constants to its calibration runs; the best of several searches counts."""
    cases = training_cases(family, rows, catalogue)
    best = least_within(
        lambda constants: training_losses(cases, constants),
        BOUNDS,
        candidates=candidates,
        rounds=rounds,
        polish=polish,
        starts=starts,
    )
    errors = _errors(cases, {name: np.array([value]) for name, value in best.constants.items()})[:, 0]
    chip, network = catalogue.chip(FAMILIES[family][0]), catalogue.link(FAMILIES[family][1])
    known = catalogue.calibrations(chip.name).constants(chip, "bf16")
    held = {name: float(getattr(known, name)) for name in BOUNDS if name != "contention"}
    held["contention"] = float(network.contention)
    return searched_fit(best, errors, of=family, held=held, kinds=_KINDS, nearly=0.05, calibration=best.constants)


def training_cases(family: str, rows: CalibrationRows[TrainingMeasurement], catalogue: Catalogue) -> list[_Case]:
    """Runs of the family that can be asked about, by question; each source counts by the root of its size."""
    found: dict[tuple[object, ...], list[tuple[TrainingQuestion, float, str]]] = defaultdict(list)
    sizes: dict[str, int] = defaultdict(int)
    families = {name: catalogue.chip_file(name).family for name in catalogue.names("chips")}
    for run in rows.rows:
        asked = training_question(run, catalogue)
        if isinstance(asked, str) or run.seconds is None or families.get(asked.system.chip.name) != family:
            continue
        found[priced_together(asked)].append((asked, run.seconds, run.head.group))
        sizes[run.head.group] += 1
    if not found:
        raise DescriptionError(f"no calibration run is on a chip of the family {family!r}")
    return [
        _Case(
            alike[0][0].work,
            alike[0][0].system,
            tuple(asked.decision for asked, _, _ in alike),
            tuple(seconds for _, seconds, _ in alike),
            tuple(sizes[group] ** -0.5 for _, _, group in alike),
        )
        for alike in found.values()
    ]


def _errors(cases: Sequence[_Case], constants: Mapping[str, Column]) -> Column:
    """Relative error of every run (rows) under every candidate (columns)."""
    count = len(next(iter(constants.values())))
    rows = []
    for case in cases:
        table = MappingTable.of(case.mappings)
        repeated = table.take(np.repeat(np.arange(len(table)), count))
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
    """A cluster with some constants of its chip, whatever software runs, and of its outermost network replaced."""
    of_chip = {name: value for name, value in constants.items() if name != "contention"}
    *inner, outer = cluster.dimensions
    if "contention" in constants and inner:
        outer = replace(outer, link=replace(outer.link, contention=constants["contention"]))
    known = replace(calibrations_of(cluster), software=None)
    bare = calibrated(replace(cluster, dimensions=(*inner, outer)), known)
    return with_fitted(bare, of_chip)
