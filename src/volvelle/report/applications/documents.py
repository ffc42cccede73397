"""What ``validate``, ``calibrate`` and ``plan`` print for other programs: one shape for all, in SI units."""

import math
from collections.abc import Mapping
from typing import Any

from volvelle.applications.contract import Application, Planned
from volvelle.applications.fitted_constants import Fit
from volvelle.applications.scores import RowScore, RowValidation
from volvelle.estimators.result import Estimate, RangedFigure

__all__ = ["fit_document", "plan_document", "validation_document"]


def validation_document(
    application: Application[Any, Any, Any, Any], validation: RowValidation, **options: Any
) -> dict[str, object]:
    """Scores by split and publication, every row furthest off first, and rows that were not scored with reasons."""
    shown = application.narrowed(validation, **options)
    return {
        "application": application.word,
        "unit": validation.unit,
        "overall": {
            **_score(shown.overall()),
            **{str(split): _score(shown.overall(split)) for split in shown.splits},
        },
        "groups": [
            {"group": score.group, "split": score.split, **score.within, **_score(score)} for score in shown.groups()
        ],
        "rows": [
            {
                "row_id": row.head.row_id,
                "group": row.head.group,
                "split": row.head.split,
                "label": row.label,
                **row.details,
                "measured": row.measured,
                "predicted": row.predicted,
                "low": row.low,
                "high": row.high,
                "error": row.error,
                "assumed": list(row.assumed),
                "outside_calibration": list(row.outside_calibration),
                "violations": list(row.violations),
                "source": row.head.source,
            }
            for row in shown.worst_first()
        ],
        "skipped": [
            {"row_id": row.row_id, "group": row.group, "split": row.split, "reason": row.reason}
            for row in shown.skipped
        ],
        **{finding.key: _plain(finding.value) for finding in application.findings(validation)},
    }


def _score(score: RowScore) -> dict[str, object]:
    names = ("rows", "skipped", "median_abs_error", "mean_abs_error", "bias", "coverage")
    return {name: _plain(getattr(score, name)) for name in names}


def _plain(value: object) -> object:
    """Numbers that are none are None."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, list | tuple) else value


def fit_document(application: Application[Any, Any, Any, Any], fit: Fit) -> dict[str, object]:
    """Fitted constants beside those of the catalogue."""
    return {
        "application": application.word,
        "constants": [
            {
                "of": constant.of,
                "constant": constant.name,
                "fitted": constant.fitted,
                "low": constant.low,
                "high": constant.high,
                "catalogue": constant.catalogue,
                "rows": constant.rows,
                "median_abs_error": constant.error,
                "yaml": constant.yaml or None,
            }
            for constant in fit.constants
        ],
        "scores": dict(fit.scores),
        "notes": list(fit.notes),
    }


def plan_document(application: Application[Any, Any, Any, Any], planned: Planned[Any, Any, Any]) -> dict[str, object]:
    """The question, the candidates that can run in order, and the fastest that cannot."""
    question = planned.asked
    return {
        "application": application.word,
        "system": planned.system.name,
        "accelerators": planned.system.accelerators,
        "asked": dict(planned.asked.facts),
        "calibration": dict(application.constants(question.calibration)),
        "considered": planned.ranking.considered,
        "seconds": planned.seconds,
        "plans": [_candidate(application, estimate) for estimate in planned.ranking.best],
        "refused": [_candidate(application, estimate) for estimate in planned.ranking.refused],
        "notes": [*planned.system.notes, *application.notes(planned)],
        "outside_calibration": list(question.outside),
        **{finding.key: _plain(finding.value) for finding in application.plan_findings(planned)},
    }


def _candidate(application: Application[Any, Any, Any, Any], estimate: Estimate[Any, Any]) -> dict[str, object]:
    return {
        "decision": dict(application.described(estimate.workload, estimate.decision)),
        "figures": {name: _figure(figure) for name, figure in estimate.figures().items()},
        "memory": [{"name": part.name, "bytes": part.bytes, "law": part.law} for part in estimate.memory],
        "contributions": [
            {
                "name": part.name,
                "part": part.part,
                "time": part.time,
                "exposed": part.exposed,
                "resource": part.resource,
                "law": part.law,
            }
            for part in estimate.contributions
        ],
        "violations": [
            {"name": violation.name, "problem": violation.problem, "cures": list(violation.cures)}
            for violation in estimate.violations
        ],
    }


def _figure(figure: RangedFigure) -> dict[str, object]:
    spread = figure.range
    if spread is None:
        return {"value": figure.value}
    return {"value": figure.value, "low": spread.low, "high": spread.high, "level": spread.level}
