"""Transformers whose layers are of several kinds."""

from dataclasses import replace

import pytest

from tests.conftest import small_llama
from volvelle import Catalogue, DescriptionError, Phase, Transformer, Workload, transformer, with_backward
from volvelle.errors import UnknownNameError
from volvelle.mapping.sharding import by_dimension, shard
from volvelle.workload.families.shape import DeltaNet, Experts, LayerKind, Mamba, Mamba2, SparseIndex
from volvelle.workload.operations import Unit
from volvelle.workload.tensor_layout import split

LOCAL, GLOBAL = LayerKind.parse("local attention + mlp"), LayerKind.parse("attention + mlp")
MAMBA = Mamba(inner=1024, state=16, step_rank=32, norms=True)
NET = DeltaNet(value_heads=16, key_heads=4, key_dim=32, value_dim=64, chunk=16)
INDEX = SparseIndex(heads=4, dim=32, chosen=64)
MAMBA2 = Mamba2(heads=16, head_dim=64, groups=4, state=32, chunk=16)


def kinds(*texts: str) -> tuple[LayerKind, ...]:
    return tuple(LayerKind.parse(text) for text in texts)


def mixed(**changes: object) -> Transformer:
    return small_llama(layers=7, pattern=(LOCAL, LOCAL, GLOBAL), window=32, **changes)


def spaces() -> Transformer:
    """Mamba and attention, experts on every second layer."""
    pattern = kinds("mamba + mlp", "mamba + experts", "attention + mlp", "mamba + experts")
    return small_llama(layers=8, pattern=pattern, mamba=MAMBA, experts=Experts(count=8, chosen=2, ffn=256))


def apart() -> Transformer:
    """One part a layer, as in Nemotron-H."""
    return small_llama(layers=6, pattern=kinds("mamba2", "mlp", "attention"), mamba2=MAMBA2, activation="relu2")


def linear() -> Transformer:
    """Delta nets and gated attention, as in Qwen3-Next."""
    pattern = kinds("delta net + mlp", "delta net + mlp", "attention + mlp")
    return small_llama(layers=6, pattern=pattern, delta_net=NET, attention_gate=True)


def scores(workload: Workload, block: str) -> float:
    return workload.block(block).operation_of["scores"].kind.work().flops(workload.sizes)


SHAPES = [mixed(), spaces(), apart(), linear(), small_llama(sparse=INDEX)]


def test_a_pattern_goes_round_until_all_layers_are_named() -> None:
    workload = transformer(mixed())
    assert workload.layer_order == (str(LOCAL), str(LOCAL), str(GLOBAL)) * 2 + (str(LOCAL),)
    assert workload.runs[:3] == (("embedding", 1), ("local attention + mlp", 2), ("attention + mlp", 1))
    assert [(block.name, block.repeat) for block in workload.blocks[1:3]] == [(str(LOCAL), 5), (str(GLOBAL), 2)]


def test_a_pattern_of_one_kind_is_the_plain_model_under_another_name() -> None:
    plain, patterned = transformer(small_llama()), transformer(small_llama(pattern=(GLOBAL,)))
    assert patterned.parameters() == plain.parameters()
    assert patterned.flops() == plain.flops()
    assert patterned.blocks[1].operations == plain.blocks[1].operations


def test_local_attention_costs_its_window_of_scores_and_nothing_else_less() -> None:
    local, whole = transformer(mixed()), transformer(small_llama(layers=7))
    assert scores(local, str(LOCAL)) / scores(local, str(GLOBAL)) == 32 / 128
    assert whole.flops() - local.flops() == 5 * 2 * scores(local, str(GLOBAL)) * (1 - 32 / 128)
    assert local.parameters() == whole.parameters()
    block = local.block(str(LOCAL))
    kept, read = (block.tensor_of[name].bytes(local.sizes) for name in ("softmax", "key_rotation"))
    assert kept == 2 * 8 * 128 * 32
    assert read == 2 * 128 * 2 * 64


def test_a_window_longer_than_the_sequence_is_the_sequence() -> None:
    local = transformer(replace(mixed(), window=4096))
    assert local.flops() == transformer(small_llama(layers=7)).flops()


def test_a_window_is_never_split_but_positions_are() -> None:
    block = with_backward(transformer(mixed())).block(str(LOCAL))
    for name in ("scores", "context"):
        split_by = {choice.dim for choice in block.operation_of[name].kind.choices()}
        assert "position" in split_by
        assert "window" not in split_by
    spread = shard(block, by_dimension(block, ("position",)), boundary=split("position"))
    gathered = [found.tensor for found in spread.conversions if found.phase is Phase.FORWARD]
    assert gathered == ["key_rotation", "value"]


@pytest.mark.parametrize("shape", SHAPES, ids=["local", "mamba", "mamba2", "delta net", "sparse"])
def test_backward_does_twice_the_matrix_work_of_forward_in_every_kind_of_layer(shape: Transformer) -> None:
    whole = with_backward(transformer(shape))
    for block in whole.blocks:
        backward = block.flops(whole.sizes, phase=Phase.BACKWARD)
        assert backward == pytest.approx(2 * block.flops(whole.sizes), rel=1e-12)


@pytest.mark.parametrize("shape", SHAPES, ids=["local", "mamba", "mamba2", "delta net", "sparse"])
def test_every_weight_of_every_kind_of_layer_gets_a_gradient(shape: Transformer) -> None:
    for block in with_backward(transformer(shape)).blocks:
        for weight in block.weights():
            assert block.tensor_of[f"{weight.name}.grad"].dims == weight.dims


def test_only_local_attention_is_rotated_where_the_shape_says_so() -> None:
    workload = transformer(mixed(global_rotation=False))
    assert "query_rotation" in workload.block(str(LOCAL)).operation_of
    assert "query_rotation" not in workload.block(str(GLOBAL)).operation_of


def test_a_layer_of_one_part_has_one_norm_and_one_residual() -> None:
    workload = transformer(apart())
    assert [name for name, _ in workload.runs] == ["embedding", *("mamba2", "mlp", "attention") * 2, "head"]
    for name in ("mamba2", "mlp", "attention"):
        names = [op.name for op in workload.block(name).operations]
        assert sum(op.endswith("_residual") for op in names) == 1
        assert len({"attention_norm", "mlp_norm"} & set(names)) == 1


def test_a_state_space_has_the_parameters_of_its_published_code() -> None:
    """In its names: in_proj, conv1d, x_proj, dt_proj, A_log, D, out_proj, and the three norms of Jamba."""
    hidden, inner, state, rank = 512, 1024, 16, 32
    (first,) = (block for block in transformer(spaces()).blocks if block.name == "mamba + mlp")
    counted = sum(tensor.elements(transformer(spaces()).sizes) for tensor in first.weights())
    mixer = hidden * 2 * inner + inner * 4 + inner + inner * (rank + 2 * state) + rank * inner + inner
    mixer += inner * state + inner + inner * hidden + rank + 2 * state
    assert counted == mixer + 3 * hidden * 1408 + 2 * hidden


def test_the_recurrence_of_mamba_runs_on_vector_units_and_that_of_mamba2_as_products() -> None:
    older, newer = (
        transformer(shape).block(name).operation_of["state_scan"].kind.work()
        for shape, name in ((spaces(), "mamba + mlp"), (apart(), "mamba2"))
    )
    assert (older.unit, newer.unit) == (Unit.VECTOR, Unit.MATRIX)


def test_the_work_of_a_state_space_grows_with_the_sequence_and_not_its_square() -> None:
    for shape, name in ((spaces(), "mamba + mlp"), (apart(), "mamba2"), (linear(), "delta net + mlp")):
        short, long = (transformer(shape, sequence=length) for length in (128, 1024))
        assert long.block(name).flops(long.sizes) == pytest.approx(8 * short.block(name).flops(short.sizes))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"window": -1}, "window is -1"),
        ({"window": 0}, "its pattern has local attention; give window"),
        ({"pattern": ()}, "window is given, but no pattern"),
        ({"pattern": (GLOBAL,)}, "window is given, but its pattern has no local attention"),
        ({"pattern": kinds("local attention + experts")}, "its pattern has experts; give experts"),
        ({"mamba": MAMBA}, "mamba is given, but its pattern has no mamba"),
        ({"pattern": (*kinds("mamba"), LOCAL)}, "its pattern has mamba; give mamba"),
        ({"parallel_block": True}, "not side by side"),
        (
            {
                "pattern": kinds("local attention + experts"),
                "experts": Experts(count=4, chosen=1, ffn=8, dense_layers=1),
            },
            "not by dense_layers",
        ),
        ({"sparse": INDEX}, "by an index or by a window, not both"),
        ({"pattern": (*kinds("delta net"), LOCAL)}, "its pattern has delta net; give delta_net"),
        (
            {"pattern": (LOCAL, *kinds("delta net")), "delta_net": replace(NET, key_heads=3)},
            "16 value heads of its delta net cannot share 3 heads of keys evenly",
        ),
        ({"pattern": (LOCAL, *kinds("mamba", "mamba2")), "mamba": MAMBA, "mamba2": MAMBA2}, "not both"),
        ({"pattern": (LOCAL, *kinds("mamba2")), "mamba2": replace(MAMBA2, chunk=0)}, "mamba2: chunk is 0"),
        ({"pattern": (LOCAL, *kinds("mamba2")), "mamba2": replace(MAMBA2, groups=3)}, "do not form 3 even groups"),
    ],
)
def test_a_pattern_that_its_fields_do_not_fit_is_refused(changes: dict[str, object], words: str) -> None:
    with pytest.raises(DescriptionError, match=words):
        replace(mixed(), **changes)  # type: ignore[arg-type]


def test_kinds_of_layers_are_read_and_written_in_the_same_words() -> None:
    for text in ("local attention + mlp", "attention + experts", "mamba", "mamba2", "delta net", "mlp", "experts"):
        assert str(LayerKind.parse(text)) == text
    with pytest.raises(UnknownNameError, match="did you mean 'mamba'"):
        LayerKind.parse("mambo + mlp")
    for text in ("mlp + mamba", "mlp + experts", "mamba + mamba"):
        with pytest.raises(DescriptionError, match="not one mixer, one feed-forward"):
            LayerKind.parse(text)
    with pytest.raises(DescriptionError, match="or both"):
        LayerKind(mixer="none", feed="none")


@pytest.mark.parametrize(
    ("name", "order"),
    [
        ("gemma3-27b", {"local attention + mlp": 52, "attention + mlp": 10}),
        (
            "llama4-maverick",
            {"local attention + mlp": 24, "local attention + experts": 12, "attention + experts": 12},
        ),
        ("jamba-1.5-large", {"mamba + mlp": 27, "mamba + experts": 36, "attention + mlp": 9}),
        ("nemotron-h-56b", {"mamba2": 54, "mlp": 54, "attention": 10}),
        ("qwen3.5-397b-a17b", {"delta net + experts": 45, "attention + experts": 15}),
        ("qwen3.6-35b-a3b", {"delta net + experts": 30, "attention + experts": 10}),
        ("llama4-scout", {"local attention + experts": 36, "attention + experts": 12}),
    ],
)
def test_published_models_have_as_many_layers_of_each_kind(
    catalogue: Catalogue, name: str, order: dict[str, int]
) -> None:
    workload = transformer(catalogue.model(name))
    assert {kind: workload.layer_order.count(kind) for kind in dict.fromkeys(workload.layer_order)} == order
