"""Mappings that are stated, on machines of the catalogue."""

from dataclasses import replace

import pytest

from volvelle.catalogue import Catalogue
from volvelle.errors import MappingError
from volvelle.estimators.dataflow.on_chip import FusionChoices
from volvelle.estimators.dataflow.stated_problem import StatedMapping
from volvelle.search.graph.answer import MappingAnswer
from volvelle.search.stated import map_stated
from volvelle.system.cluster import Cluster
from volvelle.workload.families.gpt_layer import GptLayer, gpt_layer_training
from volvelle.workload.families.transformer import transformer
from volvelle.workload.graph import Workload

NODES = Catalogue().cluster("dgx-h100/16")
LAYERS = gpt_layer_training(GptLayer(name="four", hidden=1024, heads=16, head_dim=64, ffn=4096, sequence=256, layers=4))
MEGATRON = StatedMapping(split=("heads", "ffn"), matrix_share=0.9)


def answer(workload: Workload = LAYERS, cluster: Cluster = NODES, micro_batches: int = 32) -> MappingAnswer:
    return map_stated(
        workload,
        cluster,
        MEGATRON,
        tensor=8,
        pipeline=2,
        data=1,
        micro_batches=micro_batches,
        stream="position",
        tile=None,
        choices=FusionChoices(fuse=False),
        element="bf16",
    )


def switched(cluster: Cluster) -> Cluster:
    """With plain switches in place of its fat tree."""
    inner, outer = cluster.dimensions
    return replace(cluster, dimensions=(inner, replace(outer, topology=inner.topology)))


def test_its_time_is_the_interval_of_a_layer_as_often_as_it_runs_with_fill_and_hand_over() -> None:
    found = answer(cluster=switched(NODES))
    assert found.proven
    assert found.plan is not None
    interval = sum(part.time for part in found.plan.blocks[0].partitions)
    handed = 2 * 1024 * 256 * 2 * 4 / float(NODES.dimensions[-1].link.rate)
    assert found.time == pytest.approx(interval * 2 * 32 * (1 + 1 / 32) + handed, rel=1e-12)
    assert found.bound == pytest.approx(found.time, rel=1e-12)
    assert found.plan.memory_bytes > 0


def test_a_chip_that_cannot_hold_its_layers_says_so() -> None:
    small = switched(NODES)
    memory = replace(small.chip.memory, capacity=1e6)
    found = answer(cluster=replace(small, chip=replace(small.chip, memories=(memory,))))
    assert found.plan is None
    assert found.violations[0].name == "dram"


def test_a_model_of_several_blocks_is_refused_with_what_to_do() -> None:
    with pytest.raises(MappingError, match="gpt_layer_only"):
        answer(transformer(Catalogue().model("llama3-8b")))
