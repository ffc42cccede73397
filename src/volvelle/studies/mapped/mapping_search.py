"""The search for the best mapping of a graph to a machine, for ``volvelle map`` and for points of a study."""

from volvelle.base.option_kinds import Instance
from volvelle.base.question import Option, option
from volvelle.errors import MappingError
from volvelle.estimators.dataflow.on_chip import FusionChoices
from volvelle.estimators.dataflow.stated_problem import StatedMapping
from volvelle.estimators.training.stage_memory import MemoryRecipe
from volvelle.interchange.graph_file import GraphFile
from volvelle.mapping.parallelism import Recompute, Schedule
from volvelle.questions.map import FORWARD_FIRST, Execution, MapFields
from volvelle.search.graph.answer import MappingAnswer
from volvelle.search.graph.joint import map_graph
from volvelle.search.graph.network import factorisations
from volvelle.search.kernels.solve import map_kernels
from volvelle.search.space import Space
from volvelle.search.stated import map_stated
from volvelle.system.cluster import Cluster
from volvelle.workload.graph import Workload
from volvelle.workload.operations import Phase
from volvelle.workload.training import TrainingStep

_A_CHIP = 8
"""Micro-batches per step and chip, unless the question states them."""


class MappingSearch(MapFields):
    """A search for the best mapping of a graph to a machine."""

    subcommand = "map"

    forward_first: bool | None = option(FORWARD_FIRST, default=None)
    assumptions: StatedMapping | None = option(
        Option(
            "",
            "Mapping to time by plain laws instead of a search.",
            kind=Instance("a StatedMapping", ("StatedMapping",)),
            group="Layout",
        ),
        default=None,
    )

    def count(self, cluster: Cluster) -> int:
        """Return the micro-batches per step on a machine, over all replicas."""
        return self.micro_batches or _A_CHIP * cluster.accelerators

    def runs(self, cluster: Cluster) -> Execution:
        """Return how kernels run on a machine."""
        return self.execution or ("dataflow" if cluster.chip.dataflow else "kernels")

    def answer(self, asked: GraphFile, cluster: Cluster) -> MappingAnswer:
        """Return the best mapping of a graph to a machine, with a proof or a gap."""
        if self.assumptions is not None:
            return self._stated(asked, cluster, self.assumptions)
        if self.runs(cluster) == "kernels":
            return self._by_kernels(asked.workload, cluster)
        return self._in_dataflow(asked, cluster)

    def _in_dataflow(self, asked: GraphFile, cluster: Cluster) -> MappingAnswer:
        workload = asked.workload
        if workload.is_tuned:
            raise MappingError(
                f"{workload.name} has frozen weights, which dataflow execution does not know; map it by kernels"
            )
        trains = _trains(workload)
        given = {"tensor": self.tensor, "pipeline": self.pipeline, "data": self.data}
        return map_graph(
            workload,
            cluster,
            stream=asked.stream,
            pins=asked.pins,
            micro_batches=self.count(cluster),
            degrees=factorisations(cluster.accelerators, **given) if any(given.values()) else None,
            tiles=self.tiles or None,
            choices=self._choices(workload),
            objective=self.objective,
            element=self.element,
            time_limit=self.limit,
            ends=True,
            recipe=MemoryRecipe.of(TrainingStep(model=workload, batch=1, backward=trains)) if asked.is_model else None,
            zero=1 if asked.is_model else 0,
        )

    def _choices(self, workload: Workload) -> FusionChoices:
        """How kernels may run together."""
        first = _trains(workload) if self.forward_first is None else self.forward_first
        return FusionChoices(
            overlap=self.overlap,
            stream_weights=self.stream_weights,
            tile_weights=self.tile_weights,
            fuse=self.fuse and self.execution != "kernels",
            partitions=self.partitions,
            forward_first=first,
        )

    def _stated(self, asked: GraphFile, cluster: Cluster, assumptions: StatedMapping) -> MappingAnswer:
        """With one degree of each kind, and one tile size at most."""
        given = {"tensor": self.tensor, "pipeline": self.pipeline, "data": self.data}
        found = factorisations(cluster.accelerators, **given)
        if len(found) > 1 or len(self.tiles) > 1:
            raise MappingError(
                f"assumptions state a mapping, but there are {len(found)} ways to share {cluster.accelerators} chips "
                f"and {len(self.tiles) or 'no'} tile sizes; give one of tensor, pipeline and data, and one of tiles"
            )
        ((tensor, pipeline, data),) = found
        return map_stated(
            asked.workload,
            cluster,
            assumptions,
            tensor=tensor,
            pipeline=pipeline,
            data=data,
            micro_batches=self.count(cluster),
            stream=asked.stream,
            tile=next(iter(self.tiles), None),
            choices=self._choices(asked.workload),
            element=self.element,
            time_limit=self.limit,
        )

    def _by_kernels(self, workload: Workload, cluster: Cluster) -> MappingAnswer:
        """Kernel by kernel: 1F1B, ZeRO-1, activations kept or recomputed."""
        # Refuses what makes no sense.
        factorisations(cluster.accelerators, tensor=self.tensor, pipeline=self.pipeline, data=self.data)
        trains = _trains(workload)
        size = int(workload.sizes.get("batch", 1))
        step = TrainingStep(model=workload, batch=self.count(cluster) * size, element=self.element, backward=trains)
        space = Space(
            tensor=tuple(self.tensor),
            pipeline=tuple(self.pipeline),
            micro_batch=(size,),
            largest_micro_batch=size,
            interleave=(1,),
            schedule=(Schedule.ONE_FORWARD_ONE_BACKWARD,),
            zero=(1,),
            recompute=(Recompute.NONE, Recompute.FULL) if trains else (Recompute.NONE,),
            expert_tensor_parallel=(True,),
        )
        return map_kernels(step, cluster, space, data=self.data, split=self.sharding == "any", time_limit=self.limit)


def _trains(workload: Workload) -> bool:
    return any(op.phase is Phase.BACKWARD for block in workload.blocks for op in block.operations)
