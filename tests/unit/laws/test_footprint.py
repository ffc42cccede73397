"""What memory holds, as the papers on it print."""

import pytest

from volvelle.laws.footprint import (
    activation_bytes,
    fragmented_bytes,
    gathered_bytes,
    gradient_bytes,
    loss_bytes,
    optimiser_bytes,
    scattered_bytes,
    secondary_weight_bytes,
    weight_bytes,
)


@pytest.mark.parametrize(("zero", "printed"), [(0.0, 120e9), (1.0, 31.4e9), (2.0, 16.6e9), (3.0, 1.9e9)])
def test_zero_gives_the_figures_of_its_paper(zero: float, printed: float) -> None:
    """Rajbhandari 2020, figure 1: 7.5 B parameters on 64 replicas take 120, 31.4, 16.6 and 1.9 GB."""
    weights = weight_bytes(7.5e9, each=2.0, data_parallel=64.0, zero=zero)
    gradients = gradient_bytes(7.5e9, each=2.0, data_parallel=64.0, zero=zero)
    optimiser = optimiser_bytes(7.5e9, each=12.0, data_parallel=64.0, zero=zero)
    assert weights + gradients + optimiser == pytest.approx(printed, rel=0.02)


def test_a_second_copy_is_shared_out_among_its_group_with_zero_3_alone() -> None:
    assert secondary_weight_bytes(96.0, each=2.0, group=8.0, zero=3.0) == 24.0
    assert secondary_weight_bytes(96.0, each=2.0, group=0.0, zero=3.0) == 0.0
    assert secondary_weight_bytes(96.0, each=2.0, group=8.0, zero=2.0) == 0.0


def test_weights_that_are_shared_out_in_32_bits_alone_are_counted_with_the_optimiser() -> None:
    assert weight_bytes(96.0, each=2.0, data_parallel=8.0, zero=3.0, shard=0.0) == 0.0
    assert weight_bytes(96.0, each=2.0, data_parallel=8.0, zero=1.0, shard=0.0) == 192.0


def test_two_layers_of_llama_405b_are_whole_at_a_time_and_gradients_of_one() -> None:
    """3.19 B parameters: 6.4 GB in bf16 twice, and 12.8 GB of gradients in fp32."""
    layer = 2.0 * 16_384 * (16_384 + 1024) + 3.0 * 16_384 * 53_248
    assert gathered_bytes(2.0 * layer, ahead=2.0 * layer) == pytest.approx(12.7e9, rel=0.01)
    assert scattered_bytes(layer, each=4.0) == pytest.approx(12.7e9, rel=0.01)


def test_a_loss_in_place_needs_what_korthikanti_counts_for_logits() -> None:
    """Section 4.3: 4 s b v bytes, here of GPT-3 on eight tensor ranks."""
    assert loss_bytes(2048 * 51_200 / 8, beside=4.0) == 4 * 2048 * 51_200 / 8


def test_gradients_that_a_backward_pass_leaves_stay_beside_those_that_add_up_unless_they_are_shared_out() -> None:
    some = {"each": 4.0, "data_parallel": 8.0, "copied": 2.0}
    assert gradient_bytes(96.0, zero=1.0, **some) == 6 * 96
    assert gradient_bytes(96.0, zero=2.0, **some) == 4 * 96 / 8


def test_activations_are_those_in_flight_and_those_at_work() -> None:
    assert activation_bytes(10.0, layers=4.0, in_flight=3.0, working=7.0) == 127


def test_gaps_grow_with_what_comes_and_goes_and_not_with_what_stays() -> None:
    assert fragmented_bytes(50.0, share=0.1, reserved=3.0) == 8.0
    assert fragmented_bytes(0.0, share=0.1, reserved=3.0) == 3.0
