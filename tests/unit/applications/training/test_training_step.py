"""Fine-tuning in the words of the command, from Python."""

from pathlib import Path

import pytest

import volvelle
from volvelle.errors import DescriptionError, MappingError, UnknownNameError
from volvelle.questions.plan import PlanQuestion
from volvelle.verbs.plan import launch

LAYOUT = {"on": "dgx-h100/8", "batch": 16, "sequence": 2048, "zero": 1, "recompute": volvelle.Recompute.FULL}


def test_qlora_is_lora_beside_four_bits() -> None:
    one = volvelle.estimate("llama3-8b", qlora=16, **LAYOUT)
    other = volvelle.estimate("llama3-8b", lora=16, base="nf4", **LAYOUT)
    assert one.estimate.time == other.estimate.time
    assert one.trained == other.trained
    assert one.trained.trainable_parameters == 41_943_040


def test_memory_says_what_is_frozen_and_what_is_trained() -> None:
    plain = volvelle.estimate("llama3-8b", lora=16, **LAYOUT).estimate
    packed = volvelle.estimate("llama3-8b", qlora=16, **LAYOUT).estimate
    frozen = [{part.name: part.bytes for part in one.memory}["frozen weights"] for one in (plain, packed)]
    assert frozen[0] == pytest.approx(2 * 8_030_261_248)
    assert frozen[1] < 0.4 * frozen[0]
    assert "dequantisation" in {line.part for line in packed.contributions}
    assert "dequantisation" not in {line.part for line in plain.contributions}


def test_the_utilisation_counts_only_what_tuning_needs() -> None:
    full = volvelle.estimate("llama3-8b", **LAYOUT).estimate
    tuned = volvelle.estimate("llama3-8b", lora=16, **LAYOUT).estimate
    assert 0.6 * full.work < tuned.work < 0.75 * full.work
    assert tuned.utilisation < 1.0


def test_documents_are_packed_from_text_or_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "lengths.txt"
    file.write_text("512\n512\n2048\n", "utf-8")
    typed = volvelle.estimate("llama3-8b", lengths="512:2,2048:1", **LAYOUT)
    read = volvelle.estimate("llama3-8b", lengths=str(file), **LAYOUT)
    assert typed.estimate.time == read.estimate.time < volvelle.estimate("llama3-8b", **LAYOUT).estimate.time
    assert typed.trained.keys_per_query == pytest.approx((2 * 512**2 + 2048**2) / (2 * 512 + 2048))


@pytest.mark.parametrize(
    ("given", "error", "told"),
    [
        ({"lora": 8, "qlora": 8}, DescriptionError, "give one of them"),
        ({"lora_targets": "q"}, DescriptionError, "without a rank"),
        ({"lora": 0}, DescriptionError, "lora is 0; it must be a whole number from 1"),
        ({"optimizer": "adamw"}, UnknownNameError, "optimizer"),
        ({"master": "fp8"}, UnknownNameError, "master"),
        ({"gradients": "fp8"}, UnknownNameError, "gradients"),
        ({"lengths": "4096"}, DescriptionError, "does not fit a sequence of 2048"),
        ({"lengths": "no-such-file"}, DescriptionError, "is no file"),
    ],
)
def test_what_makes_no_sense_is_refused(given: dict[str, object], error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        volvelle.estimate("llama3-8b", **LAYOUT, **given)


def test_a_plan_of_adapters_fits_where_full_training_does_not() -> None:
    question = {"on": "dgx-h100/8", "batch": 8, "sequence": 2048, "top": 1}
    assert not volvelle.plan("llama3-70b", **question).layouts
    tuned = volvelle.plan("llama3-70b", qlora=16, **question)
    assert tuned.layouts
    assert tuned.trained.trainable_parameters == 207_093_760


def test_where_nothing_fits_adapters_are_a_way_out() -> None:
    dead_end = volvelle.plan("llama3-70b", on="dgx-h100/8", batch=8, sequence=2048).dead_end
    assert dead_end is not None
    assert any("--qlora 16" in way.command for way in dead_end.ways_out)


def test_options_are_written_as_they_are_typed() -> None:
    given = {"qlora": 8, "lora_targets": ("q", "v"), "freeze": (), "margin": 0.0, "optimizer": "lion"}
    assert PlanQuestion("llama3-8b", on="dgx-h100/8", **given).command == (
        "volvelle plan llama3-8b --on dgx-h100/8 --margin 0.0 --qlora 8 --lora-targets q,v --optimizer lion"
    )


def test_only_a_framework_that_knows_adapters_is_told_of_them() -> None:
    question = {"on": "dgx-h100/8", "batch": 16, "sequence": 2048, "qlora": 16}
    flags = launch(volvelle.plan("llama3-8b", framework="fsdp", **question), "fsdp").flags
    assert "LoraConfig(r=16, target_modules='all-linear')" in flags
    assert "bnb_4bit_quant_storage='bfloat16'" in flags
    for framework in ("megatron", "torchtitan", "deepspeed"):
        with pytest.raises(MappingError, match="cannot express LoRA"):
            launch(volvelle.plan("llama3-8b", framework=framework, **question), framework)
