from dataclasses import replace

import pytest

from tests.conftest import small_gpt, small_llama
from volvelle import BlockBuilder, GraphError, Workload, transformer, with_backward
from volvelle.workload.operations import Phase, Unit


def mlp(sizes: dict[str, int] | None = None, **changes: object) -> Workload:
    b = BlockBuilder("mlp")
    x = b.input("x", "batch hidden")
    up = b.contract("up", "batch hidden, hidden ffn -> batch ffn", x, b.weight("w1", "hidden ffn"))
    act = b.pointwise("gelu", "batch ffn -> batch ffn", up, saves=(0,))
    y = b.contract("down", "batch ffn, ffn hidden -> batch hidden", act, b.weight("w2", "ffn hidden"))
    block = replace(b.build(outputs=(y,)), **changes)  # type: ignore[arg-type]
    return Workload(name="mlp", sizes=sizes or {"batch": 4, "hidden": 8, "ffn": 32}, blocks=(block,))


def test_backward_does_twice_the_matrix_work_of_forward() -> None:
    for shape in (small_gpt(), small_llama()):
        whole = with_backward(transformer(shape))
        assert whole.flops(phase=Phase.BACKWARD) == 2 * whole.flops(phase=Phase.FORWARD)


def test_every_weight_gets_one_gradient_of_its_own_shape() -> None:
    for block in with_backward(transformer(small_llama())).blocks:
        for weight in block.weights():
            assert block.tensor_of[f"{weight.name}.grad"].dims == weight.dims


def test_vector_work_is_counted_apart_from_matrix_work() -> None:
    assert mlp().flops(unit=Unit.VECTOR) == 4 * 32
    assert mlp().flops(unit=Unit.MATRIX) == 2 * 2 * 4 * 8 * 32


def test_sizes_can_be_changed_but_not_invented() -> None:
    assert mlp().with_sizes(batch=8).flops() == 2 * mlp().flops()
    with pytest.raises(GraphError.__mro__[1], match="no dimension 'bach'; did you mean 'batch'"):
        mlp().with_sizes(bach=8)


def test_a_cycle_is_refused_at_the_operation_that_closes_it() -> None:
    block = mlp().blocks[0]
    with pytest.raises(GraphError, match=r"block 'mlp': operation 'down' reads 'gelu'.*comes later.*cycle"):
        replace(block, operations=(block.operations[0], block.operations[2], block.operations[1]))


def test_a_dangling_tensor_is_named() -> None:
    with pytest.raises(GraphError, match="'up' reads 'x', which no operation produces"):
        mlp(inputs=())


def test_a_mismatched_dimension_is_named_with_both_sizes() -> None:
    b = BlockBuilder("bad")
    x = b.input("x", "batch hidden")
    y = b.contract("up", "batch ffn, ffn out -> batch out", x, b.weight("w", "ffn out"))
    with pytest.raises(GraphError, match=r"'up'.*'hidden' of 'x' \(size 8\) as 'ffn' \(size 32\)"):
        Workload(name="bad", sizes={"batch": 1, "hidden": 8, "ffn": 32, "out": 4}, blocks=(b.build(outputs=(y,)),))


def test_a_missing_size_is_asked_for() -> None:
    with pytest.raises(GraphError, match=r"dimension 'ffn'.*has no size"):
        mlp({"batch": 1, "hidden": 2})


def test_a_repeated_block_must_take_what_it_hands_on() -> None:
    b = BlockBuilder("grow")
    x = b.input("x", "batch hidden")
    y = b.contract("up", "batch hidden, hidden ffn -> batch ffn", x, b.weight("w", "hidden ffn"))
    with pytest.raises(GraphError, match="hands on"):
        Workload(name="g", sizes={"batch": 1, "hidden": 2, "ffn": 3}, blocks=(b.build(outputs=(y,), repeat=2),))


def test_a_tensor_read_twice_by_one_operation_gets_both_gradients() -> None:
    b = BlockBuilder("square")
    x = b.input("x", "batch hidden")
    y = b.contract("pairs", "batch hidden, other hidden -> batch other", x, x)
    sizes = {"batch": 4, "other": 4, "hidden": 8}
    whole = with_backward(Workload(name="square", sizes=sizes, blocks=(b.build(outputs=(y,)),)))
    assert whole.flops(phase=Phase.BACKWARD) == 2 * whole.flops()
    assert whole.blocks[0].operation_of["x.grad"].inputs == ("pairs.backward.x", "pairs.backward.x.1")
