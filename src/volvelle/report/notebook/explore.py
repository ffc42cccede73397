"""The answers of a study as a notebook shows them."""

from collections.abc import Mapping
from typing import Any

from volvelle.report.documents.explore import InversionDocument
from volvelle.report.explore.pictures import front_picture, time_picture, tornado_picture
from volvelle.report.explore.sheets import Tables, best_facts, ranges_sheet, unmet_lines
from volvelle.report.explore.text import certainty_lines
from volvelle.report.explore.words import explored_words, goal_title, measures_words
from volvelle.report.notebook.shown import Presentation, Row, Shown, itself
from volvelle.report.sheet import Sheet
from volvelle.studies.answers.answers import Answers
from volvelle.studies.answers.best import Best
from volvelle.studies.answers.breakdown import Breakdown
from volvelle.studies.answers.invert import Inversion
from volvelle.studies.design_space.design_study import DesignStudy

_FRONT = 40


def _best(best: Best, study: DesignStudy, taken_apart: Breakdown | None = None) -> tuple[list[str], list[Sheet]]:
    """Why there is none, or the best design as a table."""
    if best.design is None:
        assert best.unmet is not None
        return [*unmet_lines(best.unmet, study), *best.unmet.cures], []
    facts = [*best_facts(best.design, study, taken_apart), ("gives", measures_words(best.design, study.measures))]
    title = goal_title(best.goal, study)
    return [], [Sheet(title=f"{title[0].upper()}{title[1:]}", columns=("", "best design"), rows=tuple(facts))]


def _shown(answers: Answers) -> Shown:
    study, tables = answers.study, Tables(answers)
    warnings, sheets = _best(answers.best, study, answers.taken_apart)
    if answers.best.design is not None and len(answers.front.objectives) > 1:
        designs = tables.front_designs(_FRONT)
        varied = [path for path in designs[0].fields if len({one.fields[path] for one in answers.front.designs}) > 1]
        sheets.append(tables.front(designs, varied))
    if answers.facets:
        sheets.append(tables.facets())
    question = [study.form.question] if study.form.question else []
    return Shown(
        title=study.form.name,
        figures=[*question, f"{explored_words(answers)}."],
        warnings=warnings,
        pictures=(
            lambda width: front_picture(answers, width=width),
            lambda width: time_picture(answers, width=width),
            lambda width: tornado_picture(answers, width=width),
        ),
        sheets=sheets,
        details=[sheet for sheet in (tables.ranges(), tables.prices()) if sheet.rows] if answers.local else [],
    )


def _points(answers: Answers, document: Mapping[str, Any]) -> list[Row]:
    """Every point, not the front alone."""
    return list(answers.points())


ANSWERS = Presentation(verb="explore", document=itself, rows=_points, shown=_shown)


def _inversion(inversion: Inversion) -> Shown:
    warnings, sheets = _best(inversion.best, inversion.study)
    met = f"{inversion.best.considered:,} points meet it"
    figures = [met, *certainty_lines(inversion)]
    sure = [ranges_sheet(inversion.ranges)] if inversion.ranges else []
    return Shown(title=inversion.requirement.text, figures=figures, warnings=warnings, sheets=[*sheets, *sure])


def _design(inversion: Inversion, document: Mapping[str, Any]) -> list[Row]:
    """The best that meets the requirement, if any does."""
    design = document["design"]
    return [{"point": design["point"], **design["fields"], **design["measures"], **design["layout"]}] if design else []


INVERSION = Presentation(verb="explore", document=InversionDocument.model_validate, rows=_design, shown=_inversion)
