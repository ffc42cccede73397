"""Rates of the links that transforms were timed on, fitted to calibration rows; and how far whole transforms are off.

Each way of travelling (NCCL, CUDA-aware MPI, through host memory) has three numbers: what a card sustains below one
host, what it loses when four cards share it instead of two, and what a node sustains to others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from volvelle.applications.cross_validation import by_value, cross_validated, groups_error, largest, rows_error
from volvelle.applications.fft.constants import fft_model_error
from volvelle.applications.fft.estimator import FftModel
from volvelle.applications.fft.rows import FftMeasurement, FftQuestion, fft_question
from volvelle.applications.fitted_constants import Fit, FittedConstant, model_error_constants
from volvelle.applications.measured_table import CalibrationRows
from volvelle.applications.model_error import ModelError
from volvelle.catalogue.loader import Catalogue
from volvelle.errors import DescriptionError
from volvelle.quantities import BYTES_PER_SECOND, FRACTION, percent
from volvelle.system.cluster import Cluster

_FACTORS = (0.75, 0.87, 0.93, 1.0, 1.07, 1.15, 1.33)
_MANY, FEW = 6, 2
"""Rounds of a fit that is shown, and of one of the many with rows left out."""


def fit_transport(
    transport: str, rows: CalibrationRows[FftMeasurement], catalogue: Catalogue, *, rounds: int = _MANY
) -> tuple[dict[str, float], float]:
    """What one way of travelling sustains: the three numbers, and their loss."""
    asked = [case for case in fft_cases(rows, catalogue) if case.transport == transport]
    if not asked:
        raise DescriptionError(f"no calibration row travels by {transport!r}")
    return travelled_rates(asked, rounds=rounds)


def fit_model_error(rows: CalibrationRows[FftMeasurement], catalogue: Catalogue) -> ModelError:
    """How far transforms are off that their fit did not see; nothing is said of other chips, as all rows are on one.

    A publication is left out at a time; where all rows that travel one way are of one publication, a library is.
    """
    cases = [case for case in fft_cases(rows, catalogue) if case.transport and case.exchanges]
    if not cases:
        raise DescriptionError(
            "no calibration row of a transform names, in its column transport, a way of travelling between several "
            "chips that there is a cluster for: nccl, host-staged or cuda-aware-mpi on V100-32GB PCIe"
        )

    def score(rest: Sequence[FftCase], out: Sequence[FftCase]) -> list[float] | None:
        best, _ = travelled_rates(rest, rounds=FEW)
        return [log_error(case, best) for case in out]

    seen: list[list[float]] = []
    sizes: list[list[float]] = []
    for transport in dict.fromkeys(case.transport for case in cases):
        mine = [case for case in cases if case.transport == transport]
        one = len({case.publication for case in mine}) == 1
        groups = by_value(mine, lambda case, one=one: case.library if one else case.publication)  # type: ignore[misc]
        seen += cross_validated(mine, groups, score)
        # No question is of fewer chips than one: what smaller machines are off by, told by larger ones, is never asked.
        sizes += cross_validated(mine, [largest(mine, lambda case: case.question.system.accelerators)], score)
    counts = [case.question.system.accelerators for case in cases]
    return ModelError(
        inside=rows_error(seen, groups_alike=True),
        chip=1.0,
        doubling=groups_error(sizes),
        chips=tuple(sorted({case.question.system.chip.name for case in cases})),
        counts=(1, max(counts)),
    )


@dataclass(frozen=True, slots=True)
class FftCase:
    """A calibration row of transforms."""

    row_id: str
    question: FftQuestion
    seconds: float
    transport: str
    publication: str
    library: str

    @property
    def exchanges(self) -> bool:
        """Whether data change hands at all; on one chip, and within one rank, only memory is timed."""
        alone = self.question.decision.exchange
        return self.question.system.accelerators > 1 and (alone is None or alone[0] > 1)


def fft_cases(rows: CalibrationRows[FftMeasurement], catalogue: Catalogue) -> list[FftCase]:
    """Calibration rows that can be asked about."""
    found = []
    for row in rows.rows:
        asked = fft_question(row, catalogue)
        if not isinstance(asked, str) and row.seconds is not None:
            found.append(FftCase(row.head.row_id, asked, row.seconds, row.transport, row.head.group, row.library))
    return found


def travelled_rates(asked: Sequence[FftCase], *, rounds: int) -> tuple[dict[str, float], float]:
    """The three numbers of one way of travelling, and their loss: factors on those of the catalogue, ever finer.

    Factors on purpose: the doubt that the catalogue states was found by them, with rows left out of the fit. A simplex
    of SciPy reached the same mean errors to a tenth of a per cent, but another doubt (1.08 in place of 1.11).
    """
    inner, outer = asked[0].question.system.dimensions
    best = {
        "inside": float(inner.link.rate),
        "contention": float(inner.link.contention),
        "between": float(outer.link.rate),
    }
    exchanging = [case for case in asked if case.exchanges]

    def judged(constants: Mapping[str, float]) -> float:
        return float(np.mean([abs(log_error(case, constants)) for case in exchanging]))

    loss = judged(best)
    for step in range(rounds):
        factors = sorted({factor ** (0.7**step) for factor in _FACTORS})
        for names in (("inside", "contention"), ("between",)):
            for chosen in product(factors, repeat=len(names)):
                tried = {**best, **{name: best[name] * factor for name, factor in zip(names, chosen, strict=True)}}
                found = judged(tried)
                if found < loss - 1e-12:
                    best, loss = tried, found
    return best, loss


def log_error(case: FftCase, constants: Mapping[str, float]) -> float:
    """ln(predicted / measured) with some rates of travelling."""
    asked = case.question
    return float(np.log(FftModel().least(asked.candidates, _with(asked.system, constants)) / case.seconds))


def _with(cluster: Cluster, constants: Mapping[str, float]) -> Cluster:
    inner, outer = cluster.dimensions
    inside = replace(inner.link, rate=constants["inside"], contention=constants["contention"])
    between = replace(outer.link, rate=constants["between"])
    return replace(cluster, dimensions=(replace(inner, link=inside), replace(outer, link=between)))


def fit_fft(rows: CalibrationRows[FftMeasurement], catalogue: Catalogue) -> Fit:
    """Every way of travelling that the rows tell of, beside the catalogue, and how well it fits."""
    cases = [case for case in fft_cases(rows, catalogue) if case.transport and case.exchanges]
    constants: list[FittedConstant] = []
    notes: list[str] = []
    fitted: dict[str, object] = {}
    for transport in dict.fromkeys(case.transport for case in cases):
        fit, loss = fit_transport(transport, rows, catalogue)
        mine = [case for case in fft_cases(rows, catalogue) if case.transport == transport]
        inner, outer = mine[0].question.system.dimensions
        for key, name, held, kind in (
            ("inside", "a card below one host", inner.link.rate, BYTES_PER_SECOND),
            ("contention", "lost with four below it", inner.link.contention, FRACTION),
            ("between", "a card to other nodes", outer.link.rate, BYTES_PER_SECOND),
        ):
            value = fit[key]
            constants.append(FittedConstant(of=transport, name=name, fitted=value, catalogue=float(held), kind=kind))
        notes.append(f"{transport}: {len(mine)} calibration rows, mean error {percent(loss)}")
        fitted[transport] = fit
    error = fit_model_error(rows, catalogue)
    constants += model_error_constants("all", error, fft_model_error())
    notes.append("Doubts are factors of one standard deviation, by rows left out of the fit.")
    return Fit(constants=tuple(constants), notes=tuple(notes), calibration={**fitted, "all": error})
