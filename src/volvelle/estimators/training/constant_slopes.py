"""How the time of a step changes with the constants that software changes."""

from dataclasses import replace
from math import log

import numpy as np
from numpy.typing import NDArray

from volvelle.estimators.calibration import calibrations_of, with_software
from volvelle.estimators.factored import CONSTANTS, FACTORED
from volvelle.estimators.stack import Stack
from volvelle.estimators.training.closed_form import ClosedForm
from volvelle.mapping.parallelism import MappingTable
from volvelle.system.cluster import Cluster
from volvelle.workload.training import TrainingStep

Table = NDArray[np.float64]
_WIDE = "bf16"
_STEP = -0.02
"""By how much a constant's logarithm is moved to see what it does: down, as some are at their most."""


def factor_logs(system: Cluster, element: str) -> Table:
    """Logarithms of the factors that a machine's software has; last, that of products in 16 bits."""
    software, family = calibrations_of(system).software or Stack(name=""), system.chip.family
    keys = [(name, element) for name in FACTORED] + [(FACTORED[0], _WIDE)]
    return np.array([log(float(software.factor(name, family, kind))) for name, kind in keys])


def log_times_and_slopes(
    step: TrainingStep, system: Cluster, table: MappingTable, logs: Table, *, software: Stack | None = None
) -> tuple[Table, Table]:
    """ln(time) of layouts with factors of their own (a row each), and its slopes in the logarithms of constants."""
    count, family = len(CONSTANTS), system.chip.family
    moves = np.vstack([np.zeros(count), _STEP * np.eye(count)])
    values = np.exp(logs[:, None, :] + moves[None]).reshape(-1, count)
    # Of a narrow type what stays in 16 bits comes last, and is the type's own where it is one of these.
    factors = {(family, _WIDE, FACTORED[0]): values[:, -1]}
    factors |= {(family, step.element, name): values[:, at] for at, name in enumerate(FACTORED)}
    fitted = replace(software or Stack(name="fitted"), factors=factors)
    machine = with_software(system, fitted)
    repeated = table.take(np.repeat(np.arange(len(table)), len(moves)))
    times = np.log(ClosedForm().table(step, machine, repeated).time).reshape(len(table), len(moves))
    return times[:, 0], (times[:, 1:] - times[:, :1]) / _STEP


def constant_slopes(step: TrainingStep, system: Cluster, table: MappingTable) -> Table:
    """Slopes of ln(time) of layouts in the logarithms of constants, as a machine's software has them; a row each."""
    logs = np.tile(factor_logs(system, step.element), (len(table), 1))
    return log_times_and_slopes(step, system, table, logs, software=calibrations_of(system).software)[1]
