"""What matters at a chosen design: elasticities by the model itself, what a dollar of each resource buys, and swings.

Every figure is an evaluation of the model a hundredth to either side, layouts found anew where the study does so; no
fit and no interpolation.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from volvelle.errors import DescriptionError, OutsideDomainError
from volvelle.quantities import Number
from volvelle.studies.answers.designs import Design
from volvelle.studies.design_space.axes import Axis, Value
from volvelle.studies.design_space.design_study import DesignStudy
from volvelle.studies.design_space.evaluate import Evaluator
from volvelle.studies.design_space.fields import dimension_names, numeric_field, value_of
from volvelle.studies.design_space.measures import Objective
from volvelle.studies.design_space.points import Slice

_STEP = 0.01
_SAMPLES = 9
"""Values of a long axis that a swing looks at."""
_PRICE = "machine_usd"
_FELT = 5e-3
"""Change in % for 1 % more that counts as one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Elasticity:
    """What a hundredth more of one resource does to one objective."""

    path: str
    goal: Objective
    up: float | None
    """Change of the objective in % for 1 % more; None: it then cannot run."""
    down: float | None
    """Change in % for 1 % less."""
    price: float | None
    """Change of the machine's price in dollars for 1 % more; None: the price model does not say."""
    per_million: float | None
    """Gain in % for every million dollars spent on it; None: its price is not known, or does not depend on it."""

    @property
    def gain(self) -> float | None:
        """What 1 % more buys in %: positive is better, whichever way the objective goes."""
        return self.goal.gain(self.up)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensitivity:
    """Elasticities of every objective to every number of the machine at one design."""

    design: Design
    elasticities: tuple[Elasticity, ...]
    now: Mapping[str, float]
    """What every number is worth there."""
    note: str = ""
    """What the price model said where it refuses variants of some numbers."""

    @property
    def priced(self) -> bool:
        """Whether the price model prices variants of any number."""
        return any(one.price is not None for one in self.elasticities)

    def telling(self, goals: Sequence[Objective]) -> Objective:
        """The first objective that more of some resource improves; a price, for one, it only raises."""
        helped = (goal for goal in goals if any((one.gain or 0.0) >= _FELT for one in self.of(goal)))
        return next(helped, goals[0])

    def of(self, goal: Objective) -> tuple[Elasticity, ...]:
        """Those of one objective, the largest gain first."""
        found = [one for one in self.elasticities if one.goal.name == goal.name]
        return tuple(sorted(found, key=lambda one: -(abs(one.gain) if one.gain is not None else -1.0)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step along an axis that makes another machine: the next value up, all else as it is."""

    path: str
    before: Value
    after: Value
    goal: Objective
    change: float | None
    """Of the objective in %; None: it then cannot run."""
    price: float | None
    """Of the machine, in dollars."""
    per_million: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Swing:
    """How far one axis alone moves an objective."""

    path: str
    goal: Objective
    values: tuple[Value, ...]
    """Values looked at, from one end of the axis to the other."""
    found: tuple[float | None, ...]
    """The objective there; None: it cannot run."""
    met: tuple[bool, ...]
    """Whether the study's constraints are met there."""
    chosen: Value
    at: float
    """The objective at the chosen design."""

    @property
    def low(self) -> float:
        """Lowest objective along the axis."""
        return min([self.at, *(value for value in self.found if value is not None)])

    @property
    def high(self) -> float:
        """Highest."""
        return max([self.at, *(value for value in self.found if value is not None)])


def varied_fields(study: DesignStudy) -> tuple[str, ...]:
    """Numbers whose effect is asked for: every numeric axis, and the main rates of any machine."""
    base = study.base
    main = ["chip.matrix_rate", "chip.memory.rate", "chip.memory.capacity"]
    for dimension in dimension_names(base):
        main += [f"{dimension}.rate", f"{dimension}.latency"]
    axes = [path for axis in study.axes for path in axis.columns if numeric_field(path, base) is not None]
    wanted = [path for path in dict.fromkeys([*axes, *main]) if path not in study.assignments]
    return tuple(path for path in wanted if _stated(path, study))


def sensitivity(evaluator: Evaluator, design: Design) -> Sensitivity:
    """Elasticities at a design, by evaluating the model a hundredth to either side."""
    study = evaluator.study
    goals = study.objectives
    cluster = evaluator.explain(design.number).cluster
    there = [path for path in varied_fields(study) if numeric_field(path, cluster) is not None]
    now = {path: float(np.max(value_of(path, cluster))) for path in there}
    paths = [path for path, value in now.items() if value > 0 and np.isfinite(value)]
    wanted = tuple(dict.fromkeys([*(goal.name for goal in goals), _PRICE]))
    note = ""
    try:
        found = _differences(evaluator, design.number, {path: now[path] for path in paths}, goals, wanted)
    except OutsideDomainError as error:
        # The price model refuses variants of some numbers; others it may know, and time it never needs to.
        note, found = str(error), []
        for path in paths:
            for names in (wanted, *((goal.name,) for goal in goals)):
                try:
                    found += _differences(evaluator, design.number, {path: now[path]}, goals, names)
                except OutsideDomainError:
                    continue
                if names is wanted:
                    break
    return Sensitivity(design=design, elasticities=tuple(found), now=now, note=note)


def _differences(
    evaluator: Evaluator,
    number: int,
    now: Mapping[str, float],
    goals: Sequence[Objective],
    measures: tuple[str, ...],
) -> list[Elasticity]:
    """Elasticities to some numbers of those objectives that are among the measures, all in one evaluation."""
    factors = np.ones((1 + 2 * len(now), len(now)))
    for place in range(len(now)):
        factors[1 + 2 * place, place] = 1.0 + _STEP
        factors[2 + 2 * place, place] = 1.0 - _STEP
    fields: dict[str, Number] = {path: value * factors[:, place] for place, (path, value) in enumerate(now.items())}
    variants = evaluator.near(number, fields, measures=measures)
    price, runs = variants.columns.get(_PRICE) if _PRICE in measures else None, variants.feasible
    found = []
    for goal in goals:
        if goal.name not in measures:
            continue
        values = variants.columns[goal.name]
        for place, path in enumerate(now):
            up, down = (
                float(values[row] / values[0] - 1.0) / _STEP if runs[row] else None
                for row in (1 + 2 * place, 2 + 2 * place)
            )
            more = None if price is None else float(price[1 + 2 * place] - price[0])
            gain = goal.gain(up)
            pays = more is not None and price is not None and abs(more) > 1e-9 * abs(float(price[0]))
            value = 100.0 * _STEP * gain / (more / 1e6) if pays and gain is not None and more else None
            found.append(
                Elasticity(
                    path=path,
                    goal=goal,
                    up=up,
                    down=down,
                    price=None if more is None else more * 0.01 / _STEP,
                    per_million=None if value is None else value + 0.0,
                )
            )
    return found


def steps(evaluator: Evaluator, design: Design, goal: Objective) -> tuple[Step, ...]:
    """One step up along every numeric axis that makes another machine."""
    study = evaluator.study
    found = []
    for axis in study.axes:
        path, values = next(iter(axis.columns.items()))
        if not isinstance(values[0], int | float) or path.startswith("mapping.") or numeric_field(path, study.base):
            continue
        place = values.index(design.fields[path])
        higher = [at for at, value in enumerate(values) if float(value) > float(values[place])]
        if not higher:
            continue
        after = min(higher, key=lambda at: float(values[at]))
        try:
            here = evaluator.near(design.number, {}, measures=(goal.name, _PRICE))
            there = evaluator.near(_moved(study, design, axis, after), {}, measures=(goal.name, _PRICE))
        except (OutsideDomainError, DescriptionError):
            continue
        runs = bool(there.feasible[0])
        price = float(there.columns[_PRICE][0] - here.columns[_PRICE][0])
        change = 100.0 * float(there.columns[goal.name][0] / here.columns[goal.name][0] - 1.0) if runs else None
        gain = goal.gain(change)
        found.append(
            Step(
                path=path,
                before=values[place],
                after=values[after],
                goal=goal,
                change=change,
                price=price,
                per_million=gain / (price / 1e6) if gain is not None and price else None,
            )
        )
    return tuple(found)


def tornado(evaluator: Evaluator, design: Design) -> tuple[Swing, ...]:
    """Every axis from end to end, all others as chosen; the widest swing first."""
    study = evaluator.study
    goal = study.objectives[0]
    numbers: list[int] = []
    spans: list[tuple[Axis, list[int], slice]] = []
    for axis in study.axes:
        if len(axis) > 1:
            places = np.unique(np.linspace(0, len(axis) - 1, min(len(axis), _SAMPLES)).round().astype(int)).tolist()
            start = len(numbers)
            numbers += [_moved(study, design, axis, place) for place in places]
            spans.append((axis, places, slice(start, len(numbers))))
    if not spans:
        return ()
    found = evaluator.points(np.array(numbers, dtype=np.int64))
    values, runs = found.columns[goal.name], found.feasible
    met = _met(study, found)
    swings = []
    for axis, places, span in spans:
        path, known = next(iter(axis.columns.items()))
        rows = range(len(numbers))[span]
        swings.append(
            Swing(
                path=path,
                goal=goal,
                values=tuple(known[place] for place in places),
                found=tuple(float(values[row]) if runs[row] and np.isfinite(values[row]) else None for row in rows),
                met=tuple(bool(runs[row] and met[row]) for row in rows),
                chosen=design.fields[path],
                at=design.measures[goal.name],
            )
        )
    return tuple(sorted(swings, key=lambda swing: swing.low - swing.high))


def _met(study: DesignStudy, found: Slice) -> NDArray[np.bool_]:
    """Which points meet every constraint."""
    names: dict[str, object] = dict(found.columns)
    for axis in study.axes:
        for path, values in axis.columns.items():
            names[path] = np.array(values, dtype=object)[found.positions[axis.name]]
    met = np.ones(len(found), dtype=bool)
    for expression in study.constraints:
        met &= np.broadcast_to(np.asarray(expression.value(names), dtype=bool), met.shape)
    return met


def _stated(path: str, study: DesignStudy) -> bool:
    try:
        value_of(path, study.base)
    except DescriptionError:
        return any(path in axis.columns for axis in study.axes)
    return True


def _moved(study: DesignStudy, design: Design, axis: Axis, place: int) -> int:
    """The number of a design moved along one axis."""
    positions = study.grid.positions(np.array([design.number], dtype=np.int64))
    return study.grid.number([place if one.name == axis.name else int(positions[one.name][0]) for one in study.axes])
