"""Tables and lists of a study's answers, however they are shown: whole on a page, in brief on a terminal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from volvelle.applications.training.evidence import RangeBasis
from volvelle.quantities import BYTES, DOLLARS, numbered, percent, show
from volvelle.report.explore.words import (
    design_words,
    elasticity_sentences,
    field_name,
    layout_words,
    measure_name,
    measures_words,
    policy_words,
    step_sentence,
    value_sentences,
    work_words,
)
from volvelle.report.price_words import price_cells
from volvelle.report.range_words import range_words
from volvelle.report.sheet import Sheet
from volvelle.studies.answers.answers import Answers, Local
from volvelle.studies.answers.best import WHY, Unmet
from volvelle.studies.answers.breakdown import Breakdown
from volvelle.studies.answers.designs import Design, field_text, measure_text
from volvelle.studies.answers.pivot import spread_of
from volvelle.studies.answers.price_range import FigureRange
from volvelle.studies.answers.sensitivity import Sensitivity
from volvelle.studies.design_space.design_study import DesignStudy
from volvelle.studies.design_space.explained import Bases
from volvelle.studies.design_space.measures import SURE

_FEW = 6
_NOTHING = 5e-4
"""Change in % below which there is none."""
Facts = list[tuple[str, str]]
"""Names, and what they have."""


def best_facts(design: Design, study: DesignStudy, taken_apart: Breakdown | None = None) -> Facts:
    """What a design has: its fields, and where it was taken apart its layouts and memory."""
    facts = [(field_name(path), field_text(path, value, study)) for path, value in design.fields.items()]
    if taken_apart is None:
        return facts
    several = len(taken_apart.layouts) > 1
    for name, layout in taken_apart.layouts.items():
        facts.append((f"laid out as, {name}" if several else "laid out as", layout_words(layout)))
    held, most = (show(size, BYTES) for size in (taken_apart.memory, taken_apart.capacity))
    return [*facts, ("memory", f"{held} of {most} on the fullest chip")]


def unmet_lines(unmet: Unmet, study: DesignStudy) -> list[str]:
    """Why no design meets the conditions, and which is nearest."""
    lines = [f"none of {unmet.points:,} points can run"]
    if unmet.runs:
        lines = [f"none of {unmet.runs:,} points that run meets all conditions"]
    lines += [f"{count:,} cannot run ({name}): {_why(name)}" for name, count in unmet.reasons.items()]
    lines += [
        f"{part.text}: {part.failing:,} miss it, {part.alone:,} of them nothing else" for part in unmet.shortfalls
    ]
    if unmet.nearest is not None and unmet.miss is not None:
        near = f"point {unmet.nearest.number:,}, {percent(unmet.miss)} off: {design_words(unmet.nearest, study)}"
        lines += [f"nearest is {near}", f"which gives {measures_words(unmet.nearest, study.measures)}"]
    return lines


def _why(reason: str) -> str:
    return WHY[reason][0] if reason in WHY else reason


@dataclass(frozen=True, slots=True)
class Tables:
    """Tables and lists of the answers of one study."""

    answers: Answers

    @property
    def local(self) -> Local:
        """What the model says around the best design."""
        assert self.answers.local is not None, "asked for where there is some"
        return self.answers.local

    @property
    def sensitivity(self) -> Sensitivity:
        """What more of every resource does at the best design."""
        assert self.local.sensitivity is not None, "asked for where there is one"
        return self.local.sensitivity

    def every_point(self) -> Sheet:
        """All points of a small study, each objective against the machine as it is."""
        study, listed = self.answers.study, self.answers.every_point
        assert listed is not None, "asked for where there are few points"
        goals = [one.name for one in study.objectives]
        rest = [name for name in study.measures if name not in goals]
        others = [name for name in rest if name in SURE] or rest[:2]
        paths = list(listed.points[0].fields) if listed.points else []

        def shown(measures: Mapping[str, float], name: str) -> str:
            return measure_text(name, measures[name]) if name in measures else "–"

        rows = []
        if listed.baseline:
            own = [shown(listed.baseline, name) for name in (*goals, *others)]
            cells = [text for cell in own[: len(goals)] for text in (cell, "")] + own[len(goals) :]
            rows.append([f"{study.form.system} as it is", *("" for _ in paths[1:]), *cells])
        for point in listed.points:
            fields = [field_text(path, point.fields[path], study) for path in paths]
            if point.reason:
                rows.append([*fields, point.reason, *[""] * (2 * len(goals) + len(others) - 1)])
                continue
            cells = []
            for name in goals:
                ratio = listed.change(point, name)
                cells += [shown(point.measures, name), "" if ratio is None else f"{100 * (ratio - 1):+.1f} %"]
            rows.append([*fields, *cells, *(shown(point.measures, name) for name in others)])
        columns = [*(field_name(path) for path in paths)]
        for name in goals:
            columns += [measure_name(name), "change"]
        columns += [measure_name(name) for name in others]
        return Sheet(
            title="Every point, against the machine as it is",
            columns=tuple(columns),
            rows=tuple(map(tuple, rows)),
            numbers=frozenset(columns[len(paths) :]),
        )

    def fallen_out(self) -> Sheet:
        """Points that cannot run, or that fail a constraint."""
        counted = self.answers.census
        rows = [(f"cannot run ({name})", f"{count:,}", _why(name)) for name, count in counted.reasons.items()]
        rows += [(f"run but fail {text}", f"{count:,}", "") for text, count in counted.failing.items()]
        columns = ("points that cannot run", "points", "why")
        return Sheet(title="", columns=columns, rows=tuple(rows), numbers=frozenset({"points"}))

    def facets(self) -> Sheet:
        """The best design for every value of the study's facet."""
        study, facet = self.answers.study, self.answers.study.form.facet or ""
        names = [goal.name for goal in study.objectives]
        paths = [path for axis in study.axes if axis.name != facet for path in axis.columns]
        rows = []
        for value, best in self.answers.facets:
            design, shown = best.design, field_text(facet, value, study)
            if design is None:
                rows.append((shown, "none", *("" for _ in (*names[1:], *paths))))
            else:
                figures = [measure_text(name, design.measures[name]) for name in names]
                rows.append((shown, *figures, *(field_text(path, design.fields[path], study) for path in paths)))
        columns = (field_name(facet), *map(measure_name, names), *map(field_name, paths))
        return Sheet(title="The best for each", columns=columns, rows=tuple(rows))

    def chosen(self) -> set[int]:
        """Points that are recommended: the best, and the balanced one."""
        return {design.number for design in (self.answers.best.design, self.answers.balanced) if design is not None}

    def front_designs(self, most: int) -> list[Design]:
        """About so many designs of the front, evenly along it, those that are recommended among them."""
        designs, chosen = self.answers.front.designs, self.chosen()
        places = set(np.linspace(0, len(designs) - 1, min(most, len(designs))).round().astype(int).tolist())
        return [design for place, design in enumerate(designs) if place in places or design.number in chosen]

    def front(self, designs: Sequence[Design], paths: Sequence[str]) -> Sheet:
        """Designs of the front: objectives, and some fields."""
        front, study = self.answers.front, self.answers.study
        ties = f" {front.ties:,} points equal to one of them are left out." if front.ties else ""
        names = [goal.name for goal in front.objectives]
        columns = ("point", *map(measure_name, names), *map(field_name, paths))
        return Sheet(
            title=f"The front of {', '.join(map(measure_name, names))}: {numbered(len(front), 'design')}",
            columns=columns,
            rows=tuple(
                (
                    f"{design.number:,}",
                    *(measure_text(name, design.measures[name]) for name in names),
                    *(field_text(path, design.fields[path], study) for path in paths),
                )
                for design in designs
            ),
            numbers=frozenset(columns),
            note=f"None of {front.considered:,} points is better than one of these {len(front):,} in one objective "
            f"without being worse in another.{ties}",
        )

    def balanced(self) -> str:
        """The point of the front that is nearest to the best of every objective at once."""
        balanced, best, study = self.answers.balanced, self.answers.best.design, self.answers.study
        if balanced is None:
            return ""
        if best is not None and balanced.number == best.number:
            return "It is also the nearest to the best of every objective at once."
        names = tuple(goal.name for goal in self.answers.front.objectives)
        return (
            f"Nearest to the best of every objective at once is point {balanced.number:,}: "
            f"{measures_words(balanced, names)}; it has {design_words(balanced, study)}."
        )

    def matters_lines(self) -> tuple[list[str], list[str]]:
        """What more of every resource does, and what pays."""
        study, goal = self.answers.study, self.sensitivity.telling(self.answers.study.objectives)
        pays = [
            *value_sentences(self.sensitivity, goal),
            *(step_sentence(step, study) for step in self.local.steps),
        ]
        return elasticity_sentences(self.sensitivity, goal), pays

    def matters(self) -> Sheet:
        """What a hundredth more of every resource does to every objective, and what it costs."""
        goals, study = self.answers.study.objectives, self.answers.study
        by = {(resource.path, resource.goal.name): resource for resource in self.sensitivity.elasticities}
        rows = []
        for resource in self.sensitivity.of(self.sensitivity.telling(goals)):
            changes = [by.get((resource.path, goal.name)) for goal in goals]
            paid = "not priced" if resource.per_million is None else "–"
            if resource.per_million is not None and resource.per_million > 0 and abs(resource.gain or 0.0) >= _NOTHING:
                paid = show(1e6 / resource.per_million, DOLLARS)
            rows.append(
                (
                    field_name(resource.path),
                    field_text(resource.path, self.sensitivity.now[resource.path], study),
                    *("–" if change is None else _percent(change.up) for change in changes),
                    show(resource.price, DOLLARS) if resource.price else "–",
                    paid,
                )
            )
        heads = (f"{measure_name(goal.name)} for 1 % more" for goal in goals)
        columns = ("resource", "now", *heads, "price of 1 % more", "price of a 1 % gain")
        return Sheet(title="", columns=columns, rows=tuple(rows), numbers=frozenset(columns[1:]))

    def step_lines(self) -> list[str]:
        """What a table by resource does not say: steps to other machines, and what cannot be priced."""
        priced = self.sensitivity.priced
        unknown = [] if priced else value_sentences(self.sensitivity, self.answers.study.objectives[0])
        return [*(step_sentence(step, self.answers.study) for step in self.local.steps), *unknown]

    def ranges(self) -> Sheet:
        """Where the measures of the best design lie."""
        return ranges_sheet(self.local.ranges)

    def varied_lines(self) -> list[str]:
        """What was varied, once for all measures that have it in common, and what else is to be said of them."""
        by: dict[tuple[str, ...], list[str]] = {}
        for figure in self.local.ranges:
            by.setdefault(figure.varied, []).append(measure_name(figure.name))
        lines = [f"{', '.join(names)}: {_varied(varied)}" for varied, names in by.items()]
        return [*lines, *(f"{measure_name(found.name)}: {found.note}" for found in self.local.ranges if found.note)]

    def basis_lines(self) -> list[str]:
        """What ranges rest on."""
        return basis_lines(self.local.explained.bases)

    def prices(self) -> Sheet:
        """Every price that money rests on."""
        costs = self.answers.study.form.costs
        return Sheet(
            title="Money rests on",
            columns=("figure", "typical", "low … high", "date", "evidence", "source"),
            rows=tuple(
                (
                    *price_cells(price.name, price.figure),
                    price.figure.evidence.word,
                    f"{price.reference.authors} ({price.reference.year}), {price.reference.title}"
                    if price.reference is not None
                    else price.figure.source,
                )
                for price in self.local.assumptions
            ),
            numbers=frozenset({"typical"}),
            note=f"Cost model {costs.model}; life {costs.life}, used {costs.use} of it; energy at "
            f"{costs.energy_price}; chips at {costs.load} of rated power.",
        )


def ranges_sheet(ranges: Sequence[FigureRange]) -> Sheet:
    """Where measures of the best design lie."""
    rows: list[tuple[str, ...]] = []
    for figure in ranges:
        shown = (measure_text(figure.name, value) for value in (figure.value, figure.low, figure.high))
        rows.append((measure_name(figure.name), *shown))
    level = f"{100 * ranges[0].level:.0f} %" if ranges else ""
    return Sheet(
        title="How sure",
        columns=("of the best design", "value", "low", "high"),
        rows=tuple(rows),
        numbers=frozenset({"value", "low", "high"}),
        note=f"Time: {level} of sampled inputs end inside. Prices: all at their low or all at their high end at once.",
    )


def basis_lines(bases: Bases) -> list[str]:
    """What ranges rest on, once for all workloads that have it in common."""
    by: dict[str, list[str]] = {}
    for name, basis in bases:
        if isinstance(basis, RangeBasis):
            words = range_words(basis, "numbers of the machine")
        else:
            words = f"{basis.words[0].upper()}{basis.words[1:]}."
        by.setdefault(words, []).append(name)
    return [words if len(by) == 1 else f"{', '.join(names)}: {words}" for words, names in by.items()]


def _percent(value: float | None) -> str:
    if value is None:
        return "cannot run"
    return "0 %" if abs(value) < _NOTHING else f"{value:+.2g} %"


def _varied(names: tuple[str, ...]) -> str:
    """What was varied, by owner: ``nvlink3 (latency, setup), the model …``."""
    owners: dict[str, list[str]] = {}
    for name in names:
        owner, _, what = name.partition(": ")
        owners.setdefault(owner, []).extend([what] if what else [])
    return ", ".join(f"{owner} ({', '.join(parts)})" if parts else owner for owner, parts in owners.items())


def setting(study: DesignStudy) -> Facts:
    """What a study asks, but for its axes."""
    form = study.form
    choices = ", ".join(f"{name} {value}" for name, value in form.mapping.choices.items())
    rows = [
        *(("workload", work_words(work, form)) for work in form.workloads),
        ("system", form.system),
        ("layout", policy_words(study) + (f" ({choices})" if choices else "")),
        ("objectives", ", ".join(str(goal) for goal in study.objectives)),
    ]
    rows += [("constraints", ", ".join(form.constraints))] if form.constraints else []
    return [*rows, *((f"set {path}", str(text)) for path, text in form.set.items())]


def axis_sheet(study: DesignStudy, answers: Answers | None = None) -> Sheet:
    """What varies, and once there are answers how much it matters."""
    profiles = answers.profiles if answers is not None else ()
    spreads: Mapping[str, float] = {profile.path: spread_of(profile) for profile in profiles}
    rows: list[tuple[str, ...]] = []
    for axis in study.axes:
        for place, (path, values) in enumerate(axis.columns.items()):
            words = [field_text(path, value, study) for value in values]
            span = ", ".join(words) if len(words) <= _FEW else f"{words[0]}, {words[1]} … {words[-1]}"
            worth = f"+{100 * spreads[path]:.3g} %" if path in spreads and place == 0 else ""
            name, count = (path, str(len(axis))) if place == 0 else (f"{path} (with the above)", "")
            rows.append((name, count, span, *((worth,) if profiles else ())))
    matter = f"{measure_name(answers.best.goal.name)}: worst over best value" if answers is not None else ""
    return Sheet(
        title="What varies",
        columns=("axis", "values", "from … to", *((matter,) if profiles else ())),
        rows=tuple(rows),
        numbers=frozenset({"values", matter}),
    )
