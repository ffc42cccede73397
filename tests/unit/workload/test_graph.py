from dataclasses import replace

import pytest

from tests.conftest import small_gpt, small_llama
from volvelle import Block, BlockBuilder, GraphError, VolvelleError, Workload, transformer, with_backward
from volvelle.workload.families.attention import attention_core
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


# -- order ---------------------------------------------------------------------------------------------------------


def alternating(**changes: object) -> Workload:
    fields: dict[str, object] = {
        "name": "two kinds",
        "sizes": {"batch": 4, "hidden": 8, "ffn": 32},
        "blocks": (replace(mlp().blocks[0], name="a", repeat=3), replace(mlp().blocks[0], name="b", repeat=2)),
        "runs": (("a", 2), ("b", 1), ("a", 1), ("b", 1)),
    }
    return Workload(**(fields | changes))  # type: ignore[arg-type]


def test_blocks_follow_each_other_in_turn_unless_runs_say_otherwise() -> None:
    in_turn = alternating(runs=())
    assert in_turn.runs == (("a", 3), ("b", 2))
    assert in_turn.order == ("a", "a", "a", "b", "b")
    assert alternating().order == ("a", "a", "b", "a", "b")


def test_sums_do_not_depend_on_the_order() -> None:
    assert alternating().parameters() == alternating(runs=()).parameters() == 5 * mlp().parameters()
    assert alternating().flops() == alternating(runs=()).flops() == 5 * mlp().flops()


def test_the_backward_pass_keeps_the_order() -> None:
    assert with_backward(alternating()).runs == alternating().runs


def test_layers_are_what_can_stand_between_two_layers() -> None:
    workload = transformer(small_llama())
    assert workload.order == ("embedding", *("layer",) * 4, "head")
    assert workload.layer_order == ("layer",) * 4
    assert len(workload.layer_order) == workload.layers


@pytest.mark.parametrize(
    ("runs", "words"),
    [
        ((("a", 3), ("b", 1)), "'b' repeats 2 times, but its runs have 1"),
        ((("a", 3), ("b", 3), ("b", -1)), "a run of -1 of block 'b'"),
        ((("a", 3), ("c", 2)), "no block 'c'"),
    ],
)
def test_runs_that_do_not_add_up_are_refused(runs: tuple[tuple[str, int], ...], words: str) -> None:
    with pytest.raises(VolvelleError, match=words):
        alternating(runs=runs)


def test_two_blocks_of_one_name_are_refused() -> None:
    with pytest.raises(GraphError, match="two blocks named 'mlp'"):
        alternating(blocks=mlp().blocks * 2, runs=())


def test_neighbours_in_the_order_must_fit_not_neighbours_in_the_list() -> None:
    def block(name: str, taken: str, given: str) -> Block:
        b = BlockBuilder(name)
        signature = f"batch {taken}, {taken} {given} -> batch {given}"
        out = b.contract("by", signature, b.input("x", f"batch {taken}"), b.weight("w", f"{taken} {given}"))
        return b.build(outputs=(out,), repeat=2)

    sizes, blocks = {"batch": 1, "wide": 3, "small": 2}, (block("down", "wide", "small"), block("up", "small", "wide"))
    there_and_back = (("down", 1), ("up", 1)) * 2
    assert Workload(name="w", sizes=sizes, blocks=blocks, runs=there_and_back).order[2] == "down"
    with pytest.raises(GraphError, match=r"'down' hands on .* but block 'down' takes"):
        Workload(name="w", sizes=sizes, blocks=blocks)


# -- states and caches ---------------------------------------------------------------------------------------------


def test_one_query_against_a_cache_costs_one_row_of_scores_and_a_reading_of_the_cache() -> None:
    """A step of decoding: each of 32 heads of 128 meets n keys and values that 8 heads share and the chip keeps."""
    n, batch, kv_heads, group, head_dim = 5000, 3, 8, 4, 128
    b = BlockBuilder("decode")
    q = b.input("q", "batch position kv_heads group head_dim")
    k, v = (b.state(name, "batch key kv_heads head_dim") for name in ("keys", "values"))
    block = b.build(outputs=(attention_core(b, q, k, v),))
    sizes = {"batch": batch, "position": 1, "key": n, "kv_heads": kv_heads, "group": group, "head_dim": head_dim}
    step = Workload(name="decode", sizes=sizes, blocks=(block,))
    assert step.flops() == 2 * 2 * batch * kv_heads * group * n * head_dim
    assert [tensor.name for tensor in block.states()] == ["keys", "values"]
    assert sum(tensor.bytes(sizes) for tensor in block.states()) == 2 * 2 * batch * n * kv_heads * head_dim
    assert step.parameters() == 0


def test_what_is_kept_from_step_to_step_has_no_gradient() -> None:
    b = BlockBuilder("decode")
    q = b.input("q", "batch position kv_heads group head_dim")
    k, v = (b.state(name, "batch key kv_heads head_dim") for name in ("keys", "values"))
    sizes = {"batch": 1, "position": 2, "key": 6, "kv_heads": 1, "group": 1, "head_dim": 4}
    block = b.build(outputs=(attention_core(b, q, k, v),))
    (whole,) = with_backward(Workload(name="decode", sizes=sizes, blocks=(block,))).blocks
    assert "q.grad" in whole.tensor_of
    assert not {"keys.grad", "values.grad"} & set(whole.tensor_of)
