"""What a training script is told of adapters and optimisers, and what is refused rather than told wrongly."""

from typing import Any

import pytest

from tests.conftest import small_gpt, small_llama
from volvelle.applications.training.training_step import training_step
from volvelle.errors import MappingError
from volvelle.interchange.launch import fsdp, megatron
from volvelle.mapping.parallelism import ParallelMapping
from volvelle.workload.families.shape import Transformer
from volvelle.workload.families.transformer import transformer

SHARDED = ParallelMapping(data=4, zero=3)


def emitted(shape: Transformer | None = None, mapping: ParallelMapping = SHARDED, **tuning: Any) -> str:
    shape = shape or small_llama()
    step = training_step(transformer(shape), batch=16, **{"gradients": "bf16", **tuning})
    return fsdp.emit(shape, step, mapping)


def test_adapters_are_named_as_peft_names_them() -> None:
    assert "LoraConfig(r=8, target_modules=['q_proj', 'v_proj'])" in emitted(lora=8, lora_targets="q,v")
    assert "LoraConfig(r=8, target_modules='all-linear', layers_to_transform=range(1, 4))" in emitted(
        lora=8, freeze_layers=1
    )


def test_four_bits_are_stored_in_the_type_that_is_shared_out() -> None:
    told = emitted(qlora=8)
    assert "bnb_4bit_quant_type='nf4', bnb_4bit_use_double_quant=True" in told
    assert "bnb_4bit_quant_storage='bfloat16'" in told


def test_the_usual_training_is_told_nothing_more() -> None:
    assert emitted().count("# for the training script") == 1


def test_eight_bit_adam_is_the_one_that_knows_sharded_tensors() -> None:
    assert "optim='adamw_torch_8bit'" in emitted(optimizer="adam-8bit")


@pytest.mark.parametrize(
    ("tuning", "told"),
    [
        ({"lora": 8, "base": "int8"}, "frozen weights in int8"),
        ({"optimizer": "muon"}, "the optimizer muon"),
        ({"optimizer": "adam-8bit", "master": "none"}, "adam-8bit with 2.031 bytes"),
        ({"freeze": "norms,attention", "base": "nf4"}, "trained weights beside 4-bit ones"),
    ],
)
def test_what_the_libraries_do_not_know_is_refused(tuning: dict[str, Any], told: str) -> None:
    with pytest.raises(MappingError, match=told):
        emitted(**tuning)


def test_adapters_beside_tensor_parallelism_are_refused() -> None:
    with pytest.raises(MappingError, match="tensor or context"):
        emitted(mapping=ParallelMapping(data=4, tensor=2, zero=3, sequence_parallel=False), lora=8)


def test_targets_of_a_family_with_other_names_are_refused() -> None:
    with pytest.raises(MappingError, match="names of its modules are not known"):
        emitted(small_gpt(), lora=8, lora_targets="q,v")


def test_megatron_is_told_of_sgd_and_of_no_adapters() -> None:
    shape = small_llama()
    step = training_step(transformer(shape), batch=16, optimizer="sgd-momentum")
    told = megatron.emit(shape, step, ParallelMapping(data=4, zero=0))
    assert "--optimizer sgd" in told
    assert "--sgd-momentum 0.9" in told
    with pytest.raises(MappingError, match="sgd-momentum whose states are shared out"):
        megatron.emit(shape, step, ParallelMapping(data=4, zero=1))
    with pytest.raises(MappingError, match="Megatron-LM cannot express LoRA"):
        megatron.emit(shape, training_step(transformer(shape), batch=16, lora=4), ParallelMapping(data=4))
    with pytest.raises(MappingError, match="packed documents"):
        megatron.emit(shape, training_step(transformer(shape), batch=16, lengths="16"), ParallelMapping(data=4))
