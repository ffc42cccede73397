"""Everything that the results of a study answer, gathered for a report; a few seconds, whatever the study's size."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from volvelle.errors import OutsideDomainError
from volvelle.presentable import Presentable
from volvelle.studies.answers.best import Best, best_by_facet, best_design
from volvelle.studies.answers.break_even import BreakEven, break_even, plane_axes
from volvelle.studies.answers.breakdown import Breakdown, breakdown
from volvelle.studies.answers.census import Census, census
from volvelle.studies.answers.designs import Design, fetch, field_text, quoted, where
from volvelle.studies.answers.every_point import EveryPoint, every_point
from volvelle.studies.answers.grids import FacetGrid, facet_grids
from volvelle.studies.answers.pareto import Front, pareto_front
from volvelle.studies.answers.pivot import Pivot, Profile, pivot, profile, spread_of
from volvelle.studies.answers.price_range import Assumption, FigureRange, assumptions, figure_ranges, needs_prices
from volvelle.studies.answers.sensitivity import Sensitivity, Step, Swing, sensitivity, steps, tornado
from volvelle.studies.design_space.axes import Value
from volvelle.studies.design_space.design_study import DesignStudy
from volvelle.studies.design_space.evaluate import Evaluator
from volvelle.studies.design_space.explained import Explained
from volvelle.studies.design_space.measures import MEASURES
from volvelle.studies.sweep.chunk import evaluator_of
from volvelle.studies.sweep.manifest import Results
from volvelle.studies.sweep.query import Query

_CLOUD = 1_500
"""Points beside the front that a picture shows."""
_KINDS = 7
"""Values of a field at most by which a picture tells points apart."""
_BARS = 6
"""Designs whose time is taken apart."""
_PRICED = 3_000_000
"""Layouts that a break-even line may price."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Local:
    """What the model says around the chosen design."""

    explained: Explained
    ranges: tuple[FigureRange, ...]
    assumptions: tuple[Assumption, ...]
    sensitivity: Sensitivity | None = None
    """None: each point takes a search for its mapping, which what lies around a design would take many of; neither are
    there steps, swings and a break-even line then."""
    steps: tuple[Step, ...] = ()
    swings: tuple[Swing, ...] = ()
    break_even: BreakEven | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Answers(Presentable):
    """What a report shows."""

    study: DesignStudy
    results: Results
    """The folder they were asked of; every point is there."""
    census: Census
    best: Best
    facets: tuple[tuple[Value, Best], ...]
    """The best for every value of the study's facet; empty: it has none."""
    front: Front
    cloud: NDArray[np.float64]
    """Objectives of some points that run and meet the constraints, one column each."""
    told_apart: str | None
    """The field by whose few values a picture tells points apart; None: none has few."""
    cloud_values: tuple[Value, ...]
    """What the points of the cloud have there."""
    balanced: Design | None
    """The point of the front nearest to the best of every objective at once; None: there is one objective."""
    breakdowns: tuple[Breakdown, ...]
    """The best design first, then others along the front."""
    profiles: tuple[Profile, ...]
    """Every axis, the one that matters most first."""
    heat: Pivot | None
    grids: tuple[FacetGrid, ...]
    """Every point, one map for each value of the facet; empty: there is none, or it is too large to show."""
    local: Local | None
    """None: no point meets the constraints, or the points are others' and there is no model to ask."""
    every_point: EveryPoint | None
    """All points against the machine as it is; None: they are too many to read."""
    seconds: float | None
    """What the sweep took, if it is known."""

    def points(self) -> list[dict[str, Value | None]]:
        """Every point of the study as it was written: fields, measures, layout; read from its folder again."""
        with Query(self.results) as query:
            return query.rows("SELECT * FROM points ORDER BY point")

    @property
    def taken_apart(self) -> Breakdown | None:
        """Where the time of the best design goes; None: there is none, or it is not known."""
        best = self.best.design
        return next((one for one in self.breakdowns if best is not None and one.design.number == best.number), None)


def answer(results: Results, study: DesignStudy, *, seconds: float | None = None, compiled: bool = False) -> Answers:
    """Ask the results everything a report shows; `seconds` is what the sweep took."""
    evaluator = evaluator_of(study.form.canonical(), study.folders, compiled)
    with Query(results) as query:
        counted = census(query, study)
        best = best_design(query, study)
        facets = best_by_facet(query, study)
        front = pareto_front(query, study)
        found = [profile(query, study, axis) for axis in study.axes if len(axis) > 1]
        profiles = tuple(sorted(found, key=lambda one: -spread_of(one)))
        heat = None
        if len(profiles) > 1 and counted.met:
            axes = {axis.name: axis for axis in study.axes}
            across, down = sorted((axes[one.axis] for one in profiles[:2]), key=len, reverse=True)
            heat = pivot(query, study, down, across)
        grids = facet_grids(query, study)
        balanced = _balanced(query, study, front)
        told_apart = _told_apart(study)
        cloud, cloud_values = _cloud(query, study, counted.met, told_apart)
        listed = every_point(query, study, evaluator)
    return Answers(
        study=study,
        results=results,
        census=counted,
        best=best,
        facets=facets,
        front=front,
        cloud=cloud,
        told_apart=told_apart,
        cloud_values=cloud_values,
        balanced=balanced,
        breakdowns=_breakdowns(evaluator, best.design, balanced, front) if isinstance(evaluator, Evaluator) else (),
        profiles=profiles,
        heat=heat,
        grids=grids,
        local=_around(evaluator, best.design) if best.design and isinstance(evaluator, Evaluator) else None,
        every_point=listed,
        seconds=seconds,
    )


def _told_apart(study: DesignStudy) -> str | None:
    """An axis of names before the facet, and that before one of few numbers."""
    few = [axis for axis in study.axes if 1 < len(axis) <= _KINDS]
    named = [axis for axis in few if isinstance(next(iter(axis.columns.values()))[0], str)]
    facet = [axis for axis in few if axis.name == study.form.facet]
    return next((next(iter(axis.columns)) for axis in (*named, *facet, *few)), None)


def _cloud(
    query: Query, study: DesignStudy, met: int, told_apart: str | None
) -> tuple[NDArray[np.float64], tuple[Value, ...]]:
    """Every so-manieth point by a hash of its number: the same ones every time, from all over."""
    names = [quoted(one.name) for one in study.objectives]
    every = max(1, met // _CLOUD)
    columns = ", ".join(f"{name} AS __{place}" for place, name in enumerate(names))
    columns += f", {quoted(told_apart)} AS __kind" if told_apart else ""
    some = f"{where(study.constraints)} AND hash(point) % {every} = 0"
    found = query.columns(f"SELECT {columns} FROM points WHERE {some} LIMIT {2 * _CLOUD}")
    kinds = np.asarray(found["__kind"]).tolist() if told_apart else []
    return np.column_stack([np.asarray(found[f"__{place}"], dtype=float) for place in range(len(names))]), tuple(kinds)


def _balanced(query: Query, study: DesignStudy, front: Front) -> Design | None:
    if len(front.objectives) < 2 or not len(front):
        return None
    # Measures differ by orders of magnitude, so what counts is the factor from the best.
    values = np.log(front.values) if (front.values > 0).all() else front.values
    signs = np.array([1.0 if one.less else -1.0 for one in front.objectives])
    lost = values * signs - (values * signs).min(axis=0)
    span = np.where(lost.max(axis=0) > 0, lost.max(axis=0), 1.0)
    place = int(np.argmin(((lost / span) ** 2).sum(axis=1)))
    return fetch(query, study, [int(front.numbers[place])])[0]


def _breakdowns(
    evaluator: Evaluator, best: Design | None, balanced: Design | None, front: Front
) -> tuple[Breakdown, ...]:
    if best is None:
        return ()
    chosen: dict[int, tuple[str, Design]] = {best.number: ("best", best)}
    if balanced is not None:
        chosen.setdefault(balanced.number, ("balanced", balanced))
    others = front.designs
    most = len(chosen) if evaluator.study.maps else _BARS  # to take a mapping apart is to search for it again
    for place in np.unique(np.linspace(0, len(others) - 1, _BARS).round().astype(int)) if others else ():
        design = others[int(place)]
        if len(chosen) < most:
            chosen.setdefault(design.number, (f"point {design.number:,}", design))
    first = front.objectives[0]
    ordered = sorted(chosen.values(), key=lambda one: one[1].measures[first.name] * (1.0 if first.less else -1.0))
    found = [breakdown(evaluator, design, label=label) for label, design in ordered]
    return tuple(one for one in found if one is not None)


def _around(evaluator: Evaluator, design: Design) -> Local:
    study = evaluator.study
    explained = evaluator.explain(design.number)
    limited = (name for limit in study.constraints for name in sorted(limit.names) if name in MEASURES)
    names = ["time", *(one.name for one in study.objectives), *limited]
    money = any(needs_prices(name) for name in study.measures)
    sure = Local(
        explained=explained,
        ranges=figure_ranges(evaluator, explained, names),
        assumptions=assumptions(evaluator, explained) if money else (),
    )
    if study.maps:
        return sure
    before = evaluator.evaluated
    found = sensitivity(evaluator, design)
    rows = 1 + 2 * len({one.path for one in found.elasticities})
    layouts = max(1.0, (evaluator.evaluated - before) / rows)
    swings = tornado(evaluator, design)
    return replace(
        sure,
        sensitivity=found,
        steps=steps(evaluator, design, found.telling(study.objectives)),
        swings=swings,
        break_even=_line(evaluator, design, swings, layouts),
    )


def _line(evaluator: Evaluator, design: Design, swings: tuple[Swing, ...], layouts: float) -> BreakEven | None:
    """Over the two numbers that matter most: as good as the base machine, or as one in the middle of the plane."""
    axes = {axis.name: axis for axis in plane_axes(evaluator)}
    names = [swing.path for swing in swings if swing.path in axes][:2]
    points = int(min(15.0, (_PRICED / layouts) ** 0.5 / 2.0))
    planned = any(form.train is None for form in evaluator.study.form.workloads)
    if len(names) < 2 or points < 3 or planned:  # what is planned point by point is too slow to bisect
        return None
    values = {name: [float(value) for value in axes[name].columns[name]] for name in names}
    middle = {name: (min(found) * max(found)) ** 0.5 for name, found in values.items()}
    goal = evaluator.study.objectives[0]
    said = " and ".join(f"{field_text(name, value, evaluator.study)}" for name, value in middle.items())
    lines = list[BreakEven]()
    try:
        for where_from, words in (
            (evaluator.near(None, {}), f"{evaluator.study.form.system} as it is"),
            (evaluator.near(design.number, dict(middle)), f"the same machine with {said}"),
        ):
            if where_from.feasible[0]:
                target = float(where_from.columns[goal.name][0])
                found = break_even(evaluator, design, names[0], names[1], reference=target, said=words, points=points)
                if len(found.crossings) >= points:
                    return found
                lines.append(found)
        return max(lines, key=lambda line: len(line.crossings), default=None)
    except OutsideDomainError:
        return None
