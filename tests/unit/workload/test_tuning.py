"""What is frozen gets no gradient, and adapters are two thin products each."""

from itertools import pairwise

import pytest

from tests.conftest import small_gpt, small_llama
from volvelle import Catalogue
from volvelle.errors import DescriptionError, UnknownNameError
from volvelle.workload.families.transformer import transformer
from volvelle.workload.graph import Workload
from volvelle.workload.operations import Phase
from volvelle.workload.transforms import with_backward
from volvelle.workload.tuning import Tuning, tuned

LLAMA = transformer(small_llama())


def flops(workload: Workload) -> tuple[float, float]:
    whole = with_backward(workload)
    return whole.flops(phase=Phase.FORWARD), whole.flops(phase=Phase.BACKWARD)


def test_a_tuning_that_says_nothing_changes_nothing() -> None:
    assert tuned(LLAMA, Tuning()) is LLAMA
    assert LLAMA.trainable_parameters() == LLAMA.parameters()


@pytest.mark.parametrize("rank", [1, 8, 64])
def test_an_adapter_has_rank_times_both_sides_of_its_matrix(rank: int) -> None:
    shape = small_llama()
    found = tuned(LLAMA, Tuning(rank=rank, targets=("q", "down")))
    sides = shape.hidden + shape.heads * shape.head_dim + shape.ffn + shape.hidden
    assert found.trainable_parameters() == shape.layers * rank * sides
    assert found.parameters() == LLAMA.parameters() + found.trainable_parameters()


def test_frozen_weights_get_no_gradient_and_the_backward_pass_is_half() -> None:
    forward, backward = flops(LLAMA)
    tuned_forward, tuned_backward = flops(tuned(LLAMA, Tuning(rank=1)))
    assert backward == pytest.approx(2 * forward, rel=0.02)
    assert tuned_forward == pytest.approx(forward, rel=0.05)
    scores = 2 * sum(
        block.repeat * block.operation_of[name].kind.work().flops(LLAMA.sizes)
        for block in LLAMA.blocks
        for name in ("scores", "context")
        if name in block.operation_of
    )
    assert tuned_backward == pytest.approx(forward + scores / 2, rel=0.05)


def test_a_smaller_rank_takes_less_and_the_limit_is_the_frozen_model() -> None:
    work = [sum(flops(tuned(LLAMA, Tuning(rank=rank)))) for rank in (1, 2, 4, 8)]
    steps = [later - earlier for earlier, later in pairwise(work)]
    assert steps == pytest.approx([steps[0], 2 * steps[0], 4 * steps[0]])
    assert steps[0] < 0.01 * work[0]


def test_frozen_layers_ahead_of_all_that_is_trained_have_no_backward_pass() -> None:
    shape = small_llama()
    found = with_backward(tuned(LLAMA, Tuning(frozen=("embedding",), frozen_layers=2)))
    ahead = found.block("layer, frozen")
    assert ahead.repeat == 2
    assert found.block("layer").repeat == shape.layers - 2
    assert all(op.phase is Phase.FORWARD for op in (*ahead.operations, *found.block("embedding").operations))
    assert found.runs[1:3] == (("layer, frozen", 2), ("layer", shape.layers - 2))


def test_gradients_pass_frozen_layers_where_something_ahead_of_them_is_trained() -> None:
    found = with_backward(tuned(LLAMA, Tuning(frozen_layers=2)))
    assert any(op.phase is Phase.BACKWARD for op in found.block("layer, frozen").operations)
    assert not found.block("layer, frozen").trainable()


def test_only_matrices_of_layers_are_kept_in_few_bits() -> None:
    found = tuned(LLAMA, Tuning(rank=8, base="nf4"))
    stored = {(block.name, tensor.name) for block in found.blocks for tensor in block.tensors if tensor.stored}
    assert ("layer", "query_weight") in stored
    assert not any("norm" in name or "adapter" in name or block != "layer" for block, name in stored)


def test_a_tied_weight_is_frozen_at_both_ends() -> None:
    found = tuned(transformer(small_gpt()), Tuning(frozen=("head",)))
    assert found.block("embedding").tensor_of["weight"].frozen
    assert found.block("head").tensor_of["weight"].frozen


def test_modules_that_one_matrix_makes_share_the_thin_matrix_at_its_input(catalogue: Catalogue) -> None:
    """DeepSeek's kv_a_proj_with_mqa and kv_b_proj are one linear module each."""
    shape = catalogue.model("deepseek-v2-lite")
    found = tuned(transformer(shape), Tuning(rank=2, targets=("k", "v")))
    latent = shape.latent
    first = shape.hidden + latent.kv_rank + latent.rotary_dim
    second = latent.kv_rank + shape.heads * (shape.head_dim + latent.value_dim)
    assert found.trainable_parameters() == shape.layers * 2 * (first + second)


@pytest.mark.parametrize(
    ("given", "error", "told"),
    [
        ({"rank": 8, "targets": ("qq",)}, UnknownNameError, "LoRA target"),
        ({"frozen": ("nothing",)}, UnknownNameError, "part to freeze"),
        ({"rank": 8, "base": "int3"}, UnknownNameError, "element type of frozen weights"),
        ({"base": "nf4"}, DescriptionError, "nothing is frozen"),
        ({"rank": -1}, DescriptionError, "rank is -1"),
    ],
)
def test_a_tuning_that_makes_no_sense_is_refused(given: dict[str, object], error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        Tuning(**given)  # type: ignore[arg-type]


def test_freezing_everything_or_more_layers_than_there_are_is_refused() -> None:
    with pytest.raises(
        DescriptionError, match="no projection 'experts' to put an adapter beside; it has q, k, v, o, gate, up, down"
    ):
        tuned(LLAMA, Tuning(rank=4, targets=("experts",)))
    with pytest.raises(DescriptionError, match="no router to freeze"):
        tuned(LLAMA, Tuning(frozen=("router",)))
    with pytest.raises(DescriptionError, match="already"):
        tuned(tuned(LLAMA, Tuning(rank=4)), Tuning(rank=4))
    with pytest.raises(DescriptionError, match="99 layers are to be frozen, but small-llama has 4"):
        tuned(LLAMA, Tuning(frozen_layers=99))
