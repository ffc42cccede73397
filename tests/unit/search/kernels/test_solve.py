"""Mapping kernel by kernel: the same physics as an estimate, and no split better than the best it finds."""

from dataclasses import replace
from itertools import product

import pytest

import volvelle
from tests.conftest import small_cluster
from volvelle import BlockBuilder, Catalogue, ClosedForm, ParallelMapping, TrainingStep, Workload
from volvelle.mapping.parallelism import Recompute, Schedule
from volvelle.mapping.sharding import TensorSharding
from volvelle.search.kernels.solve import map_kernels
from volvelle.search.space import Space
from volvelle.workload.tensor_layout import REPLICATED, split

SPACE = Space(
    micro_batch=(4,),
    interleave=(1,),
    schedule=(Schedule.ONE_FORWARD_ONE_BACKWARD,),
    zero=(1,),
    recompute=(Recompute.NONE,),
)


def mlp(**sizes: float) -> Workload:
    b = BlockBuilder("mlp")
    x = b.input("x", "batch hidden")
    up = b.contract("up", "batch hidden, hidden ffn -> batch ffn", x, b.weight("w1", "hidden ffn"))
    act = b.pointwise("act", "batch ffn -> batch ffn", up, saves=(0,))
    y = b.contract("down", "batch ffn, ffn hidden -> batch hidden", act, b.weight("w2", "ffn hidden"))
    sizes = {"batch": 4, "hidden": 8192, "ffn": 32768, **sizes}
    return Workload(name="mlp", sizes=sizes, blocks=(b.build(outputs=(y,), repeat=4),))


@pytest.mark.parametrize(
    ("model", "system", "tensor", "pipeline"),
    [
        ("llama3-8b", "dgx-h100/64", 4, 2),
        ("mixtral-8x7b", "dgx-h100/64", 8, 1),
        ("deepseek-v2-lite", "dgx-a100/128", 2, 4),
        ("gemma3-27b", "tpu-v5p-pod/64", 8, 1),
    ],
)
def test_with_megatrons_splits_a_mapping_takes_what_its_estimate_says(
    catalogue: Catalogue, model: str, system: str, tensor: int, pipeline: int
) -> None:
    cluster = catalogue.cluster(system)
    data = cluster.accelerators // tensor // pipeline
    answer = volvelle.map(
        model,
        on=cluster,
        execution="kernels",
        sharding="megatron",
        tensor=(tensor,),
        pipeline=(pipeline,),
        data=(data,),
        micro_batches=8 * cluster.accelerators,
    )
    plan = answer.mapping.plan
    assert plan is not None
    same = volvelle.estimate(model, on=cluster, batch=8 * cluster.accelerators, mapping=plan.mapping)
    assert plan.time == pytest.approx(same.estimate.time, rel=1e-9)
    assert plan.memory_bytes == pytest.approx(same.estimate.memory_bytes, rel=1e-9)
    assert answer.parameters == same.parameters
    assert answer.flops == pytest.approx(same.flops, rel=1e-12)


def test_what_a_search_finds_is_the_closed_form_of_what_it_names(catalogue: Catalogue) -> None:
    cluster = catalogue.cluster("dgx-h100/8")
    answer = volvelle.map("llama3-8b", on=cluster, limit=4)
    plan = answer.mapping.plan
    assert plan is not None
    step = TrainingStep(model=volvelle.transformer(catalogue.model("llama3-8b")), batch=64)
    again = ClosedForm().estimate(step, cluster, plan.mapping)
    assert again.time == pytest.approx(plan.time, rel=1e-9)
    assert again.memory_bytes == pytest.approx(plan.memory_bytes, rel=1e-9)
    assert answer.mapping.bound <= plan.time


def test_no_split_of_a_small_network_is_better_than_the_one_found() -> None:
    cluster = small_cluster()
    step = TrainingStep(model=mlp(), batch=4 * 32)
    found = map_kernels(step, cluster, replace(SPACE, tensor=(8,), pipeline=(1,)), time_limit=20)
    assert found.plan is not None
    mapping = replace(found.plan.mapping, sequence_parallel=False)
    times = []
    for boundary in (REPLICATED, split("hidden")):
        for up, act, down in product(("hidden", "ffn", None), ("ffn", None), ("hidden", "ffn", None)):
            sharding = TensorSharding.of({"mlp": {"up": up, "act": act, "down": down}}, boundary)
            estimate = ClosedForm().estimate(step, cluster, replace(mapping, sharding=sharding))
            if estimate.feasible:
                times.append(estimate.time)
    assert found.time <= min(times) * (1 + 1e-9)
    assert found.bound <= min(times)


def test_a_model_that_is_asked_for_is_the_model_that_is_mapped(catalogue: Catalogue) -> None:
    answer = volvelle.map("mixtral-8x7b", on="dgx-h100/64", sharding="megatron")
    assert answer.parameters == volvelle.transformer(catalogue.model("mixtral-8x7b")).parameters()
    assert answer.execution == "kernels"
    assert "3 blocks" in answer.graph


def test_the_forward_pass_alone_takes_a_third_and_keeps_nothing_for_later(catalogue: Catalogue) -> None:
    cluster = catalogue.cluster("dgx-h100/8")
    step = TrainingStep(model=volvelle.transformer(catalogue.model("llama3-8b")), batch=8)
    layout = ParallelMapping(tensor=8, sequence_parallel=True, recompute=Recompute.NONE)
    both = ClosedForm().estimate(step, cluster, layout)
    alone = ClosedForm().estimate(replace(step, backward=False), cluster, layout)
    assert 0.28 < alone.time / both.time < 0.38
    parts = {part.name: part.bytes for part in alone.memory}
    assert parts["gradients"] == parts["optimiser state"] == 0
    assert 0 < parts["activations"] < sum(part.bytes for part in both.memory if part.name == "activations") / 4
    assert alone.work == pytest.approx(both.work / 3, rel=1e-9)


def test_a_limit_of_a_few_seconds_is_kept() -> None:
    answer = volvelle.map("deepseek-v3", on="dgx-h100/1024", limit=2)
    assert answer.mapping.seconds < 2 + 8  # the closed form of all layouts and the split under way come on top
    assert answer.mapping.bound <= answer.mapping.time
