"""The sequence length that training commands use where the question states none."""

import json
import shutil
from pathlib import Path

import pytest

import volvelle
from tests.everyday.asking import ask
from volvelle.catalogue import Catalogue
from volvelle.workload.families.shape import TRAINING_LENGTH

CONFIGS = Path(__file__).parents[1] / "data" / "huggingface"
ONE_GPU = ("--tp", "1", "--pp", "1", "--cp", "1", "--zero", "2", "--micro-batch", "1")


def length_of(tmp_path: Path, command: str, model: str, *words: str) -> int:
    reply = ask(tmp_path, command, model, "--on", "dgx-h100/8", "--batch", "64", *words, "--json")
    assert reply.status in (0, 1), reply.err
    return int(json.loads(reply.out)["sequence"])


def test_models_whose_context_is_long_enough_train_at_one_length(catalogue: Catalogue) -> None:
    for name in catalogue.names("models"):
        shape = catalogue.model(name)
        assert shape.context, f"{name} states no context"
        assert shape.sequence == min(TRAINING_LENGTH, shape.context), name


@pytest.mark.parametrize("model", ["llama3.2-3b", "qwen3-8b", "meta-llama/Llama-3.2-3B", "llama-3.2-1b.json"])
def test_every_way_of_naming_a_model_has_the_same_default_length(tmp_path: Path, model: str) -> None:
    if model.endswith(".json"):
        shutil.copy(CONFIGS / model, tmp_path)
    assert length_of(tmp_path, "estimate", model) == TRAINING_LENGTH


def test_plan_and_estimate_have_the_same_default_length(tmp_path: Path) -> None:
    assert length_of(tmp_path, "plan", "llama3.2-1b", *ONE_GPU) == TRAINING_LENGTH
    assert volvelle.plan("llama3.2-1b", on="dgx-h100/8", batch=64, tp=1, pp=1, cp=1).sequence == TRAINING_LENGTH


@pytest.mark.parametrize(("model", "context"), [("gpt3-175b", 2048), ("llama2-7b", 4096), ("gpt2", 1024)])
def test_a_model_with_a_shorter_context_trains_at_its_context(tmp_path: Path, model: str, context: int) -> None:
    assert length_of(tmp_path, "estimate", model) == context


@pytest.mark.parametrize("command", ["estimate", "plan", "job", "crosscheck", "why-unsure"])
def test_the_answer_prints_the_length_and_that_it_is_the_default(tmp_path: Path, command: str) -> None:
    words = (command, "llama3.2-1b", "--on", "dgx-h100/8", "--batch", "64", "--tp", "1", "--pp", "1")
    words = (*words, "--tokens", "1T") if command == "job" else words
    told = "8,192 tokens per sequence, the default"
    assert told in " ".join(ask(tmp_path, *words).out.split())
    assert told not in " ".join(ask(tmp_path, *words, "--seq", "8192").out.split())


@pytest.mark.parametrize("words", [("scale", "--from", "8", "--to", "8"), ("plan", "--tokens", "1T", "--days", "90")])
def test_questions_about_counts_print_the_default_length(tmp_path: Path, words: tuple[str, ...]) -> None:
    command, *rest = words
    reply = ask(tmp_path, command, "llama3.2-1b", "--on", "dgx-h100", *rest, "--tp", "1", "--pp", "1")
    assert "8,192 tokens per sequence, the default" in " ".join(reply.out.split())


def test_a_smaller_model_is_not_slower_than_a_larger_one_in_a_comparison() -> None:
    found = volvelle.compare("llama3-8b", "llama3.2-3b", on="dgx-h100/8", batch=64)
    assert {one.sequence for one in found.alternatives} == {TRAINING_LENGTH}
    assert found.differences[0] is not None
    assert found.differences[0].ratio < 1.0


def test_a_comparison_takes_the_shortest_default_for_every_column_and_prints_it(tmp_path: Path) -> None:
    reply = ask(tmp_path, "compare", "llama3-8b", "llama2-7b", "--on", "dgx-h100/8", "--batch", "64", "--zero", "2")
    assert "4,096 tokens per sequence, the context of llama2-7b, for every column" in reply.out
    row = next(line for line in reply.out.splitlines() if line.startswith("tokens per sequence"))
    assert row.split()[3:] == ["4,096", "4,096"]


def test_a_comparison_of_answers_with_other_lengths_has_a_note() -> None:
    question = {"on": "dgx-h100/8", "batch": 64, "zero": 2}
    short, long = (volvelle.estimate("llama3-8b", sequence=length, **question) for length in (2048, 8192))
    found = volvelle.compare(short, long)
    assert any("2,048 and 8,192 tokens" in note for note in found.notes)
    assert not any("sequences differ" in note for note in volvelle.compare(short, short).notes)


def test_a_length_in_an_own_model_file_is_the_default_of_that_model(tmp_path: Path, catalogue: Catalogue) -> None:
    shape = volvelle.read_model("qwen3-8b", sequence=512, catalogue=catalogue)
    answer = volvelle.estimate(shape, on="dgx-h100/8", batch=64)
    assert answer.sequence == 512
    assert not answer.notes
