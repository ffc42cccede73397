"""Optimisers see matrices as rows and columns, each weight once."""

import pytest

from tests.conftest import small_gpt, small_llama
from volvelle import Transformer
from volvelle.errors import UnknownNameError
from volvelle.workload.families.transformer import transformer
from volvelle.workload.optimisers import optimiser, trainable_shapes


@pytest.mark.parametrize("shape", [small_gpt(), small_llama()], ids=lambda shape: shape.name)
def test_shapes_hold_every_trainable_parameter_once(shape: Transformer) -> None:
    model = transformer(shape)
    assert sum(one.parameters for one in trainable_shapes(model)) == model.trainable_parameters()


def test_a_projection_to_heads_is_one_matrix() -> None:
    shape = small_llama()
    sides = {(one.rows, one.columns) for one in trainable_shapes(transformer(shape)) if one.in_layer and one.is_matrix}
    assert (shape.hidden, shape.heads * shape.head_dim) in sides
    assert (shape.ffn, shape.hidden) in sides


def test_an_optimiser_that_is_not_known_is_told_from_those_that_are() -> None:
    with pytest.raises(UnknownNameError, match="adam-8bit"):
        optimiser("adamw8bit")
