"""How the time of a step changes with the constants that software changes."""

from dataclasses import replace
from math import log

import numpy as np
from numpy.typing import NDArray

from volvelle.estimators.calibration import calibrations_of, with_software
from volvelle.estimators.factored import CONSTANTS, FACTORED, NETWORK, WIDE
from volvelle.estimators.stack import Stack
from volvelle.estimators.training.closed_form import ClosedForm
from volvelle.mapping.parallelism import MappingTable
from volvelle.system.cluster import Cluster
from volvelle.workload.training import TrainingStep

Table = NDArray[np.float64]
_WIDE = "bf16"
_STEP = -0.02
"""By how much a constant's logarithm is moved to see what it does: down, as some are at their most."""
_SLOWER = 0.3
"""The same of the network: up, by what collectives are off, so that exchanges which are hidden just so count too."""
_STEPS = np.array([_SLOWER if name == NETWORK else _STEP for name in CONSTANTS])


def factor_logs(system: Cluster, element: str) -> Table:
    """Logarithms of the factors that a machine's software has, of every constant that runs may tell."""
    software, family = calibrations_of(system).software or Stack(name=""), system.chip.family
    keys = {name: (name, element) for name in CONSTANTS} | {WIDE: (FACTORED[0], _WIDE)}
    return np.array([log(float(software.factor(name, family, kind))) for name, kind in keys.values()])


def log_times_and_slopes(
    step: TrainingStep, system: Cluster, table: MappingTable, logs: Table, *, software: Stack | None = None
) -> tuple[Table, Table]:
    """ln(time) of layouts with factors of their own (a row each), and its slopes in the logarithms of constants."""
    count, family = len(CONSTANTS), system.chip.family
    moves = np.vstack([np.zeros(count), np.diag(_STEPS)])
    values = np.exp(logs[:, None, :] + moves[None]).reshape(-1, count)
    # What stays in 16 bits of a narrow type comes first, and is the type's own where it is one of these.
    factors = {(family, _WIDE, FACTORED[0]): values[:, CONSTANTS.index(WIDE)]}
    factors |= {(family, step.element, name): values[:, CONSTANTS.index(name)] for name in (*FACTORED, NETWORK)}
    known = calibrations_of(system).software or Stack(name="fitted")
    fitted = replace(software or Stack(name="fitted", stated_constants=known.stated_constants), factors=factors)
    machine = with_software(system, fitted)
    repeated = table.take(np.repeat(np.arange(len(table)), len(moves)))
    times = np.log(ClosedForm().table(step, machine, repeated).time).reshape(len(table), len(moves))
    return times[:, 0], (times[:, 1:] - times[:, :1]) / _STEPS


def constant_slopes(step: TrainingStep, system: Cluster, table: MappingTable) -> Table:
    """Slopes of ln(time) of layouts in the logarithms of constants, as a machine's software has them; a row each."""
    logs = np.tile(factor_logs(system, step.element), (len(table), 1))
    return log_times_and_slopes(step, system, table, logs, software=calibrations_of(system).software)[1]
