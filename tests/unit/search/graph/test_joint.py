"""Any graph on any machine: layouts are found, not told; stages are cut where it is best; what cannot be is refused."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.conftest import arithmetic, small_chip
from volvelle import (
    REPLICATED,
    Block,
    BlockBuilder,
    Catalogue,
    Cluster,
    Collective,
    Dimension,
    Link,
    MappingError,
    Ring,
    Transformer,
    UnknownNameError,
    Workload,
    split,
    transformer,
    with_backward,
)
from volvelle.estimators.dataflow.on_chip import FusionChoices, OnChip
from volvelle.search.graph.answer import MappingAnswer
from volvelle.search.graph.joint import map_graph
from volvelle.search.graph.network import factorisations, placements
from volvelle.search.graph.sharding import TIES, Sharder, Sharding
from volvelle.search.graph.sharding_times import ShardingTimes
from volvelle.search.graph.stages import cut_chain, homes, segments
from volvelle.workload.families.gpt_layer import GptLayer, gpt_layer, gpt_layer_training
from volvelle.workload.tensor_layout import TensorLayout

GPT3 = GptLayer(name="GPT3 175B", hidden=12288, heads=96, head_dim=128, ffn=49152, sequence=2048, layers=96)
GPT3_1T = GptLayer(name="GPT3 1T", hidden=25600, heads=160, head_dim=160, ffn=102400, sequence=2048, layers=128)
SENT = {
    Collective.ALL_REDUCE: 2.0,
    Collective.REDUCE_SCATTER: 1.0,
    Collective.ALL_GATHER: 1.0,
    Collective.ALL_TO_ALL: 1.0,
}


def ring(degree: int, workload: Workload, *, rate: float = 50e9) -> ShardingTimes:
    return ShardingTimes(
        work=arithmetic(workload.sizes, degree, rate=300e12),
        exchange=lambda collective, size: SENT[collective] * (degree - 1) / degree * size / rate,
    )


def machine(*sizes: int, rate: float = 50e9, latency: float = 0.0) -> Cluster:
    return Cluster(
        name="torus",
        chip=small_chip(),
        dimensions=tuple(
            Dimension(
                name=f"d{place}",
                size=size,
                topology=Ring(),
                link=Link(name="link", rate=rate, latency=latency),
            )
            for place, size in enumerate(sizes)
        ),
    )


def sent(workload: Workload, found: Sharding) -> float:
    """Bytes around a ring, but for the factor (p − 1)/p."""
    tensors = found.sharded.block.tensor_of
    return sum(SENT[one.collective] * tensors[one.tensor].bytes(workload.sizes) for one in found.sharded.conversions)


def stream(block: Block, workload: Workload) -> float:
    """Bytes that a layer hands to the next."""
    return block.tensor_of[block.outputs[0]].bytes(workload.sizes)


def best_sharding(
    block: Block,
    sizes: Mapping[str, float],
    degree: int,
    costs: ShardingTimes,
    *,
    boundaries: Sequence[TensorLayout] | None = None,
    **more: Any,
) -> Sharding:
    """The first of all in order."""
    sharder = Sharder(block, sizes, boundaries=boundaries)
    ties = TIES if more.get("objective") == "bytes" else 0
    return next(sharder.in_order(sharder.timed(degree, costs, **more), ties=ties))


# -- sharding: found, not told -----------------------------------------------------------------------------------


@pytest.mark.parametrize("degree", [2, 8, 16, 32])
@pytest.mark.parametrize("shape", [GPT3, GPT3_1T], ids=lambda shape: shape.name)
def test_the_search_finds_megatrons_four_all_reduces_by_itself(shape: GptLayer, degree: int) -> None:
    workload = with_backward(gpt_layer(shape))
    found = best_sharding(workload.blocks[0], workload.sizes, degree, ring(degree, workload))
    block = workload.blocks[0]
    assert sent(workload, found) == 4 * SENT[Collective.ALL_REDUCE] * stream(block, workload)
    assert [found.sharded.dims[name] for name in ("q", "mha_gemm_1", "proj_gemm", "ffn0", "ffn1")] == [
        "heads",
        "heads",
        "heads",
        "ffn",
        "ffn",
    ]


def test_of_dfmodels_41_kernels_it_finds_the_three_all_reduces_whose_tensors_the_graph_has() -> None:
    # The fourth is of the gradient handed to the layer before, whose sum the graph leaves out.
    workload = gpt_layer_training(GPT3_1T)
    for degree in (4, 8, 32):
        found = best_sharding(workload.blocks[0], workload.sizes, degree, ring(degree, workload))
        talks = [(one.collective, one.tensor) for one in found.sharded.conversions]
        assert talks == [(Collective.ALL_REDUCE, name) for name in ("proj_gemm", "ffn1", "ffn0_bwd")]


def test_of_a_llama_layer_it_finds_as_many_bytes_as_four_all_reduces_too(catalogue: Catalogue) -> None:
    workload = with_backward(transformer(catalogue.model("llama3-8b"), sequence=4096))
    block = workload.block("layer")
    found = best_sharding(block, workload.sizes, 8, ring(8, workload))
    assert sent(workload, found) == pytest.approx(4 * SENT[Collective.ALL_REDUCE] * stream(block, workload))
    assert found.sharded.dims["attention_out"] == "kv_heads"
    assert found.sharded.dims["mlp_down"] == "ffn"


def test_fewest_bytes_gives_megatron_as_dfmodel_says() -> None:
    workload = gpt_layer_training(GPT3)
    found = best_sharding(
        workload.blocks[0],
        workload.sizes,
        8,
        ring(8, workload),
        objective="bytes",
        boundaries=(REPLICATED,),
        refused=("position", "key_position"),
    )
    assert {name for one in found.sharded.conversions for name in (one.tensor,)} == {"proj_gemm", "ffn1", "ffn0_bwd"}


def test_a_pinned_split_is_kept_and_what_cannot_be_split_is_refused() -> None:
    workload = gpt_layer(GPT3)
    block, costs = workload.blocks[0], ring(8, workload)
    found = best_sharding(block, workload.sizes, 8, costs, splits={"ffn0": "hidden"})
    assert found.sharded.dims["ffn0"] == "hidden"
    with pytest.raises(MappingError, match="'ffn0' is to be split along 'heads', but it can along"):
        best_sharding(block, workload.sizes, 8, costs, splits={"ffn0": "heads"})
    with pytest.raises(UnknownNameError, match="ffn9"):
        best_sharding(block, workload.sizes, 8, costs, splits={"ffn9": "ffn"})


def test_what_the_degree_does_not_divide_is_not_split() -> None:
    workload = gpt_layer(replace(GPT3, heads=12, head_dim=1024))
    block, costs = workload.blocks[0], ring(8, workload)
    found = best_sharding(block, workload.sizes, 8, costs, refused=("position", "key_position", "head_dim"))
    assert "heads" not in found.sharded.dims.values()


def test_shardings_in_order_differ_in_what_they_cost() -> None:
    workload = gpt_layer(GPT3)
    sharder = Sharder(workload.blocks[0], workload.sizes)
    found = sharder.in_order(sharder.timed(8, ring(8, workload)))
    first = [next(found) for _ in range(20)]
    assert [one.cost for one in first] == sorted(one.cost for one in first)
    marks = {(tuple(one.sharded.dims.items()), one.boundary) for one in first}
    assert len(marks) == 20


# -- stages ------------------------------------------------------------------------------------------------------


def layer(repeat: int) -> Workload:
    """Four products of equal work, too large to share the SRAM."""
    b = BlockBuilder("layer")
    stream = b.input("x", "rows wide")
    for number in range(4):
        weight = b.weight(f"w{number}", "wide other" if number % 2 == 0 else "other wide")
        ends = ("wide", "other") if number % 2 == 0 else ("other", "wide")
        stream = b.contract(f"k{number}", f"rows {ends[0]}, {ends[0]} {ends[1]} -> rows {ends[1]}", stream, weight)
    sizes = {"rows": 64, "wide": 64, "other": 64}
    return Workload(name="layers", sizes=sizes, blocks=(b.build(outputs=(stream,), repeat=repeat),))


def staged(workload: Workload, stages: int, **more: object) -> MappingAnswer:
    chip = OnChip(cores=4, width=4, height=4, clock=1e6, sram=20e3, dram_rate=1e9, utilisation=1.0)
    return map_graph(
        workload,
        machine(stages, rate=1e9),
        stream="rows",
        tiles=(8,),
        degrees=[(1, stages, 1)],
        micro_batches=8,
        chip=chip,
        **more,  # type: ignore[arg-type]
    )


def test_layers_that_stages_do_not_divide_are_cut_inside() -> None:
    found = staged(layer(5), 4)
    plan = found.plan
    assert plan is not None
    whole, cut = plan.blocks[0].timing.time, plan.slowest
    between = 2 * whole  # of five layers some stage gets two
    assert cut < 0.7 * between
    assert cut >= 5 / 4 * whole
    assert any(piece.partitions is not None for stage in plan.stages for piece in stage.pieces)
    assert found.bound <= found.time


def test_layers_that_stages_divide_are_cut_between_and_proven() -> None:
    found = staged(layer(8), 4)
    assert found.proven
    assert found.plan is not None
    assert all(piece.partitions is None and piece.copies == 2 for one in found.plan.stages for piece in one.pieces)


def test_a_graph_that_does_not_repeat_is_cut_together_with_its_fusion() -> None:
    found = staged(layer(1), 2)
    assert found.proven
    assert found.plan is not None
    assert [stage.pieces[0].partitions for stage in found.plan.stages] == [(0, 1), (2, 3)]


def test_a_backward_operation_runs_on_the_stage_of_its_forward_operation() -> None:
    found = staged(with_backward(layer(3)), 2)
    plan = found.plan
    assert plan is not None
    block, home = plan.blocks[0], homes(plan.blocks[0].sharded.block)
    places: dict[tuple[int, str], set[int]] = {}
    for number, stage in enumerate(plan.stages):
        for piece in stage.pieces:
            wanted = range(len(block.fusion.partitions)) if piece.partitions is None else piece.partitions
            for copy in range(piece.first, piece.first + piece.copies):
                for place in wanted:
                    for name in block.fusion.partitions[place]:
                        places.setdefault((copy, home[name]), set()).add(number)
    assert all(len(where) == 1 for where in places.values())
    parts = [place for part in segments(block.sharded.block, block.fusion) for place in part]
    assert sorted(parts) == [place for place, names in enumerate(block.fusion.partitions) if names]


def test_a_dear_hand_over_is_worth_an_idle_stage() -> None:
    assert cut_chain([1.0, 1.0], [5.0], 2).starts == (0,)
    assert cut_chain([1.0, 1.0], [0.5], 2).slowest == 1.5
    with pytest.raises(MappingError, match="3 items has 2 places to cut, not 1"):
        cut_chain([1.0, 1.0, 1.0], [0.0], 2)


# -- everything together -----------------------------------------------------------------------------------------


def test_degrees_are_every_way_to_use_all_chips_on_every_dimension() -> None:
    assert len(factorisations(1024)) == 66
    found = placements(machine(2, 4), [(2, 2, 2)])
    assert {one.group("tensor").spans for one in found} == {(("d0", 2),), (("d1", 2),)}
    assert factorisations(8, tensor=(4,), data=(2,)) == ((4, 1, 2),)
    with pytest.raises(MappingError, match="no tensor × pipeline × data"):
        factorisations(8, tensor=(3,))
    with pytest.raises(MappingError, match="2 × 2 × 3, but 'torus' has 8 chips"):
        placements(machine(2, 4), [(2, 2, 3)])


def test_gpt3_1t_on_1024_sn30_is_mapped_and_proven() -> None:
    chip = OnChip(
        cores=1280,
        width=32,
        height=6,
        clock=1.25e9,
        sram=640 * 2**20,
        dram_rate=3072e9,
        dram_capacity=96 * 2**30,
        utilisation=0.9,
    )
    found = map_graph(
        gpt_layer_training(GPT3_1T),
        machine(8, 128),
        stream="position",
        tiles=(16, 64),
        micro_batches=3072,
        chip=chip,
    )
    plan = found.plan
    assert found.proven
    assert plan is not None
    assert plan.degrees.chips == 1024
    assert plan.utilisation > 0.87
    assert plan.memory_bytes <= plan.capacity
    assert plan.boundary in (split("position"), split("hidden"))
    assert sum(plan.parts().values()) == pytest.approx(plan.time)


def test_a_whole_model_is_mapped_block_by_block_with_one_layout_between() -> None:
    shape = Transformer(
        name="small", layers=4, hidden=256, heads=8, kv_heads=8, head_dim=32, ffn=1024, vocabulary=1024, sequence=128
    )
    found = map_graph(
        with_backward(transformer(shape)), machine(4), stream="position", tiles=(16,), micro_batches=8, time_limit=5.0
    )
    plan = found.plan
    assert plan is not None
    assert [block.name for block in plan.blocks] == ["embedding", "layer", "head"]
    assert sum(block.repeat * block.timing.time for block in plan.blocks) == pytest.approx(
        sum(stage.time - stage.hand_over for stage in plan.stages)
    )
    assert found.bound <= found.time


def test_what_the_dram_cannot_hold_is_an_answer_with_the_bytes() -> None:
    found = staged(with_backward(layer(8)), 2)
    assert found.feasible
    chip = OnChip(cores=4, width=4, height=4, clock=1e6, sram=20e3, dram_rate=1e9, dram_capacity=1e5, utilisation=1.0)
    none = map_graph(with_backward(layer(8)), machine(2), stream="rows", tiles=(8,), micro_batches=8, chip=chip)
    assert none.plan is None
    assert none.proven
    assert none.time == float("inf")
    assert any(one.name == "dram" and "of DRAM" in one.problem for one in none.violations)


def test_what_the_sram_cannot_hold_is_an_answer_with_the_bytes() -> None:
    chip = OnChip(cores=4, width=4, height=4, clock=1e6, sram=1e3, dram_rate=1e9, utilisation=1.0)
    choices = FusionChoices(stream_weights=True)
    none = map_graph(layer(2), machine(2), stream="rows", tiles=(8,), micro_batches=8, chip=chip, choices=choices)
    assert none.plan is None
    assert any(one.name == "sram" and "of SRAM" in one.problem for one in none.violations)


def test_kernels_one_by_one_take_no_less_than_fused_and_fewest_bytes_no_less_than_fewest_seconds() -> None:
    workload, cluster = gpt_layer(replace(GPT3, layers=4)), machine(8)
    chip = OnChip(cores=640, width=32, height=6, clock=1.25e9, sram=320 * 2**20, dram_rate=100e9, utilisation=0.9)

    def step(**more: object) -> float:
        found = map_graph(
            workload,
            cluster,
            stream="position",
            tiles=(64, 256),
            degrees=[(8, 1, 1)],
            chip=chip,
            time_limit=20.0,
            **more,  # type: ignore[arg-type]
        )
        assert found.plan is not None
        return found.time

    fused = step(choices=FusionChoices(tile_weights=True))
    assert step(choices=FusionChoices(tile_weights=True, fuse=False)) > fused
    assert step(choices=FusionChoices(tile_weights=True), objective="bytes", refused=("position",)) >= fused


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"micro_batches": 0}, "at least one"),
        ({"pins": {"nobody": {}}}, "there is no block 'nobody'"),
        ({"stream": None, "tiles": (4,)}, "name the dimension that is cut into tiles"),
        ({"stream": "rows", "tiles": (128,)}, "it lies between 1 and 64"),
        ({"stream": "nothing", "tiles": None}, "there is no dimension 'nothing'"),
        ({"degrees": [(3, 1, 1)]}, "the product must be the number of chips"),
    ],
)
def test_questions_that_make_no_sense_are_refused(given: dict[str, object], said: str) -> None:
    asked = {"stream": "rows", "tiles": (8,), "micro_batches": 4} | given
    with pytest.raises((MappingError, UnknownNameError), match=said):
        map_graph(layer(2), machine(2), **asked)  # type: ignore[arg-type]
