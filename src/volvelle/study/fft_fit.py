"""Rates of the links that transforms were timed on, fitted to calibration rows; and how far whole transforms are off.

Each way of travelling (NCCL, CUDA-aware MPI, through host memory) has three numbers: what a card sustains below one
host, what it loses when four cards share it instead of two, and what a node sustains to others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from volvelle.catalogue.fft_measurements import FftMeasurement
from volvelle.catalogue.loader import Catalogue
from volvelle.errors import DescriptionError
from volvelle.estimate.fft import FftModel
from volvelle.study.fft_rows import FftQuestion, fft_question
from volvelle.study.fft_validation import answer_fft
from volvelle.system.cluster import Cluster

__all__ = ["TransportFit", "fit_transport", "model_error"]

_STEPS = (0.75, 0.87, 0.93, 1.0, 1.07, 1.15, 1.33)


@dataclass(frozen=True, slots=True, kw_only=True)
class TransportFit:
    """What one way of travelling sustains."""

    transport: str
    inside: float
    """Bytes per second of a card, two of them below one host."""
    contention: float
    """Loss with four, in shares."""
    between: float
    """Bytes per second of a card to other nodes."""
    rows: int
    mean_abs_error: float


def fit_transport(
    transport: str, rows: Sequence[FftMeasurement], catalogue: Catalogue, *, rounds: int = 6
) -> TransportFit:
    """Fit to calibration rows that travel like this; rows of any other split are refused."""
    asked = _asked(rows, catalogue, transport)
    start = asked[0][0].cluster.dimensions
    best = {
        "inside": float(start[0].link.rate),
        "contention": float(start[0].link.contention),
        "between": float(start[1].link.rate),
    }
    loss = _loss(asked, best)
    for step in range(rounds):
        scale = 0.7**step
        factors = sorted({factor**scale for factor in _STEPS})
        for names in (("inside", "contention"), ("between",)):
            for chosen in product(factors, repeat=len(names)):
                tried = {**best, **{name: best[name] * factor for name, factor in zip(names, chosen, strict=True)}}
                found = _loss(asked, tried)
                if found < loss - 1e-12:
                    best, loss = tried, found
    return TransportFit(transport=transport, **best, rows=len(asked), mean_abs_error=loss)


def model_error(rows: Sequence[FftMeasurement], catalogue: Catalogue) -> float:
    """One standard deviation of all calibration rows, as a factor: what four fifths of them keep to."""
    logs = [_log_error(asked, seconds) for asked, seconds in _asked(rows, catalogue, None) if _exchanges(asked)]
    return float(np.exp(np.quantile(np.abs(logs), 0.8) / 1.2816))


def _asked(
    rows: Sequence[FftMeasurement], catalogue: Catalogue, transport: str | None
) -> list[tuple[FftQuestion, float]]:
    strange = {row.head.split for row in rows} - {"calibration"}
    if strange:
        raise DescriptionError(f"a fit takes calibration rows only, not {', '.join(sorted(strange))}")
    found = []
    for row in rows:
        asked = fft_question(row, catalogue)
        if isinstance(asked, FftQuestion) and row.seconds is not None and transport in (None, row.transport):
            found.append((asked, row.seconds))
    if not found:
        raise DescriptionError(f"no calibration row travels by {transport!r}")
    return found


def _exchanges(asked: FftQuestion) -> bool:
    """Whether data change hands at all; on one chip, and within one rank, only memory is timed."""
    return asked.cluster.accelerators > 1 and (asked.single is None or asked.single[0] > 1)


def _log_error(asked: FftQuestion, seconds: float) -> float:
    return float(np.log(answer_fft(asked, FftModel(samples=2))[0] / seconds))


def _loss(asked: Sequence[tuple[FftQuestion, float]], constants: Mapping[str, float]) -> float:
    errors = []
    for question, seconds in asked:
        if _exchanges(question):
            variant = replace(question, cluster=_with(question.cluster, constants))
            errors.append(abs(_log_error(variant, seconds)))
    return float(np.mean(errors))


def _with(cluster: Cluster, constants: Mapping[str, float]) -> Cluster:
    inner, outer = cluster.dimensions
    inside = replace(inner.link, rate=constants["inside"], contention=constants["contention"])
    between = replace(outer.link, rate=constants["between"])
    return replace(cluster, dimensions=(replace(inner, link=inside), replace(outer, link=between)))
