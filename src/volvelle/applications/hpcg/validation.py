"""The model of HPCG held against every measured run."""

from volvelle.applications.hpcg.constants import hpcg_factors
from volvelle.applications.hpcg.estimator import HpcgModel
from volvelle.applications.hpcg.measurements import HpcgMeasurement, hpcg_measurements
from volvelle.applications.hpcg.rows import hpcg_question
from volvelle.applications.measured_table import MeasuredTable
from volvelle.applications.scores import RowValidation, ScoredRow, SkippedRow
from volvelle.catalogue.loader import Catalogue

__all__ = ["validate_hpcg"]


def validate_hpcg(
    measured: MeasuredTable[HpcgMeasurement] | None = None, *, model: HpcgModel | None = None
) -> RowValidation:
    """Predict every run that can be, and say of every other why not."""
    measured = hpcg_measurements() if measured is None else measured
    model = HpcgModel() if model is None else model
    catalogue = Catalogue()
    scored: list[ScoredRow] = []
    skipped = [SkippedRow.of(row, row.reason) for row in measured.unread]
    for row in measured.rows:
        asked = hpcg_question(row)
        if isinstance(asked, str):
            skipped.append(SkippedRow.of(row.head, asked))
            continue
        assert row.rate is not None, "a row without a rate puts no question"
        found = model.estimate(asked.run, hpcg_factors(asked.family, date=asked.date, catalogue=catalogue))
        scored.append(
            ScoredRow(
                head=row.head,
                label=f"{row.system or 'unnamed'}, {row.devices} {row.device}",
                measured=row.rate,
                predicted=float(found.rate),
                low=found.low,
                high=found.high,
                assumed=asked.assumed,
                outside_calibration=() if found.factors.fitted else (f"no fitted run was on {asked.family}",),
            )
        )
    return RowValidation(quantity="FLOP/s", rows=tuple(scored), skipped=tuple(skipped))
