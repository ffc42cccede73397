"""Linear attention by the gated delta rule."""

import pytest

from tests.conftest import small_llama
from volvelle import DeltaNet, LayerKind, Transformer, transformer
from volvelle.workload.graph import Block, Workload
from volvelle.workload.operations import Unit

NET = DeltaNet(value_heads=16, key_heads=4, key_dim=32, value_dim=64, chunk=16)


def shape(net: DeltaNet = NET) -> Transformer:
    return small_llama(pattern=(LayerKind.parse("delta net"), LayerKind.parse("mlp")), delta_net=net)


def mixer(workload: Workload) -> Block:
    return workload.block("delta net")


def test_a_delta_net_has_the_parameters_of_its_published_code() -> None:
    """In its names: in_proj_qkvz, in_proj_ba, conv1d, dt_bias and A_log, norm, out_proj; and the norm before it."""
    hidden, keys, values = 512, 4 * 32, 16 * 64
    workload = transformer(shape())
    counted = sum(tensor.elements(workload.sizes) for tensor in mixer(workload).weights())
    projections = hidden * (2 * keys + 2 * values) + hidden * 2 * 16 + values * hidden
    assert counted == projections + 4 * (2 * keys + values) + 2 * 16 + 64 + hidden


def test_its_recurrence_runs_as_products_whose_work_grows_with_the_chunk() -> None:
    small, large = (
        mixer(transformer(shape(DeltaNet(value_heads=16, key_heads=4, key_dim=32, value_dim=64, chunk=chunk))))
        .operation_of["state_scan"]
        .kind.work()
        for chunk in (16, 64)
    )
    assert small.unit is Unit.MATRIX
    assert small.per_point < large.per_point
    assert small.per_point == pytest.approx(6 + 6 * 16 / 64 + 4 * 16 / 32)


def test_tensor_parallelism_can_split_it_by_heads_of_keys() -> None:
    for name in ("state_query", "state_value", "state_scan", "state_out"):
        choices = mixer(transformer(shape())).operation_of[name].kind.choices()
        assert "state_groups" in {choice.dim for choice in choices}
