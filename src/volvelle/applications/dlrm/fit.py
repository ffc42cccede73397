"""Two constants of each software for recommendation models, fitted to calibration rows.

What rows scattered over memory sustain of its peak, and what a step takes beyond everything that is modelled.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from volvelle.applications.cross_validation import by_size, by_value, cross_validated, groups_error, rows_error
from volvelle.applications.dlrm.constants import dlrm_model, dlrm_model_error, dlrm_stacks
from volvelle.applications.dlrm.estimator import DlrmModel
from volvelle.applications.dlrm.rows import DlrmMeasurement, DlrmQuestion, dlrm_question
from volvelle.applications.fitted_constants import Fit, FittedConstant, model_error_constants
from volvelle.applications.measured_table import CalibrationRows
from volvelle.applications.model_error import ModelError
from volvelle.catalogue.loader import Catalogue
from volvelle.errors import DescriptionError
from volvelle.quantities import FRACTION, SECONDS, percent
from volvelle.system.cluster import Cluster

# Grids on purpose: both constants are stated in these steps, and rows tell them no finer.
_GATHERS = np.arange(0.30, 0.951, 0.05)
_FIXED = {"hugectr": np.arange(0.0, 1.01e-3, 0.1e-3), "other": np.arange(0.0, 10.1e-3, 0.5e-3)}
_APART = "not fully GPU-resident"
"""Rows flagged so are shown, not fitted; nor are cards joined by PCIe alone, whose exchanges nothing calibrates."""


class StackFit(NamedTuple):
    """What calibration rows of one software say; how far off, by rows that were left out one group after another."""

    rows: int
    mean_abs_error: float
    gather: float
    fixed: float
    model_error: ModelError


@dataclass(frozen=True, slots=True)
class DlrmCase:
    """A row's time as numbers of the two constants: base + scattered / gather + fixed."""

    row_id: str
    base: float
    scattered: float
    seconds: float
    configuration: Hashable
    publication: str
    cluster: Cluster
    fitted: bool
    """Cards joined by PCIe alone are predicted and never fitted."""


def fit_stack(stack: str, rows: CalibrationRows[DlrmMeasurement], catalogue: Catalogue) -> StackFit:
    """Fit to calibration rows of one software.

    Rows of one machine, model and batch count together as one: most of MLPerf is eight H100.
    """
    known = dlrm_cases(stack, rows, catalogue)
    cases = [case for case in known if case.fitted]
    if not cases:
        raise DescriptionError(f"no calibration row ran by {stack!r}")
    if len({case.configuration for case in cases}) < 2:
        raise DescriptionError(
            f"all calibration rows by {stack!r} are one model and batch on one machine, and two constants take two; "
            "add rows of another batch, or of another number of chips"
        )
    error = _model_error(stack, cases, [case for case in known if not case.fitted])
    return StackFit(len(cases), *least_constants(stack, cases), error)


def least_constants(stack: str, cases: Sequence[DlrmCase]) -> tuple[float, float, float]:
    """The loss, and the two constants that have the least of it."""
    repeats = Counter(case.configuration for case in cases)
    weights = np.array([1.0 / repeats[case.configuration] for case in cases])

    def loss(gather: float, fixed: float) -> float:
        return float(weights @ np.abs(dlrm_errors(cases, gather, fixed)) / weights.sum())

    return min((loss(g, f), float(g), float(f)) for g, f in product(_GATHERS, _FIXED[stack]))


def dlrm_errors(cases: Sequence[DlrmCase], gather: float, fixed: float) -> NDArray[np.float64]:
    """ln(predicted / measured) of rows with two constants."""
    return np.array([np.log((case.base + case.scattered / gather + fixed) / case.seconds) for case in cases])


def _model_error(stack: str, cases: Sequence[DlrmCase], apart: Sequence[DlrmCase]) -> ModelError:
    def score(rest: Sequence[DlrmCase], out: Sequence[DlrmCase]) -> list[float] | None:
        # Two constants take two configurations at least.
        if len({case.configuration for case in rest}) < 2:
            return None
        _, gather, fixed = least_constants(stack, rest)
        return [float(error) for error in dlrm_errors(out, gather, fixed)]

    publications = by_value(cases, lambda case: case.publication)
    chips = by_value(cases, lambda case: case.cluster.chip.name)
    sizes = by_size(cases, lambda case: case.cluster.accelerators)
    others = score(cases, apart) if apart else None
    counts = [case.cluster.accelerators for case in cases]
    return ModelError(
        inside=rows_error(cross_validated(cases, publications, score)),
        chip=groups_error(cross_validated(cases, chips, score)),
        doubling=groups_error(cross_validated(cases, sizes, score)),
        link=groups_error([others] if others else []),
        chips=tuple(sorted({case.cluster.chip.name for case in cases})),
        counts=(min(counts), max(counts)),
    )


def dlrm_cases(stack: str, rows: CalibrationRows[DlrmMeasurement], catalogue: Catalogue) -> list[DlrmCase]:
    """Calibration rows of one software that can be asked about."""
    plain = replace(dlrm_model(stack), gather=1.0, fixed=0.0, samples=2)
    known: dict[object, tuple[float, float]] = {}
    found = []
    for row in rows.rows:
        question = dlrm_question(row, catalogue)
        if isinstance(question, str) or row.seconds is None or _APART in row.head.flags:
            continue
        if question.calibration != stack:
            continue
        name = (question.system.name, question.work)
        if name not in known:
            known[name] = _parts(question, plain)
        fitted = "PCIe" not in row.accelerator
        found.append(
            DlrmCase(row.head.row_id, *known[name], row.seconds, name, row.head.group, question.system, fitted)
        )
    return found


def _parts(question: DlrmQuestion, plain: DlrmModel) -> tuple[float, float]:
    """What does not depend on the two constants, and what scattered rows take at the full memory rate."""
    first = replace(plain, gather=0.6).rank(question.candidates, question.system, top=1).first
    full = plain.estimate(question.work, question.system, first.decision)
    scattered = sum(part.time for part in full.contributions if part.name.startswith("table rows"))
    return full.time - scattered, scattered


def fit_dlrm(rows: CalibrationRows[DlrmMeasurement], catalogue: Catalogue) -> Fit:
    """Every kind of software that the rows tell of, beside the catalogue, and how well it fits."""
    questions = (dlrm_question(row, catalogue) for row in rows.rows)
    ran = {asked.calibration for asked in questions if not isinstance(asked, str)}
    if not ran:
        raise DescriptionError("no calibration row of a recommendation model can be asked about")
    constants: list[FittedConstant] = []
    notes: list[str] = []
    fitted: dict[str, object] = {}
    for stack in (stack for stack in dlrm_stacks() if stack in ran):
        fit, held = fit_stack(stack, rows, catalogue), dlrm_model(stack)
        for name, value, known, kind in (
            ("memory rate of scattered rows", fit.gather, held.gather, FRACTION),
            ("fixed part of a step", fit.fixed, held.fixed, SECONDS),
        ):
            constants.append(FittedConstant(of=stack, name=name, fitted=value, catalogue=float(known), kind=kind))
        constants += model_error_constants(stack, fit.model_error, dlrm_model_error(stack))
        fitted[stack] = replace(held, gather=fit.gather, fixed=fit.fixed, error=fit.model_error.inside)
        notes.append(f"{stack}: {fit.rows} calibration rows, mean error {percent(fit.mean_abs_error)}")
        if stack == "other":
            notes.append(
                "other: the catalogue keeps what scattered rows sustain in HugeCTR; one row a table tells little"
            )
    notes.append("Doubts are factors of one standard deviation, by rows left out of the fit.")
    return Fit(constants=tuple(constants), notes=tuple(notes), calibration=fitted)
