"""Evaluates slices of a study's points into columns; the same rows whatever the slices."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from volvelle.applications.range_evidence import RangeEvidence
from volvelle.applications.training.evidence import RangeBasis, step_basis
from volvelle.applications.training.training_step import training_step
from volvelle.errors import MappingError, OutsideDomainError
from volvelle.estimators.result import Estimate
from volvelle.estimators.training.closed_form import ClosedForm
from volvelle.estimators.uncertainty import TableEstimator, UnderUncertainty
from volvelle.interchange.workload_form import WorkloadForm
from volvelle.mapping.lowered_model import step_flops
from volvelle.mapping.parallelism import MappingTable
from volvelle.mapping.parallelism import ParallelMapping as Layout
from volvelle.quantities import Number
from volvelle.questions.workloads import TrainedWork
from volvelle.search.per_variant import LayoutTable, best_of_each
from volvelle.studies.design_space.accounts import Accounts, PricedMachine
from volvelle.studies.design_space.axes import Axis
from volvelle.studies.design_space.design_study import DesignStudy
from volvelle.studies.design_space.explained import Explained
from volvelle.studies.design_space.expressions import Expression
from volvelle.studies.design_space.failure_terms import FailureTerms
from volvelle.studies.design_space.fields import numeric_field, value_of, with_values
from volvelle.studies.design_space.layout_policy import fixed_layouts, layout_space
from volvelle.studies.design_space.mapped_work import Mapper
from volvelle.studies.design_space.measures import MEASURES, Outcome, Worked
from volvelle.studies.design_space.paced_work import paced_evidence, paced_work
from volvelle.studies.design_space.planned_work import planned_evidence, planned_work
from volvelle.studies.design_space.points import CHECKED, CHOSEN, REASONS, Slice
from volvelle.studies.design_space.served_work import served_work
from volvelle.studies.design_space.step_samples import DrawnOnce, training_samples
from volvelle.studies.design_space.structure import SOLD, chosen_forms, varied_form
from volvelle.system.cluster import Cluster
from volvelle.workload.families.transformer import transformer
from volvelle.workload.training import Counting, TrainingStep

_LAID = "mapping."
"""What fields of a layout begin with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """A machine and its workloads, before numbers vary."""

    cluster: Cluster
    forms: tuple[WorkloadForm, ...]
    """Workloads, with what axes make of them."""
    steps: tuple[TrainingStep | None, ...]
    """None where a workload is no training, and planned by itself."""
    values: Mapping[str, object]
    anchor: Cluster
    """The machine as it is sold, which variants are priced by: with its own networks, whatever the point has."""


@dataclass(kw_only=True)
class Evaluator:
    """Evaluates points of one study; keeps what slices share."""

    study: DesignStudy
    estimator: TableEstimator = field(default_factory=ClosedForm)
    evaluated: int = 0
    """Layouts evaluated so far."""

    def __post_init__(self) -> None:
        self._cases: dict[tuple[object, ...], _Case] = {}
        self._layouts: dict[tuple[object, ...], LayoutTable | None] = {}
        # What is derived from a graph is kept by its identity.
        self._graph = cache(
            lambda name, length, sizes: transformer(self.study.catalogue.model(name), sequence=length).with_sizes(
                **dict(sizes)
            )
        )
        self._steps: dict[str, TrainingStep] = {}
        self.accounts = Accounts(self.study)
        self.mapper = Mapper(self.study.catalogue)
        self.failures = FailureTerms.of(self.study.form.failures)

    def considered(self) -> list[int]:
        """Layouts in each space that was searched so far."""
        return [known.considered for known in self._layouts.values() if known is not None]

    # -- slices ------------------------------------------------------------------------------------------------

    def rows(self, start: int, stop: int) -> Slice:
        """Rows from `start` to `stop` of the study."""
        return self.points(self.study.grid.numbers(start, stop))

    def points(self, numbers: NDArray[np.int64]) -> Slice:
        """Some combinations by number."""
        positions = self.study.grid.positions(numbers)
        count = len(numbers)
        columns: dict[str, NDArray[np.float64]] = {}
        reason = np.zeros(count, dtype=np.int8)
        for case, rows in self._groups(positions, count):
            numbers_here = self._numbers({name: places[rows] for name, places in positions.items()})
            found, reason[rows] = self._measured(case, numbers_here, len(reason[rows]))
            for name, values in found.items():
                if name not in columns:
                    columns[name] = np.full(count, np.nan)
                columns[name][rows] = values
        return Slice(
            numbers=numbers,
            positions=positions,
            columns=columns,
            reason=reason,
            layouts=self._layout_columns() & set(columns),
        )

    def _layout_columns(self) -> set[str]:
        """Columns that say which layout was found best."""
        forms = self.study.form.workloads
        return {f"{one.called}.{name}" if self.study.mixes else name for one in forms for name in CHOSEN}

    def near(self, number: int | None, fields: Mapping[str, Number], *, measures: Sequence[str] | None = None) -> Slice:
        """A point with some fields replaced, each by a number or a column; layouts as the study's policy has them.

        Without a number it is the base machine; `measures` are those wanted, where they are not the study's own.
        """
        case, numbers = (self._case({}), {}) if number is None else self._place(number)
        rows = max([1, *(np.size(value) for value in fields.values())])
        found, violated = self._measured(case, {**numbers, **fields}, rows, measures)
        return Slice(
            numbers=np.full(rows, -1, dtype=np.int64),
            positions={},
            columns={name: np.broadcast_to(np.asarray(values, dtype=float), (rows,)) for name, values in found.items()},
            reason=np.broadcast_to(violated, (rows,)),
        )

    def explain(self, number: int) -> Explained:
        """One point in full: its machine, its layouts, where time and memory go."""
        case, numbers = self._place(number)
        cluster, layout = self._machine(case, numbers)
        layouts: list[Layout | None] = []
        estimates: list[Estimate[Any, Any] | None] = []
        bases: list[tuple[str, RangeBasis | RangeEvidence]] = []
        worked = []
        doubted = UnderUncertainty(estimator=ClosedForm())
        for form, step in zip(case.forms, case.steps, strict=True):
            done, table = self._worked(form, step, cluster, layout, 1)
            mapping = None if table is None or done.violated[0] == REASONS.index("layout") else table.row(0)
            worked.append(done)
            layouts.append(mapping)
            if form.map is not None:
                plan, sure = self.mapper.explained(form, cluster.row(0))
                estimates.append(plan)
                bases += [] if sure is None else [(form.called, sure.basis)]
                continue
            estimates.append(None if step is None or mapping is None else doubted.estimate(step, cluster, mapping))
            if done.violated[0] == 0 or step is not None:
                bases += self._bases(form, step, cluster, mapping)
        return Explained(
            cluster=cluster,
            anchor=case.anchor,
            outcome=self._outcome(case, cluster, worked),
            layouts=tuple(layouts),
            estimates=tuple(estimates),
            bases=tuple(bases),
        )

    def _bases(
        self, form: WorkloadForm, step: TrainingStep | None, cluster: Cluster, mapping: Layout | None
    ) -> Iterator[tuple[str, RangeBasis | RangeEvidence]]:
        """What the range of a workload rests on that is trained, or planned by itself."""
        if step is not None:
            yield form.called, step_basis(cluster, step, mapping)
        elif form.pace is not None:
            yield form.called, paced_evidence(form)
        elif form.serve is not None:
            return
        elif (told := planned_evidence(form, cluster.row(0), self.study.catalogue)) is not None:
            yield form.called, told

    def _place(self, number: int) -> tuple[_Case, dict[str, Number]]:
        """The machine of a point, and its numbers."""
        positions = self.study.grid.positions(np.array([number], dtype=np.int64))
        ((case, _),) = self._groups(positions, 1)
        return case, self._numbers(positions)

    def _groups(
        self, positions: Mapping[str, NDArray[np.int64]], count: int
    ) -> Iterator[tuple[_Case, NDArray[np.intp] | slice]]:
        """Rows that share machine and workload but for numbers."""
        axes = [axis for axis in self.study.axes if self._apart(axis)]
        code = np.zeros(count, dtype=np.int64)
        for axis in axes:
            code = code * len(axis) + positions[axis.name]
        for value in np.unique(code):
            found = np.flatnonzero(code == value)
            first = int(found[0])
            rows = slice(0, count) if len(found) == count else found
            values = {
                path: column[int(positions[axis.name][first])] for axis in axes for path, column in axis.columns.items()
            }
            yield self._case(values), rows

    def _apart(self, axis: Axis) -> bool:
        """Whether points that differ along an axis have other machines or workloads, and not other numbers alone."""
        laid = self.study.weakly and any(path.startswith(_LAID) for path in axis.columns)
        return laid or not self.study.structural.isdisjoint(axis.columns)

    def _case(self, values: Mapping[str, object]) -> _Case:
        key = tuple(values.items())
        if key not in self._cases:
            structural = {path: value for path, value in values.items() if path in self.study.structural}
            cluster = self.study.machine(structural)
            chosen = chosen_forms(self.study.form.workloads, structural)
            forms = tuple(varied_form(form, structural) for form in chosen)
            replicas = self._replicas(cluster, values) if self.study.weakly else 1
            sold = {path: value for path, value in structural.items() if path in SOLD}
            self._cases[key] = _Case(
                cluster=cluster,
                forms=forms,
                steps=tuple(self._step(form, replicas) for form in forms),
                values=values,
                anchor=cluster if sold == structural else self.study.machine(sold),
            )
        return self._cases[key]

    def _replicas(self, cluster: Cluster, values: Mapping[str, object]) -> int:
        """Replicas of the layout that a group of points has."""
        layout: dict[str, Any] = {
            path.removeprefix(_LAID): value for path, value in values.items() if path.startswith(_LAID)
        }
        return int(fixed_layouts(self.study.form.mapping.choices, layout, cluster).data[0])

    def _step(self, form: WorkloadForm, replicas: int) -> TrainingStep | None:
        """Return the training step of a workload; None if it is no training."""
        asked = form.asked
        if form.train is None or not isinstance(asked, TrainedWork):
            return None
        batch = asked.batch if asked.batch_per_replica is None else asked.batch_per_replica * replicas
        assert batch is not None, "checked when read"
        of_one = repr((form.train, asked.changed(batch=1, batch_per_replica=None)))
        if of_one not in self._steps:
            self._steps[of_one] = self._step_of_one(form.train, asked)
        return replace(self._steps[of_one], batch=batch)

    def _step_of_one(self, model: str, asked: TrainedWork) -> TrainingStep:
        """Return the training step of one sequence; its model is kept, for what is derived from it is kept with it."""
        length = asked.sequence or self.study.catalogue.model(model).sequence
        counting = Counting(asked.counting)
        # COMET's memory is what tensors take.
        free: dict[str, Any] = {"reserved": 0.0, "fragmentation": 0.0} if counting is Counting.COMET else {}
        step = training_step(
            self._graph(model, length, tuple((asked.sizes or {}).items())),
            batch=1,
            element=asked.element,
            expert_load=asked.expert_load,
            **asked.recipe,
        )
        return replace(step, counting=counting, split_heads=asked.split_heads, **free)

    # -- one group ---------------------------------------------------------------------------------------------

    def _numbers(self, positions: Mapping[str, NDArray[np.int64]]) -> dict[str, Number]:
        """Numbers of points by field: a column, or one number where it is the same at all of them."""
        numbers: dict[str, Number] = {}
        for axis in self.study.axes:
            places = positions[axis.name]
            same = bool((places == places[0]).all())
            for path in axis.columns:
                if path not in self.study.structural:
                    column = axis.at(path, places[:1] if same else places)
                    numbers[path] = float(column[0]) if same else column
        return numbers

    def _measured(
        self, case: _Case, numbers: Mapping[str, Number], rows: int, measures: Sequence[str] | None = None
    ) -> tuple[dict[str, Number], NDArray[np.int8]]:
        """Measures of points that differ in numbers alone."""
        cluster, layout = self._machine(case, numbers)
        pairs = zip(case.forms, case.steps, strict=True)
        worked = [self._worked(form, step, cluster, layout, rows)[0] for form, step in pairs]
        outcome = self._outcome(case, cluster, worked)
        wanted = self.study.measures if measures is None else measures
        found: dict[str, Number] = {name: MEASURES[name].of(outcome) for name in wanted}
        several = self.study.mixes
        for one in worked:
            if several:
                found[f"time.{one.name}"] = one.time
            for name, column in one.chosen.items():
                found[f"{one.name}.{name}" if several else name] = column
        reason = worked[0].violated
        for other in worked[1:]:
            reason = np.where(reason == 0, other.violated, reason)
        return found, reason

    def _machine(self, case: _Case, numbers: Mapping[str, Number]) -> tuple[Cluster, dict[str, Number]]:
        """The machine with its numbers, and those that are the layout's."""
        fields = {path: value for path, value in numbers.items() if not path.startswith(_LAID)}
        layout = {path.removeprefix(_LAID): value for path, value in numbers.items() if path.startswith(_LAID)}
        return self._assigned(case, fields), layout

    def _outcome(self, case: _Case, cluster: Cluster, worked: Sequence[Worked]) -> Outcome:
        priced = PricedMachine(accounts=self.accounts, cluster=cluster, anchor=case.anchor)
        return Outcome(
            worked=worked,
            chips=float(cluster.accelerators),
            family=cluster.chip.family,
            cost_breakdown=priced,
            failures=self.failures,
            rent=self.study.form.costs.rent,
        )

    def _assigned(self, case: _Case, fields: Mapping[str, Number]) -> Cluster:
        """The machine with these fields, and with those the study sets: plain ones, then what follows from others."""
        plain = {path: given for path, given in self.study.assignments.items() if not isinstance(given, Expression)}
        cluster = with_values(case.cluster, {**plain, **fields})
        for path, given in self.study.assignments.items():
            if not isinstance(given, Expression):
                continue
            names: dict[str, Any] = {}
            for name in given.names:
                bare = name.removeprefix("base.")
                of = self.study.base if bare != name else cluster
                if bare == "accelerators":
                    names[name] = float(of.accelerators)
                elif bare == name and bare in self.study.structural:
                    names[name] = case.values[bare]
                else:
                    names[name] = value_of(bare, of)
            value, field = given.value(names), numeric_field(path, cluster)
            if field is not None:
                field.domain.check(value, f"set: {path} = {given.text}", error=OutsideDomainError)
            cluster = with_values(cluster, {path: value})
        return cluster

    def _worked(
        self, form: WorkloadForm, step: TrainingStep | None, cluster: Cluster, layout: Mapping[str, Number], rows: int
    ) -> tuple[Worked, MappingTable | None]:
        """What a workload does, and by which layouts; None: it is no training, and has none."""
        if form.map is not None:
            return self.mapper.work(form, cluster, rows), None
        if form.pace is not None:
            return paced_work(form, cluster, rows), None
        if form.serve is not None:
            return served_work(form, cluster, self.study.catalogue, rows), None
        if step is None:
            return planned_work(form, cluster, self.study.catalogue, rows), None
        chosen: dict[str, NDArray[np.float64]] = {}
        if self.study.form.mapping.policy == "best":
            time, memory, violated, table = self._best(step, cluster, rows)
            chosen = {name: np.asarray(getattr(table, name), dtype=np.float64) for name in CHOSEN}
        else:
            table = fixed_layouts(self.study.form.mapping.choices, layout, cluster)
            if len(table) == 1 and rows > 1:
                table = table.repeated(rows)
            found = self.estimator.table(step, cluster, table)
            self.evaluated += rows
            time, memory, violated = found.time, found.memory_bytes, np.zeros(len(found), dtype=np.int8)
            for name in reversed(CHECKED):
                if name == "memory" and isinstance(form.asked, TrainedWork) and form.asked.memory_limit == "ignored":
                    continue
                violated[found.violations[name]] = REASONS.index(name)
        done = Worked(
            name=form.called,
            time=time,
            memory=memory,
            violated=violated,
            work=step_flops(step),
            peak=cluster.chip.matrix_rate(step.element),
            tokens=float(step.tokens),
            samples=float(step.batch),
            weight=form.weight,
            run_tokens=form.tokens,
            chosen=chosen,
            drawn=DrawnOnce(training_samples, step, cluster, table, violated == 0),
        )
        return done, table

    def _best(
        self, step: TrainingStep, cluster: Cluster, rows: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int8], MappingTable]:
        known = self._known_layouts(step, cluster)
        if known is None or not len(known.table):
            nothing = replace(MappingTable.columns(tensor=np.ones(rows)), tensor=np.zeros(rows))
            blank = np.full(rows, np.nan)
            return blank, blank, np.full(rows, REASONS.index("layout"), dtype=np.int8), nothing
        found = best_of_each(known, step, cluster, self.estimator)
        self.evaluated += found.evaluated
        violated = np.where(found.fits, 0, REASONS.index("memory")).astype(np.int8)
        picked = np.zeros(rows, dtype=np.intp) if len(found.time) == 1 else slice(None)
        return found.time[picked], found.memory[picked], violated[picked], found.mappings.take(picked)

    def _known_layouts(self, step: TrainingStep, cluster: Cluster) -> LayoutTable | None:
        """Layouts of a machine's shape: made once for all its numbers."""
        shape = tuple((part.size, repr(part.topology)) for part in cluster.dimensions)
        said = tuple(getattr(step, part.name) for part in fields(step) if part.name != "model")
        key = (id(step.model), said, cluster.chip.name, shape)
        if key not in self._layouts:
            length = int(step.model.sizes.get("position", 1))
            space = layout_space(self.study.form.mapping.choices, length=length)
            one = cluster.take(np.zeros(1, dtype=np.intp))
            try:
                self._layouts[key] = LayoutTable.of(space, step, one, self.estimator)
            except MappingError:
                self._layouts[key] = None
        return self._layouts[key]
