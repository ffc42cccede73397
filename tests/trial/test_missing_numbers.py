"""A question that leaves out the batch or the number of GPUs is rejected with the question to answer."""

from pathlib import Path

import pytest

import volvelle
from tests.everyday.asking import ask
from volvelle.catalogue import Catalogue
from volvelle.errors import DescriptionError

BATCH = "give --batch, the sequences per step: e.g. --batch 512"


@pytest.mark.parametrize(
    "words",
    [
        ("plan", "llama3-8b", "--on", "dgx-h100/8"),
        ("estimate", "llama3-8b", "--on", "dgx-h100/8"),
        ("why-unsure", "llama3-8b", "--on", "dgx-h100/8"),
        ("job", "llama3-8b", "--on", "dgx-h100/8", "--tokens", "1T"),
        ("job", "llama3-8b", "--on", "dgx-h100/8", "--tokens", "1T", "--step", "6 s"),
    ],
)
def test_training_without_a_batch_is_rejected(tmp_path: Path, words: tuple[str, ...]) -> None:
    reply = ask(tmp_path, *words)
    assert reply.status == 2
    assert reply.out == ""
    assert BATCH in reply.err


def test_python_gives_the_same_answer_for_a_missing_batch() -> None:
    for verb in (volvelle.plan, volvelle.estimate):
        with pytest.raises(DescriptionError, match="sequences per step"):
            verb("llama3-8b", on="dgx-h100/8")


@pytest.mark.parametrize(
    "words",
    [
        ("estimate", "llama3-8b", "--batch", "64"),
        ("plan", "llama3-8b", "--batch", "64"),
        ("plan", "hpl"),
        ("plan", "llama3-8b", "--serve", "--load", "poisson 1/s", "--slo", "p99 ttft 9 s"),
        ("compare", "llama3-8b", "llama2-7b", "--batch", "64"),
        ("serve", "llama3-8b"),
        ("job", "llama3-8b", "--batch", "64", "--tokens", "1T"),
        ("map", "llama3-8b"),
        ("cost",),
    ],
)
def test_a_kind_of_machine_without_a_count_is_rejected(tmp_path: Path, words: tuple[str, ...]) -> None:
    reply = ask(tmp_path, *words, "--on", "dgx-h100")
    assert reply.status == 2
    assert reply.out == ""
    assert "how many GPUs?" in reply.err
    assert "dgx-h100/64" in reply.err


@pytest.mark.parametrize("name", ["frontier", "el-capitan", "selene", "alps"])
def test_a_real_machine_keeps_its_size(name: str, catalogue: Catalogue) -> None:
    stated = catalogue.cluster_file(name).default_count
    assert stated is not None
    assert catalogue.cluster(name).accelerators == stated


def test_no_size_of_a_machine_is_an_assumption(catalogue: Catalogue) -> None:
    for name in catalogue.names("clusters"):
        file = catalogue.cluster_file(name)
        assert (file.default_count is None) == (file.count_source == ""), name
        assert file.count_source != "volvelle-assumption", name


def test_the_example_of_the_error_is_a_machine(catalogue: Catalogue) -> None:
    for name in catalogue.names("clusters"):
        if catalogue.cluster_file(name).default_count is None:
            with pytest.raises(DescriptionError, match="how many GPUs") as error:
                catalogue.cluster(name)
            example = str(error.value).rpartition(" ")[2]
            assert not catalogue.cluster(example).notes, name


@pytest.mark.parametrize(
    "words",
    [
        ("plan", "llama3-8b", "--tokens", "1T", "--days", "90", "--tp", "1", "--pp", "1"),
        ("scale", "llama3-8b", "--from", "8", "--to", "8", "--tp", "1", "--pp", "1"),
        ("fleet", "llama3-8b", "--tp", "1", "--load", "poisson 30/s", "--slo", "p95 tpot 30 ms", "--check", "none"),
    ],
)
def test_questions_about_the_count_still_need_none(tmp_path: Path, words: tuple[str, ...]) -> None:
    assert ask(tmp_path, *words, "--on", "dgx-h100").status == 0


def test_an_own_machine_needs_no_size(tmp_path: Path) -> None:
    (tmp_path / "clusters").mkdir()
    text = (Path(volvelle.__file__).parent / "catalogue/data/clusters/dgx-h100.yaml").read_text("utf-8")
    (tmp_path / "clusters" / "ours.yaml").write_text(text.replace("name: dgx-h100", "name: ours"), "utf-8")
    assert Catalogue(tmp_path).cluster("ours/16").accelerators == 16
