"""Software stacks by name, by what sources call them, and by chip."""

import pytest

import volvelle
from volvelle import Catalogue, UnknownNameError
from volvelle.catalogue.stacks import default_stack, software_stack, stack_called, stack_entries, stacks_run_on
from volvelle.catalogue.training_errors import training_errors


def test_sources_frameworks_are_told_by_their_words() -> None:
    assert stack_called("Megatron-Bridge 26.04") == stack_called("NVIDIA MLPerf 3.1") == "nemo"
    assert stack_called("llm-foundry/Composer FSDP") == "fsdp"
    assert stack_called("Megatron-DeepSpeed (ALCF)") == "megatron-deepspeed"
    assert stack_called("Megatron-LM") == "megatron-lm"
    assert stack_called("something of our own") == ""


def test_every_stack_has_factors_for_any_chip() -> None:
    for name in stack_entries():
        assert ("", "", "matrix_efficiency") in software_stack(name).factors


def test_a_name_nobody_knows_is_refused_with_what_may_be_meant() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'torchtitan'"):
        software_stack("torchtitans")


def test_the_usual_stack_of_a_chip_is_named_and_others_are_told(catalogue: Catalogue) -> None:
    usual = default_stack("hopper")
    assert usual is not None
    found = volvelle.estimate("llama3-8b", on="dgx-h100/8", batch=64, zero=3, catalogue=catalogue)
    assert found.stack == usual.name
    assert set(found.other_stacks) == set(stacks_run_on("hopper")) - {usual.name}
    other = volvelle.estimate("llama3-8b", on="dgx-h100/8", batch=64, zero=3, stack="fsdp", catalogue=catalogue)
    assert other.estimate.time == found.other_stacks["fsdp"] > found.estimate.time
    factors = {one.name: one.figure.value for one in other.inputs}
    assert factors["fsdp: matrix efficiency, times"] == software_stack("fsdp").factor(
        "matrix_efficiency", "hopper", "bf16"
    )
    assert default_stack("tpu") is None


@pytest.mark.parametrize("stack", ["nemo", "fsdp", "maxtext", "megatron-lm"])
def test_a_faster_chip_is_never_slower_in_any_stack(catalogue: Catalogue, stack: str) -> None:
    times = [
        volvelle.estimate("llama3-8b", on=name, batch=64, zero=3, stack=stack, catalogue=catalogue).estimate.time
        for name in ("h100-96gb-cluster/8", "dgx-h100/8", "dgx-h200/8")
    ]
    assert times == sorted(times, reverse=True)


def test_software_that_nobody_timed_on_a_chip_says_so_and_is_less_sure(catalogue: Catalogue) -> None:
    question = {"on": "dgx-h100/8", "batch": 64, "zero": 3, "catalogue": catalogue}
    timed, untimed = (volvelle.estimate("llama3-8b", stack=name, **question) for name in ("nemo", "internevo"))  # type: ignore[arg-type]
    assert timed.stack_timed
    assert not untimed.stack_timed
    assert untimed.fitted.step_error > timed.fitted.step_error > 1.0  # type: ignore[operator]
    assert untimed.basis.outside == ("software",)
    ampere = volvelle.estimate("llama3-8b", stack="internevo", **{**question, "on": "dgx-a100/8"})  # type: ignore[arg-type]
    assert ampere.fitted.step_error == training_errors().inside["ampere"]
    assert timed.fitted.step_error == training_errors().inside["hopper"]


def test_where_neither_software_nor_chip_was_timed_the_error_is_that_of_no_validation(catalogue: Catalogue) -> None:
    answer = volvelle.estimate(
        "llama3-8b", on="aurora-stacks/12", batch=96, stack="megatron-deepspeed", zero=3, catalogue=catalogue
    )
    assert answer.fitted.step_error is None
    span = answer.estimate.ranges["time"]
    assert span.high / span.low > 1.35**2


def _memory(catalogue: Catalogue, stack: str, **layout: int) -> dict[str, float]:
    asked = volvelle.estimate("llama3-8b", on="dgx-h100/8", batch=64, stack=stack, catalogue=catalogue, **layout)
    return {part.name: part.bytes for part in asked.estimate.memory}


def test_deepspeed_holds_gradients_in_sixteen_bits_too_while_nothing_but_the_optimiser_is_shared_out(
    catalogue: Catalogue,
) -> None:
    held = {(stack, zero): _memory(catalogue, stack, zero=zero) for stack in ("deepspeed", "fsdp") for zero in (1, 3)}
    assert held["deepspeed", 1]["gradients"] == pytest.approx(1.5 * held["fsdp", 1]["gradients"])
    assert held["deepspeed", 3]["gradients"] == held["fsdp", 3]["gradients"]


def test_a_loss_over_tensor_ranks_holds_one_tensor_more_in_torchtitan(catalogue: Catalogue) -> None:
    ours = {
        tensor: _memory(catalogue, "torchtitan", tensor=tensor, zero=3)["activations"]
        - _memory(catalogue, "deepspeed", tensor=tensor, zero=3)["activations"]
        for tensor in (1, 8)
    }
    logits = 8192 * 128_256 / 8
    assert ours[1] == 0.0
    assert ours[8] == pytest.approx(4 * logits)
