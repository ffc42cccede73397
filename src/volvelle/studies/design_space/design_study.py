"""A study: what is computed, on what, what varies, and what is asked; everything a worker needs, and no file."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from itertools import product
from pathlib import Path

import numpy as np

from volvelle.catalogue import Catalogue
from volvelle.domains import FACTOR, NumberDomain
from volvelle.errors import DescriptionError, UnknownNameError
from volvelle.estimators.calibration import with_margin
from volvelle.interchange.study_file import AxisForm, RangeForm, StudyForm, read_study_form
from volvelle.quantities import Quantity, parse
from volvelle.questions.workloads import MappedWork, TrainedWork
from volvelle.studies.design_space.axes import Axis, Grid, Value
from volvelle.studies.design_space.expressions import Expression
from volvelle.studies.design_space.fields import dimension_place, field_names, numeric_field, value_of
from volvelle.studies.design_space.layout_policy import LAYOUT_FIELDS, layout_number, layout_space
from volvelle.studies.design_space.measures import FITS, MEASURES, SURE, Objective, objective_of
from volvelle.studies.design_space.published_space import PublishedSpace, published_space
from volvelle.studies.design_space.structure import (
    WORKLOAD,
    chosen_forms,
    machine,
    structural_domain,
    structural_names,
    varied_form,
)
from volvelle.system.cluster import Cluster


@dataclass(frozen=True, kw_only=True)
class DesignStudy:
    """A study, checked: every name known, every value read."""

    form: StudyForm
    folders: tuple[str, ...] = ()
    """Catalogue folders of one's own."""

    def __post_init__(self) -> None:
        _ = self.grid, self.objectives, self.constraints, self.assignments
        columns = {path: column for axis in self.axes for path, column in axis.columns.items()}
        for called in columns.get(WORKLOAD, ()) if self.published is None else ():
            chosen_forms(self.form.workloads, {WORKLOAD: called})
        for path in (path for path in columns if path.startswith("workload.")):
            having = [one for one in self.form.workloads if path.removeprefix("workload.") in one.keys]
            if not having:
                raise DescriptionError(f"axis {path}: no workload of the study has it; leave it out")
            for workload, stated in product(having, columns[path]):
                varied_form(workload, {path: stated})
        names = [axis.name for axis in self.axes]
        if self.form.facet is not None and self.form.facet not in names:
            raise DescriptionError(f"facet: {UnknownNameError.among('axis', self.form.facet, names)}")
        self._refuse_unsampled()
        if self.form.mapping.policy == "best":
            for work in self.form.workloads:
                asked = work.asked
                if isinstance(asked, TrainedWork) and (
                    asked.batch_per_replica is not None or asked.memory_limit == "ignored"
                ):
                    raise DescriptionError(
                        f"workload {work.called!r}: a batch_per_replica and a memory_limit that is ignored need a "
                        "layout that is given; set policy: fixed under mapping:, and make its degrees axes"
                    )
            layout_space(self.form.mapping.choices)
            moved = [path for axis in self.axes for path in axis.columns if path.startswith("mapping.")]
            if moved:
                raise DescriptionError(
                    f"{moved[0]} is an axis, but the best mapping is searched at every point (policy: best); give the "
                    "values under mapping: instead, or set policy: fixed"
                )
        else:
            for name, value in self.form.mapping.choices.items():
                if isinstance(value, tuple):
                    raise DescriptionError(
                        f"mapping.{name} has several values, but the mapping is fixed; give one, or make "
                        f"mapping.{name} an axis, or set policy: best"
                    )
                layout_number(name, value)

    def _refuse_unsampled(self) -> None:
        """Refuse quantiles of steps that nothing is known of, before anything is run."""
        names = [name for name in self.measures if name in SURE]
        if names and self.published is not None:
            raise DescriptionError(
                f"{names[0]} is asked for, but points of {self.form.published!r} are as published, without a range; "
                "leave it out"
            )
        held = [name for name in names if name == FITS or name.startswith("memory.")]
        for work in self.form.workloads if names else ():
            streams = isinstance(work.asked, MappedWork) and work.asked.execution == "dataflow"
            fused = streams or work.assumptions is not None
            if held and (fused or (work.train is None and work.map is None)):
                what = "runs kernels together" if fused else "is a pace alone" if work.pace else "is planned"
                raise DescriptionError(
                    f"{held[0]} is asked for, but workload {work.called!r} {what}, and no measured run tells how far "
                    "its memory is off; leave it out"
                )
            if self.mixes and f"time.{work.called}" in SURE:
                raise DescriptionError(
                    f"workload {work.called!r} is called as a quantile is (time.{work.called}); give it another name"
                )

    @property
    def mixes(self) -> bool:
        """Whether several workloads run at every point, in turn."""
        named = any(WORKLOAD in axis.columns for axis in self.axes)
        return len(self.form.workloads) > 1 and not named

    @property
    def weakly(self) -> bool:
        """Whether a batch grows with replicas, so that every layout has its own."""
        asked = [work.asked for work in self.form.workloads]
        return any(isinstance(one, TrainedWork) and one.batch_per_replica is not None for one in asked)

    @property
    def maps(self) -> bool:
        """Whether graphs are mapped, which takes a search at every point."""
        return any(work.map is not None for work in self.form.workloads)

    @cached_property
    def catalogue(self) -> Catalogue:
        """Where names are looked up."""
        return Catalogue(*(Path(folder) for folder in self.folders))

    @cached_property
    def published(self) -> PublishedSpace | None:
        """The published design space it is a study of, if one."""
        return None if self.form.published is None else published_space(self.form.published)

    @cached_property
    def base(self) -> Cluster:
        """The machine that axes start from; where an axis gives the number of accelerators, of an example's size."""
        paths = {path for name, form in self.form.axes.items() for path in form.linked or (name,)}
        counted = not paths.isdisjoint(("accelerators", "system"))
        return self.machine({"system": self.catalogue.with_count(self.form.system)} if counted else {})

    def machine(self, values: Mapping[str, object]) -> Cluster:
        """The machine with some structural fields."""
        return with_margin(machine(self.catalogue, self.form.system, values, stack=self.form.stack), self.form.margin)

    @cached_property
    def structural(self) -> frozenset[str]:
        """Fields that make another machine or workload."""
        return frozenset(structural_names(self.base))

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """What varies: that which makes another machine or workload first, so that slices of points share it."""
        found = [self._axis(name, form) for name, form in self.form.axes.items()]
        paths = [self._canonical(path) for axis in found for path in axis.columns]
        twice = sorted({path for path in paths if paths.count(path) > 1})
        if twice:
            raise DescriptionError(f"{', '.join(twice)} is on two axes; keep one")
        if self.form.published is not None:
            return tuple(found)
        return tuple(sorted(found, key=lambda axis: self.structural.isdisjoint(axis.columns)))

    @cached_property
    def grid(self) -> Grid:
        """The points."""
        return Grid(axes=self.axes, seed=self.form.seed, samples=self.form.samples)

    @cached_property
    def objectives(self) -> tuple[Objective, ...]:
        """What points are judged by, the first first."""
        return tuple(objective_of(text) for text in self.form.objectives)

    @cached_property
    def constraints(self) -> tuple[Expression, ...]:
        """What a point must meet, besides being able to run."""
        found = tuple(Expression(text) for text in self.form.constraints)
        known = {*MEASURES, *(path for axis in self.axes for path in axis.columns)}
        for expression in found:
            for name in expression.names - known:
                raise DescriptionError(
                    f"constraint {expression.text!r}: {UnknownNameError.among('measure or axis', name, known)}"
                )
            expression.check_units({name: self.kind_of(name) for name in expression.names})
        return found

    def kind_of(self, name: str) -> Quantity | None:
        """The kind of quantity that an axis, a measure or a field is; None: plain numbers, or words."""
        if name in MEASURES and not any(name in axis.columns for axis in self.axes):
            return MEASURES[name].kind
        field = None if self.form.published is not None else numeric_field(name, self.base)
        return None if field is None else field.kind

    @cached_property
    def assignments(self) -> Mapping[str, Expression | float]:
        """Fields computed from others, in the order of the file."""
        found: dict[str, Expression | float] = {}
        if not self.form.set:
            return found
        known = {*field_names(self.base), *(path for axis in self.axes for path in axis.columns), "accelerators"}
        for path, text in self.form.set.items():
            where = f"set: {path}"
            field = numeric_field(path, self.base)
            if field is None:
                raise DescriptionError(
                    f"{where}: {UnknownNameError.among('number of the machine', path, field_names(self.base))}"
                )
            if any(path in axis.columns for axis in self.axes):
                raise DescriptionError(f"{where}: it is on an axis as well; keep one")
            expression = _quantity_or_expression(text, field.domain, where)
            if isinstance(expression, Expression):
                for name in expression.names:
                    plain = name.removeprefix("base.")
                    if plain not in known:
                        raise DescriptionError(f"{where}: {UnknownNameError.among('field', plain, known)}")
            found[path] = expression
        return found

    @cached_property
    def measures(self) -> tuple[str, ...]:
        """Measures that are written: what is judged by, what constraints name, and what else is asked for."""
        for name in self.form.measures:
            if name not in MEASURES:
                raise UnknownNameError.among("measure", name, MEASURES)
        always = {"time", "memory"} if self.published is None else {"time", *self.published.measures}
        if self.maps:
            always |= {"mfu", "gap"}
        wanted = {*always, *self.form.measures, *(one.name for one in self.objectives)}
        moved = {path for axis in self.axes for path in axis.columns}
        named = {name for expression in self.constraints for name in expression.names}
        wanted |= {name for name in named - moved if name in MEASURES}
        return tuple(name for name in MEASURES if name in wanted)

    @property
    def fingerprint(self) -> str:
        """The same for the same study, another for another."""
        return sha256(self.form.canonical().encode()).hexdigest()[:16]

    def _canonical(self, path: str) -> str:
        """A field by its place: a network dimension has two names."""
        room, _, name = path.rpartition(".")
        place = None if self.form.published is not None else dimension_place(room, self.base)
        return path if place is None else f"network.{place}.{name}"

    def _axis(self, name: str, form: AxisForm) -> Axis:
        if form.linked is not None:
            columns = {path: self._values(path, AxisForm(values=values)) for path, values in form.linked.items()}
            return Axis(name=name, columns=columns)
        return Axis(name=name, columns={name: self._values(name, form)})

    def _values(self, path: str, form: AxisForm) -> tuple[Value, ...]:
        where = f"axis {path}"
        if self.published is not None:
            return self.published.values(path, form.values, where)
        if path in self.structural:
            return _structural_values(form, structural_domain(path), where)
        if path.startswith("mapping."):
            name = path.removeprefix("mapping.")
            if form.values is None:
                raise DescriptionError(f"{where}: give the values of a layout as a list")
            return tuple(layout_number(name, value) for value in form.values)
        field = numeric_field(path, self.base)
        if field is None:
            known = (
                *field_names(self.base),
                *structural_names(self.base),
                *(f"mapping.{one}" for one in LAYOUT_FIELDS),
            )
            raise DescriptionError(f"{where}: {UnknownNameError.among('field', path, known)}")
        if form.times is not None:
            other = [one for one in ("system", "chip") if one in self.form.axes]
            if other:
                raise DescriptionError(
                    f"{where}: multiples of what? {other[0]} is an axis too, and each has its own; give values with "
                    "units"
                )
            base = float(np.max(value_of(path, self.base)))
            times = form.times
            factors = times if isinstance(times, tuple) else _spaced(times, FACTOR, where)
            values = tuple(float(factor) * base for factor in factors)
            for factor, value in zip(factors, values, strict=True):
                field.domain.check(value, f"{where}: {factor:g} times {base:g}")
            return values
        if form.values is not None:
            return tuple(_number(value, field.domain, where) for value in form.values)
        return _spaced(form, field.domain, where)


def read_study(source: Path | Mapping[str, object], *, folders: tuple[Path, ...] = ()) -> DesignStudy:
    """The study a file describes, or its fields."""
    return DesignStudy(form=read_study_form(source), folders=tuple(str(folder) for folder in folders))


def _structural_values(form: AxisForm, domain: NumberDomain | None, where: str) -> tuple[Value, ...]:
    if form.values is not None:
        for value in form.values if domain is not None else ():
            domain.read(value, where)  # type: ignore[union-attr]
        return form.values
    if form.times is not None or domain is None:
        raise DescriptionError(f"{where}: give its values as a list{'' if domain is None else ' or a range'}")
    values = _spaced(form, replace(domain, whole=False), where)
    return tuple(round(value) for value in values) if domain.whole else values


def _number(value: object, domain: NumberDomain, where: str) -> float:
    if domain.kind is not None and not isinstance(value, str):
        parse(value, domain.kind)  # says that a unit is missing
    return domain.read(value, where)


def _spaced(form: AxisForm | RangeForm, domain: NumberDomain, where: str) -> tuple[float, ...]:
    assert form.points is not None, "checked when read"
    start, end = _number(form.start, domain, where), _number(form.end, domain, where)
    if form.scale == "log" and min(start, end) <= 0:
        raise DescriptionError(f"{where}: a log range cannot start or end at {min(start, end):g}")
    space = np.geomspace if form.scale == "log" else np.linspace
    return tuple(space(start, end, form.points).tolist())


def _quantity_or_expression(text: str | float, domain: NumberDomain, where: str) -> Expression | float:
    if isinstance(text, int | float):
        return _number(text, domain, where)
    expression = None
    try:
        expression = Expression(text)
    except DescriptionError:
        if domain.kind is None:
            raise
    if expression is not None and (expression.names or domain.kind is None):
        return expression
    return _number(text, domain, where)
