"""The model of Fourier transforms held against every measured one."""

from volvelle.applications.fft.constants import fft_model_error
from volvelle.applications.fft.estimator import FftLayout, FftModel
from volvelle.applications.fft.measurements import FftMeasurement, fft_measurements
from volvelle.applications.fft.plan import fft_layouts, rank_fft
from volvelle.applications.fft.rows import FftQuestion, fft_question
from volvelle.applications.measured_table import MeasuredTable
from volvelle.applications.scores import RowValidation, ScoredRow, SkippedRow
from volvelle.catalogue.loader import Catalogue
from volvelle.errors import VolvelleError
from volvelle.spread import LogNormal
from volvelle.system.topologies.torus import nearly_cubic

__all__ = ["answer_fft", "validate_fft"]


def answer_fft(asked: FftQuestion, model: FftModel) -> tuple[float, float, float]:
    """Seconds of what was asked, and the ends of their range."""
    if asked.single is not None:
        group, stride = asked.single
        time = model.exchange(asked.problem, asked.cluster, group=group, stride=stride)
        low, high = LogNormal(float(time), model.error).bounds(model.level)
        return float(time), low, high
    found = rank_fft(asked.problem, asked.cluster, model=model, layouts=_layouts(asked), top=1)
    answer = (found.best or found.refused)[0]
    return answer.time, answer.time_range.low, answer.time_range.high


def _layouts(asked: FftQuestion) -> tuple[FftLayout, ...]:
    choices = fft_layouts(asked.cluster.accelerators)
    if asked.choice == "slab":
        return choices[:1]
    if asked.choice == "pencil":
        return choices[1:]
    if asked.choice == "square":
        short, long = nearly_cubic(asked.cluster.accelerators, 2)
        return (FftLayout(rows=long, columns=short),)
    return choices


def validate_fft(
    measured: MeasuredTable[FftMeasurement] | None = None,
    *,
    model: FftModel | None = None,
    catalogue: Catalogue | None = None,
) -> RowValidation:
    """Predict every row that can be, and say of every other why not."""
    measured = fft_measurements() if measured is None else measured
    catalogue = Catalogue() if catalogue is None else catalogue
    scored: list[ScoredRow] = []
    skipped = [SkippedRow.of(row, row.reason) for row in measured.unread]
    for row in measured.rows:
        asked = fft_question(row, catalogue)
        if isinstance(asked, str):
            skipped.append(SkippedRow.of(row.head, asked))
            continue
        assert row.seconds is not None, "a row without a time puts no question"
        try:
            time, low, high = answer_fft(asked, model or FftModel(error=fft_model_error().on(asked.cluster)))
        except VolvelleError as error:
            skipped.append(SkippedRow.of(row.head, f"the model refuses: {error}"))
            continue
        scored.append(
            ScoredRow(
                head=row.head,
                label=f"{row.library}, {row.chips} {row.accelerator}",
                measured=row.seconds,
                predicted=time,
                low=low,
                high=high,
                assumed=(*asked.assumed, *(("time from a printed rate",) if row.rounded else ())),
                outside_calibration=fft_model_error().outside(asked.cluster),
            )
        )
    return RowValidation(quantity="seconds a transform", rows=tuple(scored), skipped=tuple(skipped))
