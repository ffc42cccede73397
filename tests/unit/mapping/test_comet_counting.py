"""COMET's counting on any model: what of a block counts, and what does not."""

from dataclasses import replace

import pytest

from tests.conftest import small_gpt, small_llama
from volvelle import TrainingStep
from volvelle.mapping.lowered_block import LoweredBlock
from volvelle.mapping.lowered_model import lowered_model
from volvelle.mapping.parallelism import ParallelMapping
from volvelle.workload.families.transformer import transformer
from volvelle.workload.operations import Phase
from volvelle.workload.training import Counting

STRUCTURE = ParallelMapping(tensor=2, fused_attention=False, sequence_parallel=False).structure


def blocks(family: str) -> dict[str, tuple[LoweredBlock, LoweredBlock]]:
    """Blocks as derived, and as COMET counts them."""
    step = TrainingStep(model=transformer(small_gpt() if family == "gpt" else small_llama()), batch=8)
    comet = lowered_model(replace(step, counting=Counting.COMET), STRUCTURE)
    derived = lowered_model(step, STRUCTURE)
    return {ours.name: (ours, theirs) for ours, theirs in zip(derived.blocks, comet.blocks, strict=True)}


@pytest.mark.parametrize("family", ["gpt", "llama"])
def test_input_gradients_are_the_forward_pass_again(family: str) -> None:
    _, layer = blocks(family)["layer"]
    forward = [kernel for kernel in layer.kernels if kernel.phase is Phase.FORWARD]
    back = [kernel for kernel in layer.kernels if kernel.phase is Phase.BACKWARD and not kernel.of_weight]
    assert [replace(kernel, phase=Phase.FORWARD) for kernel in back if kernel.product] == [
        k for k in forward if k.product
    ]
    assert len(forward) == len(back)


@pytest.mark.parametrize("family", ["gpt", "llama"])
def test_every_trained_product_has_a_weight_gradient_that_stores_states(family: str) -> None:
    derived, layer = blocks(family)["layer"]
    gradients = {kernel.name: kernel for kernel in layer.kernels if kernel.of_weight and kernel.product}
    trained = {kernel.name: kernel for kernel in derived.kernels if kernel.of_weight and kernel.product}
    assert gradients.keys() == trained.keys()
    for name, kernel in gradients.items():
        (_, states, stored), (*_, result) = kernel.product or (), trained[name].product or ()
        assert states.coefficient == pytest.approx(12.0 / 2.0 * result.coefficient)
        assert stored.coefficient == pytest.approx(16.0 / 2.0 * result.coefficient)


@pytest.mark.parametrize("family", ["gpt", "llama"])
def test_embedding_and_head_hold_weights_and_take_no_time(family: str) -> None:
    for name, (_, counted) in blocks(family).items():
        if name != "layer":
            assert not counted.kernels
            assert not counted.exchanges
    assert blocks(family)["embedding"][1].weights


@pytest.mark.parametrize("family", ["gpt", "llama"])
def test_a_layer_exchanges_activations_as_often_as_derived_and_recomputes_nothing(family: str) -> None:
    derived, counted = blocks(family)["layer"]
    assert len(counted.exchanges) == sum(not one.per_step and not one.repeated_in_backward for one in derived.exchanges)
    assert not any(kernel.phase is Phase.RECOMPUTE for kernel in counted.kernels)
