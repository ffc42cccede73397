"""From a requirement to a machine: ``days <= 30 and usd minimal`` finds the best point that meets it, exactly."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from volvelle.errors import DescriptionError, UnknownNameError
from volvelle.presentable import Presentable
from volvelle.studies.answers.best import Best, best_design
from volvelle.studies.answers.certainty import Certainty, Chance, certainties_of
from volvelle.studies.answers.designs import Design
from volvelle.studies.answers.price_range import FigureRange, figure_ranges
from volvelle.studies.design_space.design_study import DesignStudy
from volvelle.studies.design_space.evaluate import Evaluator
from volvelle.studies.design_space.explained import Bases
from volvelle.studies.design_space.expressions import Expression
from volvelle.studies.design_space.job_measures import QUANTILES, SAMPLED
from volvelle.studies.design_space.measures import MEASURES, OF_STEPS, Objective, aim_of
from volvelle.studies.sweep.chunk import evaluator_of
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
    chances: tuple[Chance, ...] = ()
    """Those conditions that are to hold with some probability."""

    @property
    def names(self) -> tuple[str, ...]:
        """What conditions are about."""
        return (
            *(chance.measure for chance in self.chances),
            *(name for part in self.conditions for name in sorted(part.names)),
        )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Inversion(Presentable):
    """A requirement and what meets it best."""

    study: DesignStudy
    requirement: Requirement
    best: Best
    median: Best | None = None
    """Were every probability that is asked for a half; None: none is asked for, or it was not looked at."""
    certainties: tuple[Certainty, ...] = ()
    """How likely the answer and that of an even chance meet each condition with a probability."""
    ranges: tuple[FigureRange, ...] = ()
    """Where the step time of the answer lies, and what else was asked for; none where it is not known."""
    bases: Bases = ()
    """What the time of every workload rests on there."""

    @property
    def design(self) -> Design | None:
        """The best that meets it; None: nothing does, and `best.unmet` says why."""
        return self.best.design

    @property
    def certainty_costs(self) -> Mapping[str, float]:
        """What being sure takes more than an even chance, as a share, by axis and measure that differs."""
        if self.best.design is None or self.median is None or self.median.design is None:
            return {}
        sure, even = ({**one.fields, **one.measures} for one in (self.best.design, self.median.design))
        pairs = {name: (sure[name], even[name]) for name in sure if name in even}
        return {
            name: now / before - 1.0
            for name, (now, before) in pairs.items()
            if isinstance(now, int | float) and isinstance(before, int | float) and before and now != before
            if math.isfinite(now / before)
        }


def requirement_of(text: str) -> Requirement:
    """Read a requirement: conditions and exactly one aim, in any order, joined by ``and`` or commas."""
    goals: list[Objective] = []
    conditions: list[Expression] = []
    medians: list[Expression] = []
    chances: list[Chance] = []
    for clause in (part for part in _JOINT.split(text.strip()) if part):
        aim = None if _COMPARISON.search(clause) else aim_of(clause)
        if aim is not None and aim.name != clause:
            goals.append(aim)
        elif (found := _CHANCE.fullmatch(clause)) is not None:
            chances.append(_chance(clause, found))
            conditions.append(_at_quantile(chances[-1], chances[-1].asked))
            medians.append(_at_quantile(chances[-1], 0.5))
        elif _COMPARISON.search(clause):
            conditions.append(Expression(clause))
            medians.append(conditions[-1])
        else:
            raise DescriptionError(
                f"{clause!r} in {text!r} is neither a condition nor an aim; write conditions like 'days <= 30' and one "
                "aim like 'usd minimal' or 'most mfu', joined by and"
            )
    if len(goals) != 1:
        given = "no aim" if not goals else f"{len(goals)} aims ({', '.join(map(str, goals))})"
        raise DescriptionError(f"{text!r} has {given}; it needs exactly one, like 'usd minimal' or 'least days'")
    return Requirement(
        text=text,
        goal=goals[0],
        conditions=tuple(conditions),
        at_median=tuple(medians) if chances else (),
        chances=tuple(chances),
    )


def _chance(clause: str, found: re.Match[str]) -> Chance:
    name, sign, bound, asked, per_cent = found.groups()
    known = sorted({*SAMPLED, *OF_STEPS})
    if name not in known:
        raise DescriptionError(f"{clause!r} asks how likely {name} is; of {', '.join(known)} it is known")
    share = float(asked) / (100.0 if per_cent else 1.0)
    return Chance(text=clause, measure=name, sign=sign, bound=bound, asked=share)


def _at_quantile(chance: Chance, share: float) -> Expression:
    """A condition that holds with a probability, as one on a quantile: P(days <= 30) >= 0.9 is days.p90 <= 30."""
    less = chance.sign.startswith("<")
    below = share if less else 1.0 - share
    place = round(100 * below)
    if abs(100 * below - place) > 1e-9 or place not in QUANTILES:
        shares = ", ".join(f"{(p if less else 100 - p) / 100:g}" for p in QUANTILES)
        raise DescriptionError(f"{chance.text!r} asks for a probability that is not reckoned; one of {shares} is")
    return Expression(f"{chance.measure}.p{place} {chance.sign} {chance.bound}")


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
    evaluator = evaluator_of(study.form.canonical(), study.folders, False)
    found = Inversion(study=study, requirement=wanted, best=best, median=median)
    if not isinstance(evaluator, Evaluator) or best.design is None:
        return found
    explained = evaluator.explain(best.design.number)
    return replace(
        found,
        certainties=certainties_of(evaluator, wanted.chances, best, median),
        ranges=tuple(
            figure
            for figure in figure_ranges(evaluator, explained, ("time", wanted.goal.name, *wanted.names))
            if figure.varied
        ),
        bases=explained.bases,
    )


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
