"""From a requirement to a machine: ``days <= 30 and usd minimal`` finds the best point that meets it, exactly."""

import re
from dataclasses import dataclass

from volvelle.errors import DescriptionError, UnknownNameError
from volvelle.presentable import Presentable
from volvelle.studies.answers.best import Best, best_design
from volvelle.studies.answers.designs import Design
from volvelle.studies.design_space.design_study import DesignStudy
from volvelle.studies.design_space.expressions import Expression
from volvelle.studies.design_space.job_measures import QUANTILES
from volvelle.studies.design_space.measures import MEASURES, MIDDLE, Objective, aim_of
from volvelle.studies.sweep.manifest import Results
from volvelle.studies.sweep.query import Query

_JOINT = re.compile(r"\s*(?:,|;|\band\b)\s*")
_COMPARISON = re.compile(r"[<>=!]")
_CHANCE = re.compile(r"P\(\s*(\w+)\s*(<=|>=|<|>)\s*(.+?)\s*\)\s*>=?\s*([\d.]+)\s*(%?)")
"""A condition that is to hold with some probability."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """Conditions to meet, and what is to be least or most under them."""

    text: str
    goal: Objective
    conditions: tuple[Expression, ...]
    at_median: tuple[Expression, ...] = ()
    """The same with every probability a half; nothing where none is asked for."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Inversion(Presentable):
    """A requirement and what meets it best."""

    study: DesignStudy
    requirement: Requirement
    best: Best
    median: Best | None = None
    """Were every probability that is asked for a half; None: none is asked for, or it was not looked at."""

    @property
    def design(self) -> Design | None:
        """The best that meets it; None: nothing does, and `best.unmet` says why."""
        return self.best.design


def requirement_of(text: str) -> Requirement:
    """Read a requirement: conditions and exactly one aim, in any order, joined by ``and`` or commas."""
    goals: list[Objective] = []
    conditions: list[Expression] = []
    medians: list[Expression] = []
    certain = False
    for clause in (part for part in _JOINT.split(text.strip()) if part):
        aim = None if _COMPARISON.search(clause) else aim_of(clause)
        if aim is not None and aim.name != clause:
            goals.append(aim)
        elif (chance := _CHANCE.fullmatch(clause)) is not None:
            certain = True
            conditions.append(_at_quantile(clause, chance))
            medians.append(_at_quantile(clause, chance, share=0.5))
        elif _COMPARISON.search(clause):
            conditions.append(Expression(clause))
            medians.append(conditions[-1])
        else:
            raise DescriptionError(
                f"{clause!r} in {text!r} is neither a condition nor an aim; write conditions like 'days <= 30' and one "
                "aim like 'usd minimal' or 'most mfu', joined by and"
            )
    if len(goals) != 1:
        found = "no aim" if not goals else f"{len(goals)} aims ({', '.join(map(str, goals))})"
        raise DescriptionError(f"{text!r} has {found}; it needs exactly one, like 'usd minimal' or 'least days'")
    return Requirement(
        text=text, goal=goals[0], conditions=tuple(conditions), at_median=tuple(medians) if certain else ()
    )


def _at_quantile(clause: str, chance: re.Match[str], share: float | None = None) -> Expression:
    """A condition that holds with a probability, as one on a quantile: P(days <= 30) >= 0.9 is days.p90 <= 30."""
    name, sign, bound, asked, per_cent = chance.groups()
    wanted = share if share is not None else float(asked) / (100.0 if per_cent else 1.0)
    below = wanted if sign.startswith("<") else 1.0 - wanted
    place = round(100 * below)
    if f"{name}.p{MIDDLE}" not in MEASURES:
        known = ", ".join(sorted(known.partition(".")[0] for known in MEASURES if known.endswith(f".p{MIDDLE}")))
        raise DescriptionError(f"{clause!r} asks how likely {name} is; of {known} it is known")
    if abs(100 * below - place) > 1e-9 or place not in QUANTILES:
        shares = ", ".join(f"{(p if sign.startswith('<') else 100 - p) / 100:g}" for p in QUANTILES)
        raise DescriptionError(f"{clause!r} asks for a probability that is not reckoned; one of {shares} is")
    return Expression(f"{name}.p{place} {sign} {bound}")


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
        half = [name for part in wanted.at_median for name in part.names]
        median = (
            best_design(query, study, goal=wanted.goal, conditions=(*study.constraints, *wanted.at_median))
            if half and all(name in columns for name in half)
            else None
        )
    return Inversion(study=study, requirement=wanted, best=best, median=median)


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
