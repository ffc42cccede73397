"""Constants of an engine from a log of requests: what its kernels leave, told by every request's own times."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from volvelle.applications.serving.replays import replayed
from volvelle.applications.serving.request_logs import RequestLog
from volvelle.applications.serving.runs import ServingRun
from volvelle.estimators.serving.engine_constants import EngineConstants
from volvelle.workload.serving.requests import Real

FITTED_TO_LOGS = ("attending", "host", "per_sequence", "per_admission")
"""Constants that move, which a log tells together better than apart; rates of products stay those of kernels."""
_LAUNCH, _PASSES = 2.1e-6, 8.2
"""Seconds a small kernel, and passes over the stream: of timed layers on two cards (scripts/distil_layers.py)."""
_STEP, _ROUNDS, _FAR = 0.15, 8, 1.0
"""In logarithms: how far a constant is moved to see what it does, and moves in a round at most."""
_HOLD = 0.1
"""How strongly constants are held to where they started."""
_TOLERANCE = 0.12
"""Errors beyond which a figure counts less and less."""
_TOKENS = 8
"""Output tokens from which on a request tells the time of one."""
_TPOT_COUNTS, _SHORT_WAIT, _SHORT_COUNTS = 2.0, 1.0, 0.3
"""How much the time a token of a request counts, and the wait of one that waits less than a second."""


def started_from_kernels() -> EngineConstants:
    """Where a fit to a log starts: kernels at their own rates, and a host in no hurry."""
    return EngineConstants(launch=_LAUNCH, passes=_PASSES, host_overlapped=False)


def fit_to_logs(logs: Sequence[tuple[ServingRun, RequestLog]]) -> EngineConstants:
    """Gauss-Newton on logarithms of constants, over all requests of all logs."""
    start = started_from_kernels()
    first = np.log([getattr(start, name) for name in FITTED_TO_LOGS])
    at = first.copy()
    for _ in range(_ROUNDS):
        base = _residuals(logs, _moved(start, at))
        slopes = np.zeros((len(base), len(at)))
        for place in range(len(at)):
            beside = at.copy()
            beside[place] += _STEP
            slopes[:, place] = (_residuals(logs, _moved(start, beside)) - base) / _STEP
        counts = 1.0 / np.sqrt(1.0 + (base / _TOLERANCE) ** 2)
        matrix = np.concatenate([slopes * counts[:, None], _HOLD * np.eye(len(at))])
        target = np.concatenate([-base * counts, _HOLD * (first - at)])
        at = at + np.clip(np.linalg.lstsq(matrix, target, rcond=None)[0], -_FAR, _FAR)
    return _moved(start, at)


def _moved(start: EngineConstants, at: Real) -> EngineConstants:
    values: Mapping[str, float] = dict(zip(FITTED_TO_LOGS, map(float, np.exp(at)), strict=True))
    return replace(start, **values)  # type: ignore[arg-type]


def _residuals(logs: Sequence[tuple[ServingRun, RequestLog]], constants: EngineConstants) -> Real:
    """Logarithms of replayed over logged times: of a token, then of the wait for the first, weighted."""
    found = []
    for run, log in logs:
        served = replayed(replace(run, instance=run.instance.with_constants(constants)))
        many = served.output_tokens > _TOKENS
        token = np.log((served.end - served.first_token)[many] / (log.last_token - log.first_token)[many])
        counts = np.where(log.ttft > _SHORT_WAIT, 1.0, _SHORT_COUNTS)
        found += [_TPOT_COUNTS * token, counts * np.log((served.first_token - served.sent) / log.ttft)]
    return np.concatenate(found)
