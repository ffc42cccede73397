"""Graphs of DFModel (arXiv:2412.16432) and the families they belong to.

Numbers said to be logged are those of the authors' public runs, GitHub kosho2013/DFModel at 62db227.
"""

from collections.abc import Callable
from itertools import pairwise

import pytest

from volvelle import Block, DescriptionError, GraphError, Operation, Phase, Workload, with_backward
from volvelle.mapping.sharding import shard
from volvelle.workload.families.dlrm import Dlrm, EmbeddingTables, dlrm
from volvelle.workload.families.fft import Fft, fft
from volvelle.workload.families.gpt_layer import GptLayer, gpt_layer, gpt_layer_training
from volvelle.workload.families.hpl import Hpl, hpl
from volvelle.workload.operations import Factorisation, Unit
from volvelle.workload.tensor_layout import PARTIAL, Collective, split

GPT3_1T = GptLayer(name="GPT3-1T", hidden=25600, heads=160, head_dim=160, ffn=102400, sequence=2048, layers=128)
GPT3_175B = GptLayer(name="GPT3-175B", hidden=12288, heads=96, head_dim=128, ffn=49152, sequence=2048, layers=96)
DLRM_793B = Dlrm(
    name="DLRM-793B",
    dense=6750,
    bottom=(6750,) * 5,
    top=(6750,) * 15,
    tables=(EmbeddingTables(count=600, rows=14_211_469, width=93, pooling=15),),
    interaction="apart",
    activation=False,
    element="bf16",
)

# Producer and consumer by DFModel's numbers of kernels, in the order in which its generators write them.
FORWARD = """
    1-2 2-3 2-4 2-5 3-6 4-6 6-7 7-8 5-9 8-9 9-10 10-11 11-12 1-12 12-13 13-14 14-15 15-16 16-17 17-18 12-18
"""
BACKWARD = """
    19-20 20-21 21-22 22-23 23-24 24-25 25-26 26-27 5-27 26-28 8-28 27-30 28-29 30-31 31-32 31-33 4-32 3-33 32-34
    33-35 20-36 15-36 22-37 13-37 25-38 9-38 28-39 2-39 33-40 2-40 32-41 2-41
"""


def kernels(block: Block, *, which: Callable[[Operation], bool] = lambda op: True) -> list[Operation]:
    return [op for op in block.operations if not op.fused and which(op)]


def edges(ops: list[Operation]) -> list[str]:
    number = {name: index for index, op in enumerate(ops, 1) for name in op.outputs}
    return [f"{number[name]}-{index}" for index, op in enumerate(ops, 1) for name in op.inputs if name in number]


def all_flops(workload: Workload) -> float:
    return sum(workload.flops(phase=phase, unit=unit) for phase in Phase for unit in Unit)


# -- a GPT layer -------------------------------------------------------------------------------------------------


def test_the_forward_layer_has_dfmodels_18_kernels_and_21_edges() -> None:
    ops = kernels(gpt_layer(GPT3_1T).blocks[0])
    assert len(ops) == 18
    assert len(edges(ops)) == 21
    assert sorted(edges(ops)) == sorted(FORWARD.split())


def test_the_training_layer_has_dfmodels_41_kernels_and_53_edges() -> None:
    ops = kernels(gpt_layer_training(GPT3_1T).blocks[0])
    assert len(ops) == 41
    assert len(edges(ops)) == 53
    assert sorted(edges(ops)) == sorted((FORWARD + BACKWARD).split())
    assert [op.name for op in ops[35:]] == [f"{name}_update" for name in ("ffn1", "ffn0", "proj", "v", "k", "q")]


@pytest.mark.parametrize(
    ("workload", "batch", "logged"),
    [
        (gpt_layer(GPT3_1T), 1 / 128, 32643670343680.0),  # LLM/joint_optimization: one layer, one sequence
        (gpt_layer(GPT3_175B), 2304, 1.6874003603411436e18),  # LLM/dataflow_mapping
        (gpt_layer_training(GPT3_1T), 3072, 3.85072240461978e19),  # LLM/Compare_w_existing/Calculon
        (gpt_layer_training(GPT3_1T), 4096, 5.13429653949304e19),  # LLM/Compare_w_existing/rail_only
        (gpt_layer_training(GPT3_175B), 8192, 1.79980267813444e19),  # LLM/Compare_w_existing/TPU
    ],
)
def test_a_layer_does_the_logged_work(workload: Workload, batch: float, logged: float) -> None:
    assert all_flops(workload) * batch == pytest.approx(logged, rel=1e-12)


def test_the_written_backward_pass_does_the_matrix_work_of_the_derived_one() -> None:
    written, derived = gpt_layer_training(GPT3_1T), with_backward(gpt_layer(GPT3_1T))
    assert written.flops(phase=Phase.BACKWARD) == derived.flops(phase=Phase.BACKWARD)
    assert len(kernels(derived.blocks[0])) > 41  # it also has what DFModel leaves out


def test_a_layer_without_heads_is_refused() -> None:
    with pytest.raises(DescriptionError, match="layer 'none': heads is 0"):
        GptLayer(name="none", hidden=8, heads=0, head_dim=4, ffn=8, sequence=2)


# -- recommendation ----------------------------------------------------------------------------------------------


def test_the_recommendation_model_has_dfmodels_60_kernels_and_76_edges() -> None:
    workload = with_backward(dlrm(DLRM_793B, batch=512))
    ops = kernels(workload.blocks[0], which=lambda op: op.part.endswith("layers"))
    assert len(ops) == 60
    assert len(edges(ops)) == 76


def test_the_recommendation_model_has_the_logged_work_and_bytes() -> None:
    workload = with_backward(dlrm(DLRM_793B, batch=512))
    matrix = workload.flops() + workload.flops(phase=Phase.BACKWARD)
    assert matrix * 128_000_000 == pytest.approx(3.5831808e20, rel=1e-12)  # DLRM/DSE/system
    assert DLRM_793B.tables[0].parameters == 792_999_970_200
    assert DLRM_793B.rows_bytes(512) == 857_088_000
    assert DLRM_793B.rows_bytes(512) / 1024 == 837_000  # to each of 1024 chips


def test_rows_change_hands_all_to_all_between_tables_and_samples() -> None:
    """Tables are split over chips and samples are split over chips, so what is looked up goes from all to all."""
    shape = Dlrm(
        name="small",
        dense=8,
        bottom=(4,),
        top=(1,),
        tables=(EmbeddingTables(count=16, rows=100, width=4, pooling=3),),
    )
    block = dlrm(shape, batch=32).blocks[0]
    dims: dict[str, str | None] = {op.name: "batch" for op in block.operations}
    spread = shard(block, dims | {"lookup_0": "tables_0"}, boundary=split("batch"))
    assert spread.collectives(Phase.FORWARD) == ((Collective.ALL_TO_ALL, "lookup_0"),)


def test_pairwise_products_of_a_published_model_count_as_by_hand() -> None:
    """MLPerf's DLRM: 13 numbers, 26 tables of width 128, 512-256-128 below and 1024-1024-512-256-1 above."""
    shape = Dlrm(
        name="mlperf",
        dense=13,
        bottom=(512, 256, 128),
        top=(1024, 1024, 512, 256, 1),
        tables=(EmbeddingTables(count=26, rows=1000, width=128),),
    )
    assert shape.top_input == 128 + 27 * 26 // 2 == 479
    widths = (13, 512, 256, 128), (479, 1024, 1024, 512, 256, 1)
    layers = sum(into * out for stack in widths for into, out in pairwise(stack))
    workload = dlrm(shape, batch=10)
    assert workload.flops() == 10 * 2 * (layers + 27 * 27 * 128)
    assert workload.parameters() == layers + 26 * 1000 * 128
    assert with_backward(workload).flops(phase=Phase.BACKWARD) == 2 * workload.flops()


def test_rows_laid_side_by_side_widen_the_top_stack() -> None:
    shape = Dlrm(
        name="wide",
        dense=13,
        bottom=(64,),
        top=(32, 1),
        tables=(EmbeddingTables(count=3, rows=10, width=16), EmbeddingTables(count=2, rows=99, width=8, pooling=5)),
        interaction="concatenate",
    )
    assert shape.top_input == 64 + 3 * 16 + 2 * 8
    workload = dlrm(shape, batch=4)
    assert workload.flops() == 4 * 2 * (13 * 64 + shape.top_input * 32 + 32)
    assert [op.name for op in workload.blocks[0].operations if op.part == "embeddings"] == [
        "lookup_0",
        "lookup_1",
        "pooling_1",
    ]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"bottom": ()}, "needs dense layers"),
        ({"dense": 0}, "dense is 0; it must be a whole number from 1"),
        ({"tables": ()}, "no tables to interact with"),
        ({"tables": (EmbeddingTables(count=1, rows=9, width=5),)}, r"as wide as the bottom stack's end \(4\), not 5"),
    ],
)
def test_a_recommendation_model_that_does_not_fit_together_is_refused(changes: dict[str, object], words: str) -> None:
    fields: dict[str, object] = {
        "name": "bad",
        "dense": 8,
        "bottom": (4,),
        "top": (1,),
        "tables": (EmbeddingTables(count=1, rows=9, width=4),),
    }
    with pytest.raises(DescriptionError, match=words):
        Dlrm(**(fields | changes))  # type: ignore[arg-type]


# -- linear algebra ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("order", "block", "logged"),
    [
        (65536, 1024, 192070937477120.0),  # HPL/Compare_w_existing/GPU/Circe
        (131072, 2048, 1536567499816960.0),  # …/Tethys
        (262144, 4096, 1.229253999853568e16),  # …/Selene, …/Eos
    ],
)
def test_64_updates_do_the_logged_work(order: int, block: int, logged: float) -> None:
    workload = hpl(Hpl(name="hpl", order=order, block=block, steps=64))
    ops = kernels(workload.blocks[0])
    assert (len(ops), len(edges(ops))) == (64, 63)
    assert all_flops(workload) == pytest.approx(logged, rel=1e-12)


def test_all_updates_come_to_two_thirds_of_the_cube() -> None:
    shape = Hpl(name="whole", order=1 << 14, block=1 << 6)
    assert len(shape.sides) == 256
    assert all_flops(hpl(shape)) == pytest.approx(2 / 3 * shape.order**3, rel=0.01)


def test_columns_of_a_factorisation_leave_partial_sums_and_rows_do_not() -> None:
    kind = hpl(Hpl(name="small", order=64, block=8)).blocks[0].operation_of["update_1"].kind
    assert isinstance(kind, Factorisation)
    left = {choice.dim: choice.outputs for choice in kind.choices()}
    assert left == {
        "row_1": (split("row_1"),),
        "column_1": (PARTIAL,),
        "panel": (split("panel"),),
        None: left[None],
    }
    assert kind.whole() == frozenset()
    assert not kind.sums()


def test_a_factorisation_has_no_gradient() -> None:
    block = hpl(Hpl(name="small", order=64, block=8)).blocks[0]
    assert with_backward(Workload(name="h", sizes=hpl(Hpl(name="s", order=64, block=8)).sizes, blocks=(block,)))
    op = block.operation_of["update_1"]
    with pytest.raises(GraphError, match="'update_1' is a step of a factorisation, which has no gradient"):
        op.kind.gradients(op, (True, True))


@pytest.mark.parametrize(
    ("block", "steps", "words"), [(65, None, "does not fit"), (8, 9, "there are 1 to 8"), (8, 0, "there are 1 to 8")]
)
def test_a_factorisation_with_impossible_sizes_is_refused(block: int, steps: int | None, words: str) -> None:
    with pytest.raises(DescriptionError, match=words):
        Hpl(name="bad", order=64, block=block, steps=steps)


# -- Fourier transforms ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("length", "logged"),
    [
        (231928000000, 140084490812284.0),  # FFT/Compare_w_existing/FP32/256
        (549756000000, 340848420555500.0),
        (1073740000000, 682898292614256.0),
        (1855430000000, 1209739123730412.0),
        (4398050000000, 2955487255461888.0),
    ],
)
def test_transforms_by_butterflies_of_two_do_the_logged_work(length: int, logged: float) -> None:
    workload = fft(Fft(name="fft", length=length, radix=2))
    assert all_flops(workload) == pytest.approx(logged, rel=1e-12)


def test_the_transform_of_a_trillion_points_is_two_products_of_depth_512() -> None:
    shape = Fft(name="FFT-1T", length=1 << 40, radix=32, element="bf16")
    workload = fft(shape)
    ops = kernels(workload.blocks[0])
    assert (shape.side, shape.depth) == (1 << 20, 512)
    assert (len(ops), len(edges(ops))) == (2, 1)
    assert workload.flops() == 2 * 2 * 512 * 2**40


def test_a_transform_spread_over_chips_changes_hands_all_to_all() -> None:
    workload = fft(Fft(name="fft", length=1 << 20))
    block = workload.blocks[0]
    dims: dict[str, str | None] = {"along_rows": "column", "along_columns": "row"}
    spread = shard(block, dims, boundary=split("column"))
    assert (Collective.ALL_TO_ALL, "along_rows") in spread.collectives(Phase.FORWARD)
    assert {found for found, _ in spread.collectives(Phase.FORWARD)} == {Collective.ALL_TO_ALL}
    for op in block.operations:
        assert {choice.dim for choice in op.kind.choices()} == {dims[op.name], None}


def test_the_usual_count_of_a_transform_is_five_n_log_n() -> None:
    shape = Fft(name="fft", length=1 << 20)
    assert all_flops(fft(shape)) == 5 * 2**20 * 20
    with pytest.raises(DescriptionError, match="not done as products"):
        _ = shape.depth


def test_a_transform_with_impossible_sizes_is_refused() -> None:
    with pytest.raises(DescriptionError, match="length 3"):
        Fft(name="bad", length=3)
    with pytest.raises(DescriptionError, match="size 1 does nothing"):
        Fft(name="bad", length=64, radix=1)
