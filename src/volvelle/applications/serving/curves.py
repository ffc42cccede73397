"""How full an engine was over time: what it logged, and what the replay of its log says."""

from collections.abc import Iterable

import numpy as np

from volvelle.applications.scores import MeasuredCurve, ScoredRow
from volvelle.applications.serving.measurements import ServingMeasurement
from volvelle.applications.serving.replays import replayed
from volvelle.applications.serving.request_logs import RequestLog, log_seconds
from volvelle.applications.serving.runs import ServingRun
from volvelle.workload.serving.requests import Real

_MOMENTS = 240
"""Of a log that comes without what its engine said each second."""


def log_curves(rows: Iterable[ScoredRow]) -> tuple[MeasuredCurve, ...]:
    """Requests that run and wait, and the share of the KV cache in use, of every log among rows; none beside others."""
    found: dict[str, tuple[MeasuredCurve, ...]] = {}
    for row in rows:
        measurement = row.row
        if not isinstance(measurement, ServingMeasurement) or measurement.log is None or row.estimate is None:
            return ()
        if measurement.log.name not in found:
            found[measurement.log.name] = _of(measurement.log, row.estimate.workload)
    return tuple(curve for curves in found.values() for curve in curves)


def _of(log: RequestLog, run: ServingRun) -> tuple[MeasuredCurve, ...]:
    served, seconds = replayed(run), log_seconds(log.name)
    if seconds:
        moments = np.array([second.time for second in seconds])
        measured = {
            "requests that run": np.array([second.running for second in seconds]),
            "requests that wait": np.array([second.waiting for second in seconds]),
            "KV cache in use, %": 100.0 * np.array([second.kv_share for second in seconds]),
        }
    else:
        moments = np.linspace(0.0, float(log.last_token.max()), _MOMENTS)
        measured = {
            "requests that run": _between(log.scheduled, log.last_token, moments),
            "requests that wait": _between(log.requests.arrival, log.scheduled, moments),
        }
    running, waiting, used = served.curve(moments)
    predicted = (running.astype(float), waiting.astype(float), 100.0 * used)
    said = {name: column for name, column in measured.items() if np.any(column > 0.0)}
    return tuple(
        MeasuredCurve(
            title=log.name,
            name=name,
            moments=tuple(moments.tolist()),
            measured=tuple(said[name].tolist()),
            predicted=tuple(column.tolist()),
        )
        for name, column in zip(measured, predicted, strict=False)
        if name in said
    )


def _between(start: Real, end: Real, moments: Real) -> Real:
    """Requests that are between two of their times."""
    begun = np.searchsorted(np.sort(start), moments, side="right")
    return (begun - np.searchsorted(np.sort(end), moments, side="right")).astype(np.float64)
