"""The best design by one measure under conditions; or, where none meets them, why, and what would help."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from volvelle.quantities import SECONDS, percent
from volvelle.studies.answers.census import census
from volvelle.studies.answers.designs import Design, designs_of, field_text, measure_text, quoted, where
from volvelle.studies.design_space.axes import Value
from volvelle.studies.design_space.design_study import DesignStudy
from volvelle.studies.design_space.expressions import Expression
from volvelle.studies.design_space.measures import MEASURES, Objective
from volvelle.studies.sweep.query import Query

WHY: Mapping[str, tuple[str, str]] = {
    "chips": ("the layout asks for other than the chips there are", "let replicas take what is left: give no data:"),
    "batch": ("the batch does not divide among replicas and micro-batches", "take batches and counts that divide"),
    "tensor split": ("a dimension of the model does not divide among the chips", "take degrees that divide heads"),
    "stages": ("there are more stages than layers to put on them", "take fewer pipeline stages"),
    "interleaving": ("stages cannot be cut into so many pieces", "take interleave: 1, or one that divides the layers"),
    "context": ("a sequence does not divide among so many chips", "take a lower context degree"),
    "experts": ("experts do not divide among so many chips", "take an expert degree that divides them"),
    "schedule": ("the schedule does not go with the rest of the layout", "take schedule: 1f1b"),
    "host memory": ("the hosts do not hold what is put there", "off-load less"),
    "memory": (
        "the fullest chip does not hold its share",
        "more chip.memory.capacity, more accelerators, or a lighter mapping (zero, recompute, more stages)",
    ),
    "layout": ("no layout of the space divides its batch and chips", "widen the choices under mapping:"),
}
"""Why a point cannot run, and what would help; for the reasons that need words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortfall:
    """A condition, and how far points are from meeting it."""

    text: str
    failing: int
    """Points that run but do not meet it."""
    alone: int
    """Those among them that meet every other condition."""
    reached: float | None
    """The nearest that a point comes to it which runs and meets every other condition; None: there is no such point."""
    limit: float | None
    """What the condition asks for, at that point."""
    name: str
    """What is compared, where that is one column; else the condition."""

    @property
    def by(self) -> float | None:
        """How far off that is, as a share of the limit."""
        if self.reached is None or not self.limit:
            return None
        return abs(self.reached - self.limit) / abs(self.limit)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unmet:
    """Why there is no answer."""

    points: int
    runs: int
    reasons: Mapping[str, int]
    """Points that cannot run, by reason."""
    shortfalls: tuple[Shortfall, ...]
    nearest: Design | None
    """The point whose farthest condition is nearest."""
    miss: float | None
    """How far that one is, as a share of its limit."""
    cures: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Best:
    """The best design, or why there is none."""

    goal: Objective
    conditions: tuple[str, ...]
    design: Design | None
    considered: int
    """Points that run and meet the conditions."""
    ties: int
    """Points as good as it, besides it."""
    unmet: Unmet | None = None


def best_design(
    query: Query, study: DesignStudy, *, goal: Objective | None = None, conditions: Sequence[Expression] | None = None
) -> Best:
    """The best by the study's first objective under its constraints, or by another measure under others.

    Equals are told apart by the study's objectives, then by the lower number.
    """
    goal = study.objectives[0] if goal is None else goal
    given = tuple(study.constraints if conditions is None else conditions)
    met = f"{where(given)} AND isfinite({quoted(goal.name)})"
    way = "min" if goal.less else "max"
    column = quoted(goal.name)
    best = f"(SELECT {way}({column}) FROM points WHERE {met})"
    (counted,) = query.rows(
        f"SELECT count(*) AS met, count(*) FILTER (WHERE {column} = {best}) AS best FROM points WHERE {met}"
    )
    texts = tuple(expression.text for expression in given)
    if not counted["met"]:
        unmet = _why_none(query, study, goal, given)
        return Best(goal=goal, conditions=texts, design=None, considered=0, ties=0, unmet=unmet)
    order = ", ".join([*(f"{quoted(one.name)} {'ASC' if one.less else 'DESC'}" for one in study.objectives), "point"])
    (row,) = query.rows(f"SELECT * FROM points WHERE {met} AND {column} = {best} ORDER BY {order} LIMIT 1")
    (design,) = designs_of([row], study)
    return Best(
        goal=goal, conditions=texts, design=design, considered=int(counted["met"]), ties=int(counted["best"]) - 1
    )


def best_by_facet(query: Query, study: DesignStudy) -> tuple[tuple[Value, Best], ...]:
    """The best for every value of the axis that the study wants answered value by value; none: it wants no such."""
    if study.form.facet is None:
        return ()
    axis = next(axis for axis in study.axes if axis.name == study.form.facet)
    path, values = next(iter(axis.columns.items()))
    here = [Expression(f"{path} == {value!r}") for value in values]  # words are quoted by repr, numbers plain
    return tuple(
        (value, best_design(query, study, conditions=(*study.constraints, only)))
        for value, only in zip(values, here, strict=True)
    )


def _why_none(query: Query, study: DesignStudy, goal: Objective, given: Sequence[Expression]) -> Unmet:
    counted = census(query, study)
    reasons, runs = counted.reasons, counted.runs
    parts = [part for expression in given for part in expression.conjuncts()]
    shortfalls = tuple(_shortfall(query, parts, place) for place in range(len(parts))) if runs else ()
    nearest, miss = None, None
    if runs and parts:
        far = f"greatest({', '.join([*(_miss(part) for part in parts), '0.0'])})"
        order = f"{far}, {quoted(goal.name)} {'ASC' if goal.less else 'DESC'}, point"
        (row,) = query.rows(f"SELECT *, {far} AS __far FROM points WHERE feasible ORDER BY {order} LIMIT 1")
        miss = float(row.pop("__far"))
        (nearest,) = designs_of([row], study)
    return Unmet(
        points=counted.points,
        runs=runs,
        reasons=reasons,
        shortfalls=shortfalls,
        nearest=nearest,
        miss=miss,
        cures=(*_cures(reasons, runs, shortfalls), *_longer_axes(nearest, study)),
    )


def _miss(part: Expression) -> str:
    """How far a row is from meeting a condition, as SQL: a share of the limit; 0 where it meets it."""
    sides = part.sides()
    if sides is None or sides[1] == "=":
        return f"(CASE WHEN {part.sql()} THEN 0.0 ELSE 1.0 END)"
    left, _, right = sides
    return f"(CASE WHEN {part.sql()} THEN 0.0 ELSE abs({left} - {right}) / greatest(abs({right}), 1e-300) END)"


def _shortfall(query: Query, parts: Sequence[Expression], place: int) -> Shortfall:
    part = parts[place]
    others = where([other for at, other in enumerate(parts) if at != place])
    (row,) = query.rows(
        f"SELECT count(*) AS failing, count(*) FILTER (WHERE {others}) AS alone FROM points "
        f"WHERE feasible AND NOT {part.sql()}"
    )
    sides, reached, limit = part.sides(), None, None
    if sides is not None and sides[1] != "=" and row["alone"]:
        left, _, right = sides
        ordered = f"WHERE {others} ORDER BY {_miss(part)}, point LIMIT 1"
        (near,) = query.rows(f"SELECT {left} AS reached, {right} AS limits FROM points {ordered}")
        reached, limit = float(near["reached"]), float(near["limits"])
    names = sorted(part.names)
    return Shortfall(
        text=part.text,
        failing=int(row["failing"]),
        alone=int(row["alone"]),
        reached=reached,
        limit=limit,
        name=names[0] if len(names) == 1 else part.text,
    )


def _cures(reasons: Mapping[str, int], runs: int, shortfalls: Sequence[Shortfall]) -> list[str]:
    if not runs:
        return [f"{name}: {WHY[name][1]}" for name in reasons if name in WHY]
    found = []
    for one in sorted(shortfalls, key=lambda one: one.by if one.by is not None else float("inf")):
        if one.reached is not None and one.by is not None:
            shown = measure_text(one.name, one.reached) if one.name in MEASURES else f"{one.reached:.4g}"
            found.append(f"{one.text}: relaxed by {percent(one.by)}, to {shown}, all else can be met")
    return found or ["no single condition is at fault: relax two of them, or widen the axes"]


def _longer_axes(nearest: Design | None, study: DesignStudy) -> list[str]:
    """Axes on whose end the nearest point lies: the answer may be beyond."""
    if nearest is None:
        return []
    found = []
    for axis in study.axes:
        for path, values in axis.columns.items():
            if study.kind_of(path) is None or len(axis) == 1 or isinstance(values[0], str):
                continue
            sooner = study.kind_of(path) is SECONDS
            end = (min if sooner else max)(float(value) for value in values)
            if float(nearest.fields[path]) == end:
                shown = field_text(path, end, study)
                most = "least" if sooner else "most"
                found.append(f"the nearest point has the {most} {path}, {shown}: extend that axis")
    return found
