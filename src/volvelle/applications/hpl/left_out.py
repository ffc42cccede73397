"""How far off runs of High-Performance Linpack are when their system is left out of the fit."""

from collections.abc import Iterator
from math import log
from zlib import crc32

from volvelle.applications.hpl.fit import BOUNDS, family_runs, fit_hpl, predicted_rate
from volvelle.applications.hpl.rows import HplMeasurement
from volvelle.applications.measured_table import CalibrationRows
from volvelle.catalogue import Catalogue
from volvelle.catalogue.left_out import LeftOut

_FOLDS = 5
"""Systems are left out a fifth at a time: a fit takes half a minute, and there are a hundred systems."""


def _system(row: HplMeasurement) -> str:
    """What a run is counted with: entries of a list by machine, others by publication."""
    return row.system if row.head.group == "top500" else row.head.group


def hpl_left_out(rows: CalibrationRows[HplMeasurement], catalogue: Catalogue) -> Iterator[LeftOut]:
    """Every run that counts in a fit, with a fifth of its family's systems, its own among them, left out."""
    for family in BOUNDS:
        runs = family_runs(family, rows, catalogue)
        folds = {run.row.head.row_id: crc32(_system(run.row).encode()) % _FOLDS for run in runs}
        for fold in sorted(set(folds.values())):
            rest = CalibrationRows(tuple(run.row for run in runs if folds[run.row.head.row_id] != fold))
            if not rest.rows:
                continue
            constants = fit_hpl(family, rest, catalogue, starts=1, rounds=4, candidates=40).calibration[family]
            for run in runs:
                if folds[run.row.head.row_id] == fold:
                    values = {name: getattr(constants, name) for name in BOUNDS[family]}
                    yield LeftOut(
                        application="hpl",
                        row_id=run.row.head.row_id,
                        source=_system(run.row),
                        regime=family,
                        chips=run.asked.system.accelerators,
                        residual=log(run.rate / predicted_rate(run, values)),
                    )
