"""Pictures of a study's answers: the front, the tornado, the heat map, where time goes, the break-even line."""

import math
from itertools import product

import numpy as np
from numpy.typing import NDArray

from volvelle.quantities import Quantity
from volvelle.report.explore.words import design_words, field_name, measure_name, measures_words
from volvelle.report.figures.axes import Measure
from volvelle.report.figures.bars import Bar, BarGroup, BarPanel, Slot, bar_chart
from volvelle.report.figures.break_even import break_even_chart
from volvelle.report.figures.engine import Chart
from volvelle.report.figures.front import FrontPoint, front_chart
from volvelle.report.figures.heat_map import Cell, HeatPanel, heat_map
from volvelle.report.figures.theme import GREEN, GREY, LEAF, LILAC, NAVY, ORANGE, RUST, SKY, VIOLET, WIDE
from volvelle.report.figures.tornado import TornadoBar, tornado_chart
from volvelle.studies.answers.answers import Answers
from volvelle.studies.answers.designs import field_text, measure_text
from volvelle.studies.answers.grids import FacetGrid
from volvelle.studies.answers.sensitivity import Swing
from volvelle.studies.design_space.axes import Axis, Value
from volvelle.studies.design_space.design_study import DesignStudy
from volvelle.studies.design_space.measures import Objective

_PARTS = 8
_COLOURS = (NAVY, SKY, RUST, ORANGE, GREEN, LEAF, VIOLET, LILAC)


def front_picture(answers: Answers, *, width: float = WIDE) -> Chart | None:
    """The front over the first two objectives; None: there is one, or no point."""
    front, study = answers.front, answers.study
    if len(front.objectives) < 2 or not len(front):
        return None
    y, x = front.objectives[0], front.objectives[1]
    path = answers.told_apart
    kinds = [_kind(path, value, study) for value in answers.cloud_values] or [""] * len(answers.cloud)
    cloud = [
        FrontPoint(x=float(row[1]), y=float(row[0]), kind=kind, tells=_beside(row, kind, x, y))
        for row, kind in zip(answers.cloud, kinds, strict=True)
    ]
    on_front = {(design.measures[x.name], design.measures[y.name]) for design in front.designs}
    cloud = [point for point in cloud if (point.x, point.y) not in on_front]
    points = [
        FrontPoint(
            x=design.measures[x.name],
            y=design.measures[y.name],
            kind="" if path is None else _kind(path, design.fields[path], study),
            tells=f"point {design.number:,}: {design_words(design, study)}; {measures_words(design, (y.name, x.name))}",
        )
        for design in front.designs
    ]
    seen = [(point.x, point.y) for point in (*cloud, *points)]
    across, up = (
        Measure.over(values, name=measure_name(one.name), kind=study.kind_of(one.name), margin=0.07)
        for one, values in zip((x, y), zip(*seen, strict=True), strict=True)
    )
    best, balanced = answers.best.design, answers.balanced
    same = best is not None and balanced is not None and best.number == balanced.number
    marked = [(best, "best and balanced" if same else "best"), (None if same else balanced, "balanced")]
    beside = answers.census.met - len(front)
    some = f" ({len(cloud):,} of {beside:,})" if len(cloud) < beside else ""
    return front_chart(
        cloud,
        points,
        [(one.measures[x.name], one.measures[y.name], label) for one, label in marked if one is not None],
        across=across,
        up=up,
        less=(x.less, y.less),
        title=f"{len(front):,} designs that nothing beats in both" if len(front.objectives) == 2 else "The front",
        about=f"Pareto front of {measure_name(y.name)} against {measure_name(x.name)}: {len(front)} points.",
        stair=len(front.objectives) == 2,
        others=f"other points{some}",
        kinds=_kinds(path, study),
        kinds_are="" if path is None else field_name(path),
        width=width,
    )


def _kinds(path: str | None, study: DesignStudy) -> list[str]:
    """What an axis has, in its order."""
    if path is None:
        return []
    values = next(axis.columns[path] for axis in study.axes if path in axis.columns)
    return [_kind(path, value, study) for value in values]


def _kind(path: str | None, value: Value, study: DesignStudy) -> str:
    """What tells a point from others."""
    return "" if path is None else field_text(path, value, study)


def _beside(row: NDArray[np.float64], kind: str, x: Objective, y: Objective) -> str:
    figures = (measure_text(goal.name, float(value)) for goal, value in ((y, row[0]), (x, row[1])))
    return ", ".join([*([kind] if kind else []), *figures])


def tornado_picture(answers: Answers, *, width: float = WIDE) -> Chart | None:
    """Swings of the first objective around the best design."""
    if answers.local is None or not answers.local.swings:
        return None
    swings, study = answers.local.swings, answers.study
    goal, at = swings[0].goal, swings[0].at
    return tornado_chart(
        [_bar(swing, study) for swing in swings],
        at=at,
        at_text=f"best design: {measure_text(goal.name, at)}",
        name=measure_name(goal.name),
        kind=study.kind_of(goal.name),
        less=goal.less,
        title="Each axis alone, from end to end",
        about=f"How far {measure_name(goal.name)} moves when one axis goes from its lowest to its highest value.",
        width=width,
    )


def _bar(swing: Swing, study: DesignStudy) -> TornadoBar:
    known = [
        (value, where, met)
        for value, where, met in zip(swing.found, swing.values, swing.met, strict=True)
        if value is not None
    ]
    known.append((swing.at, swing.chosen, True))
    low, high = min(known, key=lambda one: one[0]), max(known, key=lambda one: one[0])
    kept = [value for value, _, met in known if met]
    stopped = [where for value, where in zip(swing.found, swing.values, strict=True) if value is None]
    note = f"cannot run at {field_text(swing.path, stopped[0], study)}" if stopped else ""
    return TornadoBar(
        name=field_name(swing.path),
        low=low[0],
        high=high[0],
        low_text=field_text(swing.path, low[1], study),
        high_text=field_text(swing.path, high[1], study),
        kept=(min(kept), max(kept)),
        note=note + (f" and {len(stopped) - 1} more" if len(stopped) > 1 else ""),
    )


def heat_picture(answers: Answers, *, width: float = WIDE) -> Chart | None:
    """The best that two axes allow."""
    heat, study = answers.heat, answers.study
    if heat is None:
        return None
    kind = study.kind_of(heat.goal.name)
    scale = _scale(heat.best, kind)
    cells = tuple(
        tuple(
            _cell(heat.goal, float(value), scale.unit[1], points=int(heat.met[down, across]))
            for across, value in enumerate(row)
        )
        for down, row in enumerate(heat.best)
    )
    (across, columns), (down, rows) = (
        _labels(path, parts, study) for path, parts in ((heat.across, heat.columns), (heat.down, heat.rows))
    )
    unit = f", {scale.unit[0]}" if kind else ""
    return heat_map(
        [HeatPanel(title="", cells=cells)],
        title=f"{'Least' if heat.goal.less else 'Most'} {measure_name(heat.goal.name)}{unit} over two axes",
        about="The best value of the objective for every pair of values of two axes, over all other axes.",
        rows=rows,
        groups=[""],
        columns=columns,
        x_title=across,
        y_title=down,
        note="The stronger a colour, the better; –: no point meets the constraints.",
        width=width,
    )


_NAMED = 16
"""Columns of a map that have room for names of more letters than the next."""
_LETTERS = 8


def grid_picture(grid: FacetGrid, answers: Answers, *, width: float = WIDE) -> Chart:
    """Every point that has one value of the study's facet."""
    study = answers.study
    names = {axis.name: _labels(*_one_by_one(axis), study)[1] for axis in study.axes}
    within = list(product(*(names[axis.name] for axis in grid.within)))
    panels = []
    for goal, values in grid.panels:
        word, size = _unit(values, study.kind_of(goal.name))
        unit = f", {word}" if word else ""
        cells = tuple(tuple(_cell(goal, float(value), size) for value in row) for row in values)
        panels.append(HeatPanel(title=f"{measure_name(goal.name)}{unit}", cells=cells))
    facet = field_name(study.form.facet or "")
    groups = names[grid.groups.name] if grid.groups else [""]
    columns = ["\n".join(words) for words in within]
    note = "The stronger a colour, the better; –: the point cannot run or does not meet the constraints."
    across = [axis for axis in (grid.groups, *grid.within) if axis is not None]
    if any(_is_bare(axis, study) for axis in (*grid.down, *across)):  # plain numbers do not say what they are of
        down, over = (", then ".join(field_name(axis.name) for axis in some) for some in (grid.down, across))
        note += f" Cells: {panels[0].title}." if len(panels) == 1 else ""
        note += f" Down: {down}{f'; across: {over}' if over else ''}."
    if len(groups) * len(columns) > _NAMED and max(len(word) for words in within for word in words) > _LETTERS:
        note += " " + "; ".join(f"{place}: {', '.join(words)}" for place, words in enumerate(within, start=1)) + "."
        columns = [str(place) for place in range(1, len(columns) + 1)]
    return heat_map(
        panels,
        title=f"{facet} {field_text(study.form.facet or '', grid.value, study)}",
        about="Every objective at every point of the study that has this value of its facet.",
        rows=[", ".join(words) for words in product(*(names[axis.name] for axis in grid.down))],
        groups=groups,
        columns=columns,
        note=note,
        width=width,
    )


def _is_bare(axis: Axis, study: DesignStudy) -> bool:
    """Whether an axis has plain numbers, without a unit."""
    ((path, values), *_) = axis.columns.items()
    return study.kind_of(path) is None and all(isinstance(value, int | float) for value in values)


def _unit(values: NDArray[np.float64], kind: Quantity | None) -> tuple[str, float]:
    """The unit that all cells are written in; for large plain numbers a power of a thousand."""
    if kind is not None:
        return _scale(values, kind).unit
    largest = float(np.nanmax(np.abs(values), initial=0.0))
    for power, word in ((12, "T"), (9, "G"), (6, "M")):
        if largest >= 10.0**power:
            return word, 10.0**power
    return "", 1.0


def _one_by_one(axis: Axis) -> tuple[str, tuple[tuple[Value, ...], ...]]:
    """An axis' first field, and its values one at a time."""
    path, values = next(iter(axis.columns.items()))
    return path, tuple((value,) for value in values)


def _scale(values: NDArray[np.float64], kind: Quantity | None) -> Measure:
    """For the unit that all cells are written in."""
    return Measure(name="", kind=kind, low=float(np.nanmin(values)), high=float(np.nanmax(values)))


def _cell(goal: Objective, value: float, size: float, *, points: int | None = None) -> Cell:
    """A value in a unit of some size; deep is good, whichever way the objective goes."""
    if math.isnan(value):
        return Cell(value=math.nan, text="–", title="" if points is None else "no point meets the constraints")
    deep = 1.0 / value if goal.less and value > 0 else value
    title = "" if points is None else f"{measure_text(goal.name, value)}, {points:,} points"
    return Cell(value=deep, text=_short(value / size), title=title)


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:#.3g}".rstrip(".")


def _labels(path: str, parts: tuple[tuple[Value, ...], ...], study: DesignStudy) -> tuple[str, list[str]]:
    """Name of an axis with its unit, and its values in that; of several taken together the first, and a sign of it."""
    kind = study.kind_of(path)
    if kind is None:
        return field_name(path), [_first(field_text(path, part[0], study), part) for part in parts]
    values = [float(value) for part in parts for value in part]
    axis = Measure(name=field_name(path), kind=kind, low=min(values), high=max(values))
    return axis.title, [_first(_short(float(part[0]) / axis.unit[1]), part) for part in parts]


def _first(text: str, part: tuple[Value, ...]) -> str:
    return text + ("…" if len(part) > 1 else "")


def time_picture(answers: Answers, *, width: float = WIDE) -> Chart | None:
    """Where the time of the best and of other designs of the front goes."""
    found = answers.breakdowns
    if not found:
        return None
    totals: dict[str, float] = {}
    for one in found:
        for name, value in one.parts.items():
            totals[name] = totals.get(name, 0.0) + value / one.time
    kept = sorted(totals, key=lambda name: -totals[name])[:_PARTS]
    colours = dict(zip(kept, _COLOURS, strict=False))
    if len(totals) > len(kept):
        colours["all else"] = GREY
    names = tuple(one.name for one in answers.study.objectives)[:2]
    slots = []
    for one in found:
        parts = [(name, one.parts.get(name, 0.0)) for name in kept]
        rest = sum(value for name, value in one.parts.items() if name not in kept)
        parts += [("all else", rest)] if "all else" in colours else []
        said = [measure_text(name, one.design.measures[name]) for name in names]
        label = "\n".join([one.label, *said])
        slots.append(Slot(label=label, bars=(Bar(parts=tuple(parts), title=measures_words(one.design, names)),)))
    return bar_chart(
        [BarPanel(title="", groups=(BarGroup(label="", slots=tuple(slots)),), y_title="seconds per step")],
        title="Where the time goes, along the front",
        about="Exposed seconds of a step by part, for the best design and others of the front.",
        colours=colours,
        width=width,
    )


def break_even_picture(answers: Answers, *, width: float = WIDE) -> Chart | None:
    """The break-even line; None: there is none."""
    line = answers.local.break_even if answers.local is not None else None
    if line is None or len(line.crossings) < 2:
        return None
    study = answers.study
    across, up = (
        Measure.over(span, name=field_name(path), kind=study.kind_of(path), margin=0.03)
        for span, path in ((line.x_span, line.x), (line.y_span, line.y))
    )
    worth = measure_text(line.goal.name, line.reference)
    return break_even_chart(
        [
            (one.x, one.y, f"{field_text(line.x, one.x, study)} and {field_text(line.y, one.y, study)}")
            for one in line.crossings
        ],
        across=across,
        up=up,
        chosen=(float(line.design.fields[line.x]), float(line.design.fields[line.y])),
        better_above=line.better_above,
        title=f"Break-even: {measure_name(line.goal.name)} as of {line.said}",
        said=f"on the line it is {worth}; all else as in the best design",
        about=f"Pairs of {field_name(line.x)} and {field_name(line.y)} at which the objective is {worth}.",
        width=width,
    )
