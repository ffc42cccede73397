"""What ``validate``, ``calibrate`` and ``plan`` print for other programs: one shape for all, in SI units."""

from dataclasses import asdict
from typing import Any

from volvelle.applications.contract import AnyApplication, Planned
from volvelle.applications.fitted_constants import Fit
from volvelle.applications.scores import RowScore, RowValidation
from volvelle.estimators.result import Estimate
from volvelle.questions.applications import ValidateQuestion


def _picked(value: object, *names: str) -> dict[str, object]:
    """Some fields of a value."""
    return {name: getattr(value, name) for name in names}


def validation_document(
    application: AnyApplication, validation: RowValidation, question: ValidateQuestion | None = None
) -> dict[str, object]:
    """Scores by split and publication, every row furthest off first, and rows that were not scored with reasons."""
    shown = application.narrowed(validation, question)
    figures = ("measured", "predicted", "low", "high", "error", "assumed", "outside_calibration", "violations")
    return {
        "application": application.word,
        "unit": validation.unit,
        "overall": {
            **_score(shown.overall()),
            **{str(split): _score(shown.overall(split)) for split in shown.splits},
        },
        "groups": [{**_picked(score, "group", "split"), **score.within, **_score(score)} for score in shown.groups()],
        "rows": [
            {
                **_picked(row.head, "row_id", "group", "split"),
                "label": row.label,
                **row.details,
                **_picked(row, *figures),
                "source": row.head.source,
            }
            for row in shown.worst_first()
        ],
        "skipped": [_picked(row, "row_id", "group", "split", "reason") for row in shown.skipped],
        **{finding.key: finding.value for finding in application.findings(validation)},
    }


def _score(score: RowScore) -> dict[str, object]:
    return _picked(score, "rows", "skipped", "median_abs_error", "mean_abs_error", "bias", "coverage")


def fit_document(application: AnyApplication, fit: Fit) -> dict[str, object]:
    """Fitted constants beside those of the catalogue."""
    return {
        "application": application.word,
        "constants": [
            {
                "constant": constant.name,
                "median_abs_error": constant.error,
                "yaml": constant.yaml or None,
                **_picked(constant, "of", "fitted", "low", "high", "catalogue", "rows"),
            }
            for constant in fit.constants
        ],
        **_picked(fit, "scores", "notes"),
    }


def plan_document(application: AnyApplication, planned: Planned[Any, Any, Any]) -> dict[str, object]:
    """The question, the candidates that can run in order, and the fastest that cannot."""
    question, evidence = planned.asked, application.evidence(planned.asked)
    return {
        "application": application.word,
        "system": planned.system.name,
        "accelerators": planned.system.accelerators,
        "asked": planned.asked.facts,
        "calibration": application.constants(question.calibration),
        "considered": planned.ranking.considered,
        "seconds": planned.seconds,
        "plans": [_candidate(application, estimate) for estimate in planned.ranking.best],
        "refused": [_candidate(application, estimate) for estimate in planned.ranking.refused],
        "notes": [*planned.system.notes, *application.notes(planned)],
        "outside_calibration": question.outside,
        "range_basis": None if evidence is None else asdict(evidence),
        **{finding.key: finding.value for finding in application.plan_findings(planned)},
    }


def _candidate(application: AnyApplication, estimate: Estimate[Any, Any]) -> dict[str, object]:
    figures = {}
    for name, figure in estimate.figures().items():
        ends = {} if figure.range is None else _picked(figure.range, "low", "high", "level")
        figures[name] = {"value": figure.value, **ends}
    return {
        "decision": application.described(estimate.workload, estimate.decision),
        "figures": figures,
        **_picked(estimate, "memory", "contributions", "violations"),
    }
