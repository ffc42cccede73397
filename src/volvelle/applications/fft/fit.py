"""Rates of the links that transforms were timed on, fitted to calibration rows; and how far whole transforms are off.

Each way of travelling (NCCL, CUDA-aware MPI, through host memory) has three numbers: what a card sustains below one
host, what it loses when four cards share it instead of two, and what a node sustains to others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from volvelle.applications.calibration_rows import refuse_other_splits
from volvelle.applications.cross_validation import by_size, by_value, cross_validated, groups_error, rows_error
from volvelle.applications.fft.constants import fft_model_error
from volvelle.applications.fft.estimator import FftModel
from volvelle.applications.fft.measurements import FftMeasurement
from volvelle.applications.fft.rows import FftQuestion, fft_question
from volvelle.applications.fft.validation import answer_fft
from volvelle.applications.fitted_constants import FittedConstant, model_error_constants
from volvelle.applications.model_error import ModelError
from volvelle.catalogue.loader import Catalogue
from volvelle.errors import DescriptionError
from volvelle.quantities import BYTES_PER_SECOND, FRACTION
from volvelle.system.cluster import Cluster

__all__ = ["TransportFit", "fft_constants", "fit_model_error", "fit_transport"]

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
    refuse_other_splits(rows)
    asked = [case for case in _cases(rows, catalogue) if case.transport == transport]
    if not asked:
        raise DescriptionError(f"no calibration row travels by {transport!r}")
    best, loss = _rates(asked, rounds=rounds)
    return TransportFit(transport=transport, **best, rows=len(asked), mean_abs_error=loss)


def fit_model_error(rows: Sequence[FftMeasurement], catalogue: Catalogue, *, rounds: int = 2) -> ModelError:
    """How far transforms are off that their fit did not see; nothing is said of other chips, as all rows are on one.

    A publication is left out at a time; where all rows that travel one way are of one publication, a library is.
    """
    refuse_other_splits(rows)
    cases = [case for case in _cases(rows, catalogue) if case.transport and _exchanges(case.question)]
    if not cases:
        raise DescriptionError(
            "no calibration row of a transform names, in its column transport, a way of travelling between several "
            "chips that there is a cluster for: nccl, host-staged or cuda-aware-mpi on V100-32GB PCIe"
        )

    def score(rest: Sequence[_Case], out: Sequence[_Case]) -> list[float] | None:
        best, _ = _rates(rest, rounds=rounds)
        return [_log_error(replace(each.question, cluster=_with(each.question.cluster, best)), each) for each in out]

    seen: list[list[float]] = []
    sizes: list[list[float]] = []
    for transport in dict.fromkeys(case.transport for case in cases):
        mine = [case for case in cases if case.transport == transport]
        one = len({case.publication for case in mine}) == 1
        groups = by_value(mine, lambda case, one=one: case.library if one else case.publication)  # type: ignore[misc]
        seen += cross_validated(mine, groups, score)
        sizes += cross_validated(mine, by_size(mine, lambda case: case.question.cluster.accelerators), score)
    counts = [case.question.cluster.accelerators for case in cases]
    return ModelError(
        inside=rows_error(seen),
        chip=1.0,
        doubling=groups_error(sizes),
        chips=tuple(sorted({case.question.cluster.chip.name for case in cases})),
        counts=(1, max(counts)),
    )


@dataclass(frozen=True, slots=True)
class _Case:
    question: FftQuestion
    seconds: float
    transport: str
    publication: str
    library: str


def _cases(rows: Sequence[FftMeasurement], catalogue: Catalogue) -> list[_Case]:
    found = []
    for row in rows:
        asked = fft_question(row, catalogue)
        if isinstance(asked, FftQuestion) and row.seconds is not None:
            found.append(_Case(asked, row.seconds, row.transport, row.head.group, row.library))
    return found


def _rates(asked: Sequence[_Case], *, rounds: int) -> tuple[dict[str, float], float]:
    """The three numbers of one way of travelling, and their loss."""
    start = asked[0].question.cluster.dimensions
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
    return best, loss


def _exchanges(asked: FftQuestion) -> bool:
    """Whether data change hands at all; on one chip, and within one rank, only memory is timed."""
    return asked.cluster.accelerators > 1 and (asked.single is None or asked.single[0] > 1)


def _log_error(asked: FftQuestion, case: _Case) -> float:
    return float(np.log(answer_fft(asked, FftModel(samples=2))[0] / case.seconds))


def _loss(asked: Sequence[_Case], constants: Mapping[str, float]) -> float:
    errors = []
    for case in asked:
        if _exchanges(case.question):
            variant = replace(case.question, cluster=_with(case.question.cluster, constants))
            errors.append(abs(_log_error(variant, case)))
    return float(np.mean(errors))


def _with(cluster: Cluster, constants: Mapping[str, float]) -> Cluster:
    inner, outer = cluster.dimensions
    inside = replace(inner.link, rate=constants["inside"], contention=constants["contention"])
    between = replace(outer.link, rate=constants["between"])
    return replace(cluster, dimensions=(replace(inner, link=inside), replace(outer, link=between)))


def fft_constants(
    rows: Sequence[FftMeasurement], catalogue: Catalogue
) -> tuple[tuple[FittedConstant, ...], tuple[str, ...]]:
    """Every way of travelling that the rows tell of, beside the catalogue, and how well it fits."""
    refuse_other_splits(rows)
    cases = [case for case in _cases(rows, catalogue) if case.transport and _exchanges(case.question)]
    constants, notes = [], []
    for transport in dict.fromkeys(case.transport for case in cases):
        fit = fit_transport(transport, rows, catalogue)
        inner, outer = next(case.question.cluster for case in cases if case.transport == transport).dimensions
        for name, value, held, kind in (
            ("a card below one host", fit.inside, inner.link.rate, BYTES_PER_SECOND),
            ("lost with four below it", fit.contention, inner.link.contention, FRACTION),
            ("a card to other nodes", fit.between, outer.link.rate, BYTES_PER_SECOND),
        ):
            constants.append(
                FittedConstant(of=transport, name=name, fitted=float(value), catalogue=float(held), kind=kind)
            )
        notes.append(f"{transport}: {fit.rows} calibration rows, mean error {fit.mean_abs_error:.1%}")
    constants += model_error_constants("all", fit_model_error(rows, catalogue), fft_model_error())
    return tuple(constants), (*notes, "Doubts are factors of one standard deviation, by rows left out of the fit.")
