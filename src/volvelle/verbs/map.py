"""The best mapping of any graph of kernels to a machine, with a proof."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from volvelle.base.python_function import asks
from volvelle.estimators.dataflow.stated_problem import StatedMapping
from volvelle.estimators.result import Range
from volvelle.interchange.workload_form import AssumptionsForm
from volvelle.interchange.yaml_file import read_form
from volvelle.presentable import Presentable
from volvelle.quantities import numbered
from volvelle.questions.map import Execution, MapQuestion
from volvelle.search.graph.answer import MappingAnswer
from volvelle.studies.mapped.graphs import read_graph_argument
from volvelle.studies.mapped.mapping_cost import MappingCost, mapping_cost
from volvelle.studies.mapped.mapping_range import MappingRange, mapping_range
from volvelle.studies.mapped.mapping_search import MappingSearch
from volvelle.system.cluster import Cluster
from volvelle.verbs.named import catalogue_of, cluster_of
from volvelle.verbs.question import machines_of
from volvelle.verbs.remedies.mappings import mapping_remedies
from volvelle.verbs.what_if import beside_baseline
from volvelle.workload.graph import Workload
from volvelle.workload.operations import Phase


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MapAnswer(Presentable):
    """What was asked and what was found."""

    mapping: MappingAnswer
    execution: Execution
    cluster: Cluster
    workload: Workload
    """What was mapped: one micro-batch of it."""
    micro_batches: int
    """In a step, over all replicas."""
    cost: MappingCost
    """Price, power and energy."""
    sure: MappingRange | None = None
    """How sure its figures are; None: there is no mapping."""
    baseline: "MapAnswer | None" = None
    """The same on the machine as it is, where some of its numbers were set."""

    @property
    def ranges(self) -> Mapping[str, Range]:
        """Where its figures lie, by name, as far as that is known."""
        names = {"machine_usd": "capex", "step_usd": "dollars"}
        costs = {names.get(name, name): found for name, found in self.cost.ranges.items()}
        return {**({} if self.sure is None else self.sure.ranges), **costs}

    @property
    def graph(self) -> str:
        """What was mapped, in words."""
        kernels = sum(len(block.operations) for block in self.workload.blocks)
        return f"{numbered(kernels, 'kernel')} in {numbered(len(self.workload.blocks), 'block')}"

    @property
    def parameters(self) -> int:
        """Learned numbers of the graph, each counted once."""
        return self.workload.parameters()

    @property
    def flops(self) -> float:
        """FLOP of the graph's matrix products in a step, forward and backward, recomputation not counted."""
        return self.micro_batches * sum(self.workload.flops(phase=phase) for phase in (Phase.FORWARD, Phase.BACKWARD))


@asks(MapQuestion)
@beside_baseline
def map(question: MapQuestion) -> MapAnswer:  # noqa: A001 - the verb's name
    """Return the fastest mapping of a graph to a machine, with a proof.

    With `execution` "kernels" one kernel runs after another, as in `estimate`: the search chooses degrees, stages and
    the split of every operation; with `sharding` "megatron", operations are split as Megatron splits them. With
    "dataflow" kernels stay on the chip and stream tiles to each other, and the search also chooses which kernels run
    together. Degrees and tile sizes are the ones to consider, all if none are given. With `assumptions`, a file or the
    fields of a study, the mapping is stated instead of searched. `set` changes fields of the machine
    (``{"chip.memory.rate": "2x"}``); the answer then contains the answer for the unchanged machine as its `baseline`.
    """
    known = catalogue_of(question.catalogue)
    asked = read_graph_argument(question.graph, known, forward=question.forward, gpt_layer_only=question.gpt_layer_only)
    cluster = cluster_of(question.on, known, changes=question.set)
    search = question.as_question(MappingSearch, assumptions=_stated(question.assumptions))
    mapping = search.answer(asked, cluster)
    if any(violation.name != "time" for violation in mapping.violations):
        machine = machines_of(question.on, known, stack="", margin=None, changes=question.set)
        remedies = mapping_remedies(search, asked, cluster, machine=machine)
        mapping = replace(mapping, violations=tuple(replace(one, cures=remedies) for one in mapping.violations))
    sold = cluster_of(question.on, known) if question.set else cluster
    sure = None if mapping.plan is None else mapping_range(mapping.plan, cluster, question.element)
    within = None if sure is None else sure.ranges["time"]
    return MapAnswer(
        mapping=mapping,
        execution=search.runs(cluster),
        cluster=cluster,
        workload=asked.workload,
        micro_batches=search.count(cluster),
        cost=mapping_cost(mapping.plan, cluster, sold, known, question.prices, within),
        sure=sure,
    )


def _stated(assumptions: Path | str | Mapping[str, object] | None) -> StatedMapping | None:
    """Return the mapping that assumptions of a study state; None: the mapping is searched."""
    if assumptions is None:
        return None
    stated = Path(assumptions) if isinstance(assumptions, str) else assumptions
    form = read_form(stated, AssumptionsForm, what="stated mapping", examples="examples/studies")
    return StatedMapping(**form.model_dump())
