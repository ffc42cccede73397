"""Kernels of a chip where the split is stated."""

import pytest

from volvelle.errors import MappingError, UnknownNameError
from volvelle.estimators.dataflow.on_chip import FusionChoices, FusionProblem, OnChip
from volvelle.estimators.dataflow.stated_problem import StatedMapping, stated_problem, without_tables
from volvelle.estimators.plain_network import PlainDimension, PlainNetwork
from volvelle.workload.families.dlrm import Dlrm, EmbeddingTables, dlrm
from volvelle.workload.families.gpt_layer import GptLayer, gpt_layer_training
from volvelle.workload.families.hpl import Hpl, hpl
from volvelle.workload.graph import Workload
from volvelle.workload.transforms import with_backward

CHIP = OnChip(cores=1, width=1, height=1, clock=1e12, sram=1e9, dram_rate=1e12, utilisation=0.5)
LAYER = gpt_layer_training(GptLayer(name="small", hidden=64, heads=8, head_dim=8, ffn=256, sequence=32))
SHAPE = Dlrm(
    name="rows",
    dense=16,
    bottom=(16, 16),
    top=(16,),
    tables=(EmbeddingTables(count=3, rows=100, width=4, pooling=2),),
    interaction="apart",
    activation=False,
)


def problem(workload: Workload, stated: StatedMapping, *, tensor: int = 4, data: int = 1) -> FusionProblem:
    sizes = [one for one in (tensor, data) if one > 1]
    network = PlainNetwork(dimensions=tuple(PlainDimension(kind="ring", size=size, rate=1e9) for size in sizes))
    return stated_problem(workload, stated, CHIP, network, tensor=tensor, data=data, choices=FusionChoices(fuse=False))


def network_times(found: FusionProblem) -> dict[str, float]:
    return {kernel.name: kernel.network_time for kernel in found.kernels if kernel.network_time}


def test_a_layer_has_three_all_reduces_and_a_fourth_where_it_is_stated() -> None:
    three = network_times(problem(LAYER, StatedMapping(split=("heads", "ffn"))))
    four = network_times(problem(LAYER, StatedMapping(split=("heads", "ffn"), summed=("q_bwd",))))
    assert set(four) - set(three) == {"q_bwd"}
    assert len(four) == 4
    assert len(set(four.values())) == 1


def test_a_kernel_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(UnknownNameError, match="q_bwd"):
        problem(LAYER, StatedMapping(split=("heads",), summed=("q_back",)))
    with pytest.raises(UnknownNameError, match="bottom_1_layer"):
        problem(with_backward(dlrm(SHAPE, batch=4)), StatedMapping(tables_beside=("bottom_7_layer",)), tensor=1, data=2)


def test_rows_of_tables_are_fetched_beside_a_kernel_and_their_operations_are_gone() -> None:
    whole = with_backward(dlrm(SHAPE, batch=4))
    dense, rows = without_tables(whole)
    assert rows == SHAPE.rows_bytes(4)
    found = problem(whole, StatedMapping(tables_beside=("bottom_2_layer",), gradient_rate=1e9), tensor=1, data=2)
    by_name = {kernel.name: kernel for kernel in found.kernels}
    assert set(by_name) == {op.name for op in dense.blocks[0].operations}
    assert by_name["bottom_2_layer"].extra_bytes == rows
    updates = [kernel for kernel in found.kernels if kernel.name.endswith("_weight")]
    assert len(updates) == 3
    assert all(kernel.network_time == pytest.approx(2 * 16 * 16 * 4 / 1e9) for kernel in updates)


def test_a_workload_without_tables_has_none_to_fetch() -> None:
    with pytest.raises(MappingError, match="looks nothing up"):
        without_tables(LAYER)


def test_a_grid_shares_rows_and_columns_and_hands_panels_round() -> None:
    matrix = hpl(Hpl(name="lu", order=64, block=8, steps=3, element="bf16"))
    found = problem(matrix, StatedMapping(grid=True), tensor=4, data=2)
    first = found.kernels[0]
    assert first.work == pytest.approx(matrix.blocks[0].operations[0].kind.work().flops(matrix.sizes) / 8)
    assert first.network_time == pytest.approx(64 * 8 * 2 / 2 / 1e9)
    with pytest.raises(MappingError, match="no dimensions row and column"):
        problem(LAYER, StatedMapping(grid=True))
