"""Two constants of each software for recommendation models, fitted to calibration rows.

What rows scattered over memory sustain of its peak, and what a step takes beyond everything that is modelled.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from volvelle.catalogue.dlrm_constants import dlrm_model
from volvelle.catalogue.dlrm_measurements import DlrmMeasurement
from volvelle.catalogue.loader import Catalogue
from volvelle.errors import DescriptionError
from volvelle.estimate.dlrm import DlrmModel
from volvelle.search.dlrm_plan import rank_dlrm
from volvelle.study.dlrm_rows import DlrmQuestion, dlrm_question

__all__ = ["DlrmFit", "fit_dlrm"]

_GATHERS = np.arange(0.30, 0.951, 0.05)
_FIXED = {"hugectr": np.arange(0.0, 1.01e-3, 0.1e-3), "other": np.arange(0.0, 10.1e-3, 0.5e-3)}
_APART = "not fully GPU-resident"
"""Rows flagged so are shown, not fitted; nor are cards joined by PCIe alone, whose exchanges nothing calibrates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DlrmFit:
    """What calibration rows of one software say."""

    stack: str
    gather: float
    fixed: float
    error: float
    """One standard deviation as a factor: what four fifths of the rows keep to."""
    rows: int
    mean_abs_error: float


@dataclass(frozen=True, slots=True)
class _Case:
    """A row's time as numbers of the two constants: base + scattered / gather + fixed."""

    base: float
    scattered: float
    seconds: float
    weight: float


def fit_dlrm(stack: str, rows: Sequence[DlrmMeasurement], catalogue: Catalogue) -> DlrmFit:
    """Fit to calibration rows of one software; rows of any other split are refused.

    Rows of one machine, model and batch count together as one: most of MLPerf is eight H100.
    """
    strange = {row.head.split for row in rows} - {"calibration"}
    if strange:
        raise DescriptionError(f"a fit takes calibration rows only, not {', '.join(sorted(strange))}")
    cases = _cases(stack, rows, catalogue)
    weights = np.array([case.weight for case in cases])

    def errors(gather: float, fixed: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        return np.array([np.log((case.base + case.scattered / gather + fixed) / case.seconds) for case in cases])

    loss, gather, fixed = min(
        (float(weights @ np.abs(errors(g, f)) / weights.sum()), float(g), float(f))
        for g, f in product(_GATHERS, _FIXED[stack])
    )
    spread = float(np.quantile(np.abs(errors(gather, fixed)), 0.8)) / 1.2816
    return DlrmFit(
        stack=stack, gather=gather, fixed=fixed, error=float(np.exp(spread)), rows=len(cases), mean_abs_error=loss
    )


def _cases(stack: str, rows: Sequence[DlrmMeasurement], catalogue: Catalogue) -> list[_Case]:
    asked: list[tuple[DlrmQuestion, float]] = []
    for row in rows:
        question = dlrm_question(row, catalogue)
        if not isinstance(question, DlrmQuestion) or row.seconds is None or _APART in row.head.flags:
            continue
        if question.stack == stack and "PCIe" not in row.accelerator:
            asked.append((question, row.seconds))
    if not asked:
        raise DescriptionError(f"no calibration row ran by {stack!r}")
    names = [(question.cluster.name, question.step) for question, _ in asked]
    plain = replace(dlrm_model(stack), gather=1.0, fixed=0.0, samples=2)
    known: dict[object, tuple[float, float]] = {}
    found = []
    for (question, seconds), name in zip(asked, names, strict=True):
        if name not in known:
            known[name] = _parts(question, plain)
        base, scattered = known[name]
        found.append(_Case(base, scattered, seconds, 1.0 / names.count(name)))
    return found


def _parts(question: DlrmQuestion, plain: DlrmModel) -> tuple[float, float]:
    """What does not depend on the two constants, and what scattered rows take at the full memory rate."""
    ranking = rank_dlrm(question.step, question.cluster, model=replace(plain, gather=0.6), top=1)
    answer = ranking.best[0] if ranking.best else ranking.nearest
    assert answer is not None, "some placement is the fastest"
    full = plain.estimate(question.step, question.cluster, answer.placement)
    scattered = sum(part.time for part in full.contributions if part.name.startswith("table rows"))
    return full.time - scattered, scattered
