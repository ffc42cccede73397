"""The answers of a study as plain values in SI units, for other programs."""

from math import isfinite

from volvelle.studies.answers.answers import Answers, Local
from volvelle.studies.answers.best import Best
from volvelle.studies.answers.designs import Design
from volvelle.studies.answers.invert import Inversion

__all__ = ["answers_document", "inversion_document"]


def answers_document(answers: Answers) -> dict[str, object]:
    """Everything a report shows but pictures; numbers in SI units and dollars."""
    study, front = answers.study, answers.front
    return {
        "study": study.form.name,
        "question": study.form.question,
        "axes": {path: list(values) for axis in study.axes for path, values in axis.columns.items()},
        "points": answers.census.points,
        "run": answers.census.runs,
        "meet_constraints": answers.census.met,
        "cannot_run": dict(answers.census.reasons),
        "fail_constraints": dict(answers.census.failing),
        "seconds": answers.seconds,
        "best": _best(answers.best),
        "facets": [{"value": value, **_best(best)} for value, best in answers.facets],
        "balanced": _design(answers.balanced),
        "front": {
            "objectives": [{"name": one.name, "less_is_better": one.less} for one in front.objectives],
            "size": len(front),
            "ties": front.ties,
            "designs": [_design(design) for design in front.designs],
        },
        "time": [
            {"label": one.label, "point": one.design.number, "parts": dict(one.parts), "resources": dict(one.resources)}
            for one in answers.breakdowns
        ],
        "around_best": None if answers.local is None else _local(answers.local),
    }


def _design(design: Design | None) -> dict[str, object] | None:
    if design is None:
        return None
    found: dict[str, object] = {
        "point": design.number,
        "fields": dict(design.fields),
        "measures": {name: value if isfinite(value) else None for name, value in design.measures.items()},
    }
    return {**found, "layout": dict(design.layout)} if design.layout else found


def _best(best: Best) -> dict[str, object]:
    found: dict[str, object] = {
        "objective": {"name": best.goal.name, "less_is_better": best.goal.less},
        "conditions": list(best.conditions),
        "meet_conditions": best.considered,
        "design": _design(best.design),
        "ties": best.ties,
    }
    if best.unmet is not None:
        found["unmet"] = {
            "points": best.unmet.points,
            "run": best.unmet.runs,
            "cannot_run": dict(best.unmet.reasons),
            "conditions": [
                {
                    "text": one.text,
                    "failing": one.failing,
                    "failing_it_alone": one.alone,
                    "nearest": one.reached,
                    "limit": one.limit,
                    "off_by": one.by,
                }
                for one in best.unmet.shortfalls
            ],
            "nearest": _design(best.unmet.nearest),
            "off_by": best.unmet.miss,
            "cures": list(best.unmet.cures),
        }
    return found


def _local(local: Local) -> dict[str, object]:
    line = local.break_even
    return {
        "elasticities": [
            {
                "field": one.path,
                "objective": one.goal.name,
                "percent_for_one_percent_more": one.up,
                "percent_for_one_percent_less": one.down,
                "usd_for_one_percent_more": one.price,
                "percent_gained_per_million_usd": one.per_million,
            }
            for one in local.sensitivity.elasticities
        ],
        "steps": [
            {
                "field": one.path,
                "from": one.before,
                "to": one.after,
                "objective": one.goal.name,
                "percent": one.change,
                "usd": one.price,
                "percent_gained_per_million_usd": one.per_million,
            }
            for one in local.steps
        ],
        "swings": [
            {"field": one.path, "objective": one.goal.name, "values": list(one.values), "found": list(one.found)}
            for one in local.swings
        ],
        "break_even": None
        if line is None
        else {
            "x": line.x,
            "y": line.y,
            "objective": line.goal.name,
            "equals": line.reference,
            "that_of": line.said,
            "line": [{"x": one.x, "y": one.y, "value": one.value, "jump": one.jump} for one in line.crossings],
        },
        "ranges": [
            {"measure": one.name, "value": one.value, "low": one.low, "high": one.high, "level": one.level}
            for one in local.ranges
        ],
        "assumptions": [
            {
                "name": one.name,
                "value": one.figure.value,
                "low": one.low,
                "high": one.high,
                "date": one.figure.date,
                "evidence": one.figure.evidence.word,
                "source": one.figure.source,
            }
            for one in local.assumptions
        ],
    }


def inversion_document(inversion: Inversion) -> dict[str, object]:
    """What meets a requirement best, or why nothing does."""
    return {
        "study": inversion.study.form.name,
        "requirement": inversion.requirement.text,
        **_best(inversion.best),
    }
