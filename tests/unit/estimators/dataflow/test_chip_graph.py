"""From a block split over chips to one chip's kernels: sizes as by hand, and DFModel's table VI out of declarations."""

from collections.abc import Mapping

import pytest

from tests.unit.search.fusion.gpt_layer_problem import SN10, TILES
from volvelle import BlockBuilder, Catalogue, MappingError, Workload, with_backward
from volvelle.estimators.calibration import FittedConstants
from volvelle.estimators.dataflow.chip_graph import ChipGraph, on_chip
from volvelle.estimators.dataflow.on_chip import FusionChoices, FusionProblem
from volvelle.laws.onchip_dataflow import array_peak
from volvelle.mapping.sharding import by_dimension, shard
from volvelle.search.fusion.solve import best_tile
from volvelle.workload.families.gpt_layer import GptLayer, gpt_layer
from volvelle.workload.operations import Unit
from volvelle.workload.tensor_layout import Collective

LAYER = gpt_layer(GptLayer(name="GPT-3 175B", hidden=12288, heads=96, head_dim=128, ffn=49152, sequence=2048))
LINK = 25e9
VENDOR = {"q": 0, "k": 0, "v": 0, "mha_gemm_1": 1, "mha_gemm_2": 1, "proj_gemm": 1, "ffn0": 2, "ffn1": 3}


def layer(degree: int) -> ChipGraph:
    block = LAYER.blocks[0]
    return ChipGraph(
        sharded=shard(block, by_dimension(block, ("heads", "ffn"))),
        sizes=LAYER.sizes,
        degree=degree,
        stream="position",
        exchange=lambda collective, size: (degree - 1) / degree * size / LINK,
    )


def problem(tile: int, *, degree: int = 8, pins: Mapping[str, int] | None = None, fuse: bool = True) -> FusionProblem:
    return layer(degree).problem(SN10, tile=tile, pins=pins, choices=FusionChoices(fuse=fuse))


@pytest.mark.parametrize(
    ("milliseconds", "changes"),
    [
        (22.138, {"fuse": False}),
        (5.411, {"pins": VENDOR}),
        (4.640, {"pins": VENDOR | {"proj_gemm": 2}}),
        (3.964, {}),
        (2 * 3.586, {"degree": 4}),
    ],
)
def test_declarations_give_table_six(milliseconds: float, changes: dict[str, object]) -> None:
    found = best_tile({tile: problem(tile, **changes) for tile in TILES})  # type: ignore[arg-type]
    assert found.proven
    assert found.answer is not None
    assert found.answer.time * 1e3 == pytest.approx(milliseconds, rel=2e-4)


def test_a_product_streams_along_its_columns() -> None:
    kernels = {kernel.name: kernel for kernel in problem(256).kernels}
    q, scores, gelu = kernels["q"], kernels["mha_gemm_1"], kernels["gelu"]
    assert (q.rows, q.depth, q.columns) == (96 // 8 * 128, 12288, 256)
    assert (scores.rows, scores.depth, scores.columns) == (96 // 8 * 2048, 128, 256)
    assert (gelu.unit, gelu.rows, gelu.columns) == (Unit.VECTOR, 49152 // 8, 256)
    assert q.weight_bytes == 2 * 12288 * 12288 / 8


def test_collectives_belong_to_the_kernel_that_made_the_partial_sums() -> None:
    size = 2 * 2048 * 12288
    times = {kernel.name: kernel.network_time for kernel in problem(256).kernels if kernel.network_time}
    assert times == {name: pytest.approx(7 / 8 * size / LINK) for name in ("proj_gemm", "ffn1")}


def test_a_tensor_is_handed_over_in_parts_as_its_reader_is_split() -> None:
    sizes = {(one.producer, one.consumer): one.bytes for one in problem(2048).tensors}
    assert sizes["q", "mha_gemm_1"] == 2 * 2048 * 12288 / 8
    assert sizes["proj_gemm", "dropout_2"] == 2 * 2048 * 12288
    assert len(sizes) == 21


def test_a_pin_on_nothing_is_refused() -> None:
    with pytest.raises(MappingError, match="no kernel 'softmaxx' to pin"):
        problem(256, pins={"softmaxx": 1})


def test_weight_gradients_are_exchanged_with_replicas() -> None:

    b = BlockBuilder("mlp")
    y = b.contract(
        "up", "batch hidden, hidden ffn -> batch ffn", b.input("x", "batch hidden"), b.weight("w", "hidden ffn")
    )
    whole = with_backward(
        Workload(name="mlp", sizes={"batch": 4, "hidden": 8, "ffn": 16}, blocks=(b.build(outputs=(y,)),))
    )
    block = whole.blocks[0]
    graph = ChipGraph(
        sharded=shard(block, by_dimension(block, ("ffn",))),
        sizes=whole.sizes,
        degree=2,
        stream=None,
        exchange=lambda collective, size: 0.0,
        replicas=lambda collective, size: size if collective is Collective.ALL_REDUCE else 0.0,
    )
    times = [kernel.network_time for kernel in graph.problem(SN10).kernels if kernel.network_time]
    assert times == [2 * 8 * 16 / 2]


def test_a_catalogue_chip_keeps_its_peak_and_its_buffer() -> None:

    chip = Catalogue().chip("h100-sxm")
    fitted = FittedConstants(matrix_efficiency=0.7, memory_efficiency=0.9)
    found = on_chip(chip, "bf16", fitted=fitted)
    assert array_peak(found.cores, width=1, height=1, clock=found.clock) == pytest.approx(chip.matrix_rate("bf16"))
    assert found.sram == chip.buffer
    assert found.utilisation == 0.7
    assert found.dram_rate == 0.9 * chip.memory.rate
