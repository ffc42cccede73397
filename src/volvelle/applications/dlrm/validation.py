"""The model of recommendation steps held against every measured one."""

from volvelle.applications.dlrm.constants import dlrm_model, dlrm_model_error
from volvelle.applications.dlrm.estimator import DlrmStep
from volvelle.applications.dlrm.measurements import DlrmMeasurement, dlrm_measurements
from volvelle.applications.dlrm.plan import DlrmRanking, rank_dlrm
from volvelle.applications.dlrm.rows import dlrm_question
from volvelle.applications.measured_table import MeasuredTable
from volvelle.applications.scores import RowValidation, ScoredRow, SkippedRow
from volvelle.catalogue.loader import Catalogue
from volvelle.errors import VolvelleError

__all__ = ["validate_dlrm"]


def validate_dlrm(
    measured: MeasuredTable[DlrmMeasurement] | None = None, *, catalogue: Catalogue | None = None
) -> RowValidation:
    """Predict every row that can be, under the best placement found, and say of every other why not."""
    measured = dlrm_measurements() if measured is None else measured
    catalogue = Catalogue() if catalogue is None else catalogue
    scored: list[ScoredRow] = []
    known: dict[tuple[str, str, DlrmStep], DlrmRanking] = {}
    skipped = [SkippedRow.of(row, row.reason) for row in measured.unread]
    for row in measured.rows:
        asked = dlrm_question(row, catalogue)
        if isinstance(asked, str):
            skipped.append(SkippedRow.of(row.head, asked))
            continue
        assert row.seconds is not None, "a row without a time puts no question"
        # Many submissions are the same step on the same machine.
        key = (asked.stack, asked.cluster.name, asked.step)
        if key not in known:
            try:
                known[key] = rank_dlrm(asked.step, asked.cluster, model=dlrm_model(asked.stack, asked.cluster), top=1)
            except VolvelleError as error:
                skipped.append(SkippedRow.of(row.head, f"the model refuses: {error}"))
                continue
        found = known[key]
        answer = found.best[0] if found.best else found.nearest
        assert answer is not None, "some placement is the fastest"
        scored.append(
            ScoredRow(
                head=row.head,
                label=f"{row.chips} {row.accelerator}, {row.framework}, batch {row.batch}",
                measured=row.seconds,
                predicted=answer.time,
                low=answer.time_range.low,
                high=answer.time_range.high,
                assumed=(*asked.assumed, *(() if found.best else ("memory: no placement fits",))),
                outside_calibration=dlrm_model_error(asked.stack).outside(asked.cluster),
            )
        )
    return RowValidation(quantity="seconds per step", rows=tuple(scored), skipped=tuple(skipped))
