"""What follows from declarations alone: Megatron's layouts are found, not written."""

import pytest

from tests.unit.workload.test_graph import mlp
from volvelle import (
    REPLICATED,
    BlockBuilder,
    Collective,
    MappingError,
    Workload,
    all_shardings,
    shard,
    split,
    with_backward,
)
from volvelle.workload.operations import Phase

AR, RS, AG = Collective.ALL_REDUCE, Collective.REDUCE_SCATTER, Collective.ALL_GATHER


def token_mlp() -> Workload:
    b = BlockBuilder("mlp")
    x = b.input("x", "batch position hidden")
    up = b.contract("up", "batch position hidden, hidden ffn -> batch position ffn", x, b.weight("w1", "hidden ffn"))
    act = b.pointwise("gelu", "batch position ffn -> batch position ffn", up, saves=(0,))
    y = b.contract("down", "batch position ffn, ffn hidden -> batch position hidden", act, b.weight("w2", "ffn hidden"))
    sizes = {"batch": 2, "position": 16, "hidden": 8, "ffn": 32}
    return with_backward(Workload(name="mlp", sizes=sizes, blocks=(b.build(outputs=(y,)),)))


def attention() -> Workload:
    b = BlockBuilder("attention")
    x = b.input("x", "batch position hidden")
    q, k, v = (
        b.contract(
            name,
            "batch position hidden, hidden heads head_dim -> batch position heads head_dim",
            x,
            b.weight(f"w_{name}", "hidden heads head_dim"),
        )
        for name in ("q", "k", "v")
    )
    keyed = "batch key heads head_dim"
    scores = b.contract("scores", f"batch position heads head_dim, {keyed} -> batch heads position key", q, k)
    probs = b.normalise(
        "softmax", "batch heads position key -> batch heads position key", scores, along="key", saves_output=True
    )
    context = b.contract("context", f"batch heads position key, {keyed} -> batch position heads head_dim", probs, v)
    y = b.contract(
        "out",
        "batch position heads head_dim, heads head_dim hidden -> batch position hidden",
        context,
        b.weight("w_out", "heads head_dim hidden"),
    )
    sizes = {"batch": 2, "position": 16, "key": 16, "hidden": 8, "heads": 4, "head_dim": 2}
    return with_backward(Workload(name="attention", sizes=sizes, blocks=(b.build(outputs=(y,)),)))


def bytes_of(workload: Workload, tensor: str) -> float:
    return workload.blocks[0].tensor_of[tensor].bytes(workload.sizes)


def kinds(found, phase):  # type: ignore[no-untyped-def]
    return [collective for collective, _ in found.collectives(phase)]


@pytest.mark.parametrize(
    ("workload", "dims", "megatron"),
    [
        (token_mlp(), None, {"up": "ffn", "gelu": "ffn", "down": "ffn"}),
        pytest.param(
            attention(),
            ("heads", "position", "hidden"),
            dict.fromkeys(("q", "k", "v", "scores", "softmax", "context", "out"), "heads"),
            marks=pytest.mark.long,
        ),
    ],
    ids=["two-layer MLP", "attention"],
)
def test_enumerated_shardings_include_megatron_with_and_without_sequence_parallelism(workload, dims, megatron) -> None:  # type: ignore[no-untyped-def]
    (block,) = workload.blocks
    found = list(all_shardings(block, dims=dims, boundaries=(REPLICATED, split("position"))))
    assert len(found) > 100

    def chosen(boundary):  # type: ignore[no-untyped-def]
        return [s for edge, s in found if edge == boundary and all(s.dims[op] == dim for op, dim in megatron.items())]

    (tensor,) = chosen(REPLICATED)
    assert kinds(tensor, Phase.FORWARD) == [AR]
    assert kinds(tensor, Phase.BACKWARD) == [AR]
    (sequence,) = chosen(split("position"))
    assert kinds(sequence, Phase.FORWARD) == [AG, RS]
    assert sorted(kinds(sequence, Phase.BACKWARD), key=str) == sorted([AG, RS], key=str)
    # An all-reduce is a reduce-scatter and an all-gather: both layouts move tensors of the same bytes.
    (reduced,) = {
        bytes_of(workload, name) for phase in (Phase.FORWARD, Phase.BACKWARD) for _, name in tensor.collectives(phase)
    }
    assert {
        bytes_of(workload, name) for phase in (Phase.FORWARD, Phase.BACKWARD) for _, name in sequence.collectives(phase)
    } == {reduced}


def test_no_sharding_that_splits_all_products_talks_less_than_megatron() -> None:
    (block,) = token_mlp().blocks
    best = min(
        len(s.collectives(Phase.FORWARD)) + len(s.collectives(Phase.BACKWARD))
        for _, s in all_shardings(block)
        if s.dims["up"] not in (None, "batch", "position") and s.dims["down"] not in (None, "batch", "position")
    )
    assert best == 2


def test_splitting_the_batch_is_data_parallelism_every_weight_gradient_is_summed() -> None:
    (block,) = token_mlp().blocks
    data = shard(block, dict.fromkeys(("up", "gelu", "down"), "batch"), boundary=split("batch"))
    assert kinds(data, Phase.FORWARD) == [] == kinds(data, Phase.BACKWARD)
    assert {(c.tensor, c.collective) for c in data.conversions if c.of_weight} == {("w1.grad", AR), ("w2.grad", AR)}


def test_an_impossible_split_says_what_is_possible() -> None:
    (block,) = mlp().blocks
    with pytest.raises(MappingError, match=r"'gelu'.*cannot be split along 'hidden'.*batch, ffn"):
        shard(block, {"up": "ffn", "gelu": "hidden", "down": "ffn"})
