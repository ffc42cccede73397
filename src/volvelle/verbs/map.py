"""The best mapping of any graph of kernels to a machine, with a proof."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from volvelle.domains import DEGREE, LIMIT, SEQUENCES, WIDTH, within_domains
from volvelle.economics.price_book import PriceModel
from volvelle.estimators.dataflow.on_chip import Overlap
from volvelle.estimators.dataflow.stated_problem import StatedMapping
from volvelle.estimators.result import Range
from volvelle.interchange.workload_form import AssumptionsForm
from volvelle.interchange.yaml_file import read_form
from volvelle.presentable import Presentable
from volvelle.quantities import numbered
from volvelle.questions.machine import Changes
from volvelle.search.graph.answer import MappingAnswer
from volvelle.search.graph.sharding import Objective
from volvelle.studies.mapped.graphs import read_graph_argument
from volvelle.studies.mapped.map_question import Execution, MapQuestion, Sharding
from volvelle.studies.mapped.mapping_cost import MappingCost, mapping_cost
from volvelle.studies.mapped.mapping_range import MappingRange, mapping_range
from volvelle.system.cluster import Cluster
from volvelle.verbs.command_words import in_command_words
from volvelle.verbs.named import Folder, Machine, catalogue_of, cluster_of
from volvelle.verbs.question import machines_of
from volvelle.verbs.remedies.mappings import mapping_remedies
from volvelle.verbs.what_if import keyword_baseline
from volvelle.workload.families.shape import Transformer
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


@in_command_words
@within_domains
@keyword_baseline
def map(  # noqa: A001 - the verb's name
    graph: str | Path | Transformer | Workload,
    *,
    on: Machine,
    execution: Execution | None = None,
    sharding: Sharding = "any",
    micro_batches: Annotated[int | None, SEQUENCES] = None,
    tensor: Annotated[Sequence[int], DEGREE] = (),
    pipeline: Annotated[Sequence[int], DEGREE] = (),
    data: Annotated[Sequence[int], DEGREE] = (),
    tiles: Annotated[Sequence[int], WIDTH] = (),
    forward: bool = False,
    gpt_layer_only: bool = False,
    fuse: bool = True,
    partitions: Annotated[int | None, WIDTH] = None,
    overlap: Overlap = Overlap.ALL,
    stream_weights: bool = True,
    tile_weights: bool = True,
    objective: Objective = "time",
    element: str = "bf16",
    limit: Annotated[float, LIMIT] = 60.0,
    prices: PriceModel = "market",
    assumptions: Path | Mapping[str, object] | None = None,
    set: Changes | None = None,  # noqa: A002 - the option's name
    catalogue: Folder = None,
) -> MapAnswer:
    """Split a graph over a machine as fast as can be, and prove it.

    In execution by ``kernels`` one kernel runs after another, as `estimate` has it: degrees, stages and the split of
    every operation are chosen; with `sharding` "megatron" operations split as Megatron's do. In ``dataflow`` kernels
    stay on the chip and stream tiles to each other, and which run together is chosen too. Where none is named, the chip
    decides. Degrees and tiles are those to consider, all where none are given; `micro_batches` are those of a step (8 a
    chip), `limit` the seconds that the search may take, `prices` the model that prices the machine. With
    `assumptions`, the fields of a study's or a file of them, a mapping is stated in place of searched. `set` gives
    numbers of the machine other values (``{"chip.memory.rate": "2x"}``); the answer then has that of the machine as it
    is beside.
    """
    known = catalogue_of(catalogue)
    asked = read_graph_argument(graph, known, forward=forward, gpt_layer_only=gpt_layer_only)
    cluster = cluster_of(on, known, changes=set)
    question = MapQuestion(
        execution=execution,
        sharding=sharding,
        micro_batches=micro_batches,
        tensor=tensor,
        pipeline=pipeline,
        data=data,
        tiles=tiles,
        fuse=fuse,
        partitions=partitions,
        overlap=overlap,
        stream_weights=stream_weights,
        tile_weights=tile_weights,
        objective=objective,
        element=element,
        limit=limit,
        assumptions=_stated(assumptions),
    )
    mapping = question.answer(asked, cluster)
    if any(violation.name != "time" for violation in mapping.violations):
        machine = machines_of(on, known, stack="", margin=None, changes=set)
        remedies = mapping_remedies(question, asked, cluster, machine=machine)
        mapping = replace(mapping, violations=tuple(replace(one, cures=remedies) for one in mapping.violations))
    sold = cluster_of(on, known) if set else cluster
    sure = None if mapping.plan is None else mapping_range(mapping.plan, cluster, element)
    within = None if sure is None else sure.ranges["time"]
    return MapAnswer(
        mapping=mapping,
        execution=question.runs(cluster),
        cluster=cluster,
        workload=asked.workload,
        micro_batches=question.count(cluster),
        cost=mapping_cost(mapping.plan, cluster, sold, known, prices, within),
        sure=sure,
    )


def _stated(assumptions: Path | Mapping[str, object] | None) -> StatedMapping | None:
    """Assumptions as a study writes them; None: the mapping is searched."""
    if assumptions is None:
        return None
    form = read_form(assumptions, AssumptionsForm, what="stated mapping", examples="examples/studies")
    return StatedMapping(**form.model_dump())
