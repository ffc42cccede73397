"""From a requirement to a machine: ``days <= 30 and usd minimal`` finds the best point that meets it, exactly."""

import re
from dataclasses import dataclass

from volvelle.errors import DescriptionError, UnknownNameError
from volvelle.presentable import Presentable
from volvelle.studies.answers.best import Best, best_design
from volvelle.studies.answers.designs import Design
from volvelle.studies.design_space.design_study import DesignStudy
from volvelle.studies.design_space.expressions import Expression
from volvelle.studies.design_space.measures import MEASURES, Objective, aim_of
from volvelle.studies.sweep.manifest import Results
from volvelle.studies.sweep.query import Query

_JOINT = re.compile(r"\s*(?:,|;|\band\b)\s*")
_COMPARISON = re.compile(r"[<>=!]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """Conditions to meet, and what is to be least or most under them."""

    text: str
    goal: Objective
    conditions: tuple[Expression, ...]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Inversion(Presentable):
    """A requirement and what meets it best."""

    study: DesignStudy
    requirement: Requirement
    best: Best

    @property
    def design(self) -> Design | None:
        """The best that meets it; None: nothing does, and `best.unmet` says why."""
        return self.best.design


def requirement_of(text: str) -> Requirement:
    """Read a requirement: conditions and exactly one aim, in any order, joined by ``and`` or commas."""
    goals: list[Objective] = []
    conditions: list[Expression] = []
    for clause in (part for part in _JOINT.split(text.strip()) if part):
        aim = None if _COMPARISON.search(clause) else aim_of(clause)
        if aim is not None and aim.name != clause:
            goals.append(aim)
        elif _COMPARISON.search(clause):
            conditions.append(Expression(clause))
        else:
            raise DescriptionError(
                f"{clause!r} in {text!r} is neither a condition nor an aim; write conditions like 'days <= 30' and one "
                "aim like 'usd minimal' or 'most mfu', joined by and"
            )
    if len(goals) != 1:
        found = "no aim" if not goals else f"{len(goals)} aims ({', '.join(map(str, goals))})"
        raise DescriptionError(f"{text!r} has {found}; it needs exactly one, like 'usd minimal' or 'least days'")
    return Requirement(text=text, goal=goals[0], conditions=tuple(conditions))


def invert(results: Results, study: DesignStudy, text: str) -> Inversion:
    """The best point of the results that runs and meets a requirement; the study's own constraints hold as well."""
    wanted = requirement_of(text)
    with Query(results) as query:
        columns = {str(row["column_name"]): str(row["column_type"]) for row in query.rows("DESCRIBE points")}
        for name in sorted({wanted.goal.name, *(one for part in wanted.conditions for one in part.names)}):
            _check(name, columns, study)
        for part in wanted.conditions:
            part.check_units({name: study.kind_of(name) for name in part.names})
        if columns[wanted.goal.name] in ("VARCHAR", "BOOLEAN"):
            raise DescriptionError(f"{wanted.goal.name} holds words, so none of its values is least or most")
        best = best_design(query, study, goal=wanted.goal, conditions=(*study.constraints, *wanted.conditions))
    return Inversion(study=study, requirement=wanted, best=best)


def _check(name: str, columns: dict[str, str], study: DesignStudy) -> None:
    if name in columns:
        return
    written = ", ".join(study.measures)
    if name in MEASURES:
        raise DescriptionError(
            f"the results have no {name}: the study writes {written}; add {name} to its measures: and run it again"
        )
    known = {*columns, *MEASURES}
    raise UnknownNameError(
        f"{str(UnknownNameError.among('measure or axis', name, known)).rstrip('?')}; the results have {written} and "
        "the study's axes, and others come in when they are named under measures"
    )
