"""Use of memory and network: bytes over what could have passed."""

import pytest

from volvelle import estimate
from volvelle.verbs.estimate import Answer

_GRADIENT = 4.0


def used(answer: Answer, name: str) -> float:
    return next(use.bytes for use in answer.resource_use if use.name == name)


def test_replicas_send_what_an_all_reduce_of_their_gradients_sends_at_each_level() -> None:
    answer = estimate("llama3-8b", on="dgx-a100/64", batch=64, zero=0)
    inside = 2.0 * 7.0 / 8.0 * _GRADIENT * answer.parameters
    volumes = (inside, inside / 8.0)  # eight nodes of eight: outside, each chip has an eighth of the sum
    for use, volume in zip(answer.resource_use[1:], volumes, strict=True):
        assert use.bytes == pytest.approx(volume, rel=1e-9)


def test_bytes_do_not_depend_on_how_fast_the_machine_is_but_utilisation_does() -> None:
    slow = estimate("gpt3-175b", on="dgx-a100/512", batch=512, tensor=8, pipeline=8)
    fast = estimate(
        "gpt3-175b",
        on="dgx-a100/512",
        batch=512,
        tensor=8,
        pipeline=8,
        set={"chip.matrix_rate": "2x", "scale_up.latency": "0 s"},
    )
    for name in ("memory", "NVSwitch", "InfiniBand HDR"):
        assert used(fast, name) == pytest.approx(used(slow, name), rel=1e-9)
    assert fast.memory_utilisation is not None
    assert slow.memory_utilisation is not None
    assert fast.memory_utilisation > slow.memory_utilisation


def test_the_busiest_level_of_the_network_is_the_one_that_is_told() -> None:
    answer = estimate("llama3-8b", on="dgx-a100/64", batch=256, zero=3)
    assert answer.busiest_link is not None
    assert answer.busiest_link.utilisation == max(use.utilisation for use in answer.resource_use[1:])
    assert all(0.0 < use.utilisation < 1.0 for use in answer.resource_use)


def test_the_memory_moves_what_software_copies_too() -> None:
    """Of gradients that DeepSpeed adds up in 32 bits 18 bytes a parameter and micro-batch, whoever waits for it."""
    asked = {"on": "dgx-a100/64", "batch": 64, "tensor": 8, "pipeline": 2, "zero": 1}
    copying, plain = (estimate("llama3-8b", stack=stack, **asked) for stack in ("megatron-deepspeed", "megatron-lm"))
    parameters = copying.estimate.facts["parameters_per_chip"]
    assert used(copying, "memory") - used(plain, "memory") == pytest.approx(16 * 18.0 * parameters, rel=1e-9)


def test_one_chip_has_no_network_to_use() -> None:
    answer = estimate("gpt2", on="dgx-a100/1", batch=8)
    assert answer.busiest_link is None
    assert [use.name for use in answer.resource_use] == ["memory"]
