"""Workloads that are mapped point by point: any graph of kernels, by the question that the verb asks too."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from volvelle.catalogue import Catalogue
from volvelle.errors import VolvelleError
from volvelle.estimators.calibration import calibrations_of, fitted_constants
from volvelle.estimators.dataflow.stated_problem import StatedMapping
from volvelle.interchange.graph_file import GraphFile, read_graph
from volvelle.interchange.workload_form import WorkloadForm
from volvelle.questions.workloads import MappedWork
from volvelle.search.graph.answer import MappedPlan, MappingAnswer
from volvelle.studies.design_space.measures import Worked
from volvelle.studies.design_space.points import REASONS
from volvelle.studies.design_space.step_samples import DrawnOnce, StepSamples
from volvelle.studies.mapped.graphs import read_graph_argument
from volvelle.studies.mapped.mapping_range import MappingRange, mapping_range
from volvelle.studies.mapped.mapping_search import MappingSearch
from volvelle.system.cluster import Cluster

_REASONS = {"time": "search", "layouts": "layout", "memory": "memory", "dram": "memory"}
"""Why nothing maps → why a point cannot run; all else is about what a chip holds at once."""
_HOST = ("host_rate", "host_memory", "host_memory_rate")
"""What is looked at of a host."""


class Mapper:
    """Maps graphs of one study; keeps what points share: graphs, and answers of machines that time does not tell apart.

    Price and power of a machine do not change how long its kernels take.
    """

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        # What is derived from a graph is kept by its identity.
        self._named = cache(
            lambda name, forward, layer: read_graph_argument(name, catalogue, forward=forward, gpt_layer_only=layer)
        )
        self._drawn: dict[str, GraphFile] = {}
        self._known: dict[tuple[object, ...], MappingAnswer] = {}

    def work(self, form: WorkloadForm, cluster: Cluster, rows: int) -> Worked:
        """What such a workload does at the points of a slice, one by one."""
        alike = cluster.row(0) is cluster
        machines = [cluster.row(row) for row in range(1 if alike else rows)]
        answers = [self.answer(form, machine) for machine in machines]
        found = answers * rows if alike else answers

        def column(figure: Callable[[Any], float]) -> Any:
            return np.array([np.nan if one.plan is None else figure(one) for one in found])

        return Worked(
            name=form.called,
            time=column(lambda one: one.plan.time),
            memory=column(lambda one: one.plan.memory_bytes),
            violated=np.array([_reason(one) for one in found], dtype=np.int8),
            work=column(lambda one: one.plan.work),
            peak=column(lambda one: one.plan.peak),
            tokens=0.0,
            samples=float(_question(form).count(cluster)),
            weight=form.weight,
            run_tokens=None,
            chosen={
                "tensor": column(lambda one: one.plan.degrees.tensor),
                "pipeline": column(lambda one: one.plan.degrees.pipeline),
                "data": column(lambda one: one.plan.degrees.data),
            },
            gap=column(lambda one: 0.0 if one.proven else one.gap),
            drawn=DrawnOnce(_drawn, answers, form, machines, rows),
        )

    def explained(self, form: WorkloadForm, cluster: Cluster) -> tuple[MappedPlan | None, MappingRange | None]:
        """The best mapping on one machine with the ranges of its figures, and what these rest on; None: there is none.

        They are those of the verb `map`.
        """
        answer = self.answer(form, cluster)
        sure = _sure(answer, form, cluster)
        if answer.plan is None or sure is None:
            return None, None
        return replace(answer.plan, ranges=sure.ranges, fits=sure.fits), sure

    def answer(self, form: WorkloadForm, cluster: Cluster) -> MappingAnswer:
        """The best mapping on one machine."""
        question = _question(form)
        asked = form.asked
        assert isinstance(asked, MappedWork), "checked when read"
        key = (form.called, asked.forward, asked.gpt_layer_only, question, _timed(cluster, asked.element))
        if key not in self._known:
            try:
                self._known[key] = question.answer(self._graph(form, asked), cluster)
            except VolvelleError as error:
                raise type(error)(f"workload {form.called!r} on {cluster.name!r}: {error}") from None
        return self._known[key]

    def _graph(self, form: WorkloadForm, asked: MappedWork) -> GraphFile:
        if isinstance(form.map, dict):
            if form.called not in self._drawn:
                self._drawn[form.called] = read_graph(form.map, name=form.called)
            return self._drawn[form.called]
        found: GraphFile = self._named(str(form.map), asked.forward, asked.gpt_layer_only)
        return found


def _question(form: WorkloadForm) -> MappingSearch:
    assumed = None if form.assumptions is None else StatedMapping(**form.assumptions.model_dump())
    return form.asked.as_question(MappingSearch, assumptions=assumed)


def _drawn(answers: Sequence[MappingAnswer], form: WorkloadForm, machines: Sequence[Cluster], rows: int) -> StepSamples:
    """Steps of mappings on sampled machines; of one for all points where they are alike."""
    sure = [_sure(answer, form, machine) for answer, machine in zip(answers, machines, strict=True)]
    return StepSamples.of(sure * rows if len(sure) < rows else sure)


def _sure(answer: MappingAnswer, form: WorkloadForm, cluster: Cluster) -> MappingRange | None:
    """How sure the figures of a mapping are; None: there is none."""
    return None if answer.plan is None else mapping_range(answer.plan, cluster, _question(form).element)


def _reason(found: MappingAnswer) -> int:
    """Why there is no mapping, as a number of the study's reasons; 0: there is one."""
    if found.plan is not None:
        return 0
    names = [_REASONS.get(one.name, "chip") for one in found.violations]
    return REASONS.index(names[0] if names else "search")


def _timed(cluster: Cluster, element: str) -> str:
    """All of a machine that time may depend on, as a key."""
    chip = replace(cluster.chip, price=None, power=None)
    fitted = [_plain(fitted_constants(cluster, element, software=software)) for software in (True, False)]
    dimensions = [(one.size, repr(one.topology), _plain(one.link)) for one in cluster.dimensions]
    stack = calibrations_of(cluster).stack
    return repr((_plain(chip), fitted, stack, dimensions, [getattr(cluster, name) for name in _HOST]))


def _plain(value: object) -> list[tuple[str, object]]:
    """Fields of a value that shows itself in few words."""
    names = getattr(type(value), "__dataclass_fields__", {})
    return [(name, getattr(value, name)) for name in names if name != "figures"]
