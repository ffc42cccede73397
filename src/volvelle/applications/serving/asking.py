"""What a measured row ran, of whatever kind it is, or why that is not known."""

from functools import lru_cache

from volvelle.applications.serving.measurements import ServingMeasurement
from volvelle.applications.serving.mlperf import mlperf_run
from volvelle.applications.serving.replays import log_run
from volvelle.applications.serving.request_logs import RequestLog
from volvelle.applications.serving.runs import ServingRun, serving_run
from volvelle.applications.serving.split.measured import KIND, split_run
from volvelle.catalogue import Catalogue


def run_of(row: ServingMeasurement, catalogue: Catalogue) -> ServingRun | str:
    """The run that a row states; figures of one row are of one run."""
    if row.log is not None:
        return _of_log(row.cells, row.log, catalogue)
    if row.kind == "mlperf":
        return _of_result(row.cells, catalogue)
    if row.kind == KIND:
        return split_run(row, catalogue)
    return serving_run(row, catalogue)


@lru_cache(maxsize=1024)
def _of_result(cells: tuple[tuple[str, str], ...], catalogue: Catalogue) -> ServingRun | str:
    return mlperf_run(dict(cells), catalogue)


@lru_cache(maxsize=256)
def _of_log(cells: tuple[tuple[str, str], ...], log: RequestLog, catalogue: Catalogue) -> ServingRun | str:
    return log_run(dict(cells), log, catalogue)
