"""Names as people write them: case, punctuation, the hub's, a chip for a machine, counts that no machine has."""

import json
import re
from importlib.metadata import distribution
from pathlib import Path

import pytest

from tests.everyday.asking import ask
from volvelle.catalogue import Catalogue
from volvelle.catalogue.aliases import hub_model, hub_names
from volvelle.catalogue.schema import ROOMS
from volvelle.errors import UnknownNameError, install_line, plainly

QUESTION = ("--batch", "64", "--tp", "8", "--json")


@pytest.mark.parametrize(
    ("model", "system", "stack"),
    [
        ("Llama 3 70B", "DGX-H100/64", "NeMo"),
        ("llama-3-70b", "dgx_h100/64", "nemo"),
        ("LLAMA3_70B", "Dgx H100/64", "NEMO"),
        ("meta-llama/Meta-Llama-3-70B", "dgxh100/64", ""),
        ("Meta-Llama-3-70B-Instruct", "dgx-h100/64", ""),
        ("https://huggingface.co/meta-llama/Llama-3.1-70B", "dgx-h100/64", ""),
    ],
)
def test_case_and_punctuation_do_not_count_and_answers_use_the_catalogues_names(
    model: str, system: str, stack: str, tmp_path: Path
) -> None:
    found = json.loads(ask(tmp_path, "estimate", model, "--on", system, "--stack", stack, *QUESTION).out)
    assert (found["model"], found["system"], found["stack"]) == ("llama3-70b", "dgx-h100/64", "nemo")


@pytest.mark.parametrize("room", ROOMS)
def test_no_two_entries_have_one_plain_name(room: str, catalogue: Catalogue) -> None:
    names = catalogue.names(room)
    assert len({plainly(name) for name in names}) == len(names)
    assert all(catalogue.name_of(room, name.upper()) == name for name in names)


def test_every_model_that_cites_the_hub_is_known_by_its_name_there(catalogue: Catalogue) -> None:
    siblings = ("hf-pythia", "hf-opt", "hf-bloom")
    for name in catalogue.names("models"):
        source = catalogue.model_file(name).parameters.source
        place = re.fullmatch(r"huggingface\.co/(\S+)", catalogue.references[source].place)
        if place and source not in siblings:
            assert hub_model(place[1]) == name


def test_every_name_on_the_hub_leads_to_an_entry(catalogue: Catalogue) -> None:
    known = set(catalogue.names("models"))
    for hub in hub_names():
        choices = re.search(r"\(([^?)][^)]*)\)", hub.match)
        models = (
            [hub.model.replace(r"\1", choice.replace("\\", "").lower()) for choice in choices[1].split("|")]
            if (choices and r"\1" in hub.model and "(?:" not in choices[1])
            else []
        )
        assert set(models) <= known
        assert r"\1" in hub.model or hub.model in known


@pytest.mark.parametrize("name", ["nobody/Nothing-7B", "meta-llama/Llama-9-3B"])
def test_an_unknown_name_of_the_hub_is_told_to_bring_its_config(name: str, tmp_path: Path) -> None:
    reply = ask(tmp_path, "estimate", name, "--on", "dgx-h100/8", "--batch", "8")
    assert reply.status == 2
    assert "config.json" in reply.last
    assert len(reply.last) < 250


def test_an_unknown_name_far_from_all_is_not_answered_with_all(tmp_path: Path) -> None:
    reply = ask(tmp_path, "estimate", "zzzzzz", "--on", "dgx-h100/8", "--batch", "8")
    assert reply.status == 2
    assert reply.last.endswith("volvelle catalogue models lists all 110")


def test_no_name_at_all_is_told_what_to_give(tmp_path: Path) -> None:
    reply = ask(tmp_path, "estimate", "", "--on", "dgx-h100/8", "--batch", "8")
    assert reply.status == 2
    assert "the model is ''" in reply.last
    assert "config.json' does not exist" not in reply.last


@pytest.mark.parametrize(
    ("given", "chip", "instead"),
    [
        ("h100-sxm/8", "h100-sxm", "dgx-h100/8"),
        ("H100/16", "h100-sxm", "dgx-h100/16"),
        ("tpu_v4/64", "tpu-v4", "tpu-v4-pod/64"),
        ("mi300x", "mi300x", "mi300x-cluster/N"),
    ],
)
@pytest.mark.parametrize("verb", [("estimate", "gpt2", "--batch", "8"), ("cost",), ("plan", "hpl")])
def test_a_chip_where_a_machine_is_meant_is_told_so(
    verb: tuple[str, ...], given: str, chip: str, instead: str, tmp_path: Path
) -> None:
    reply = ask(tmp_path, *verb, "--on", given)
    assert reply.status == 2
    assert f"{chip} is a chip; machines that have it: " in reply.last
    assert f"ask for {instead}" in reply.last


def test_a_chip_that_no_machine_has_is_told_so_too(tmp_path: Path) -> None:
    assert "mi210 is a chip that no cluster here has" in ask(tmp_path, "cost", "--on", "MI210/8").last


@pytest.mark.parametrize(
    ("given", "chip"),
    [("rtx-pro-6000", "rtx-pro-6000-server"), ("RTX 4090", "rtx-4090"), ("mi250", "mi250x"), ("l40s", "l40s")],
)
def test_a_chip_of_a_serving_benchmark_is_known_by_its_name_there(given: str, chip: str, catalogue: Catalogue) -> None:
    assert catalogue.chip(given).name == chip
    assert any(catalogue.stated("clusters", name, "chip") == chip for name in catalogue.names("clusters"))


def test_a_machine_spelt_in_capitals_is_not_mistaken_for_another(tmp_path: Path) -> None:
    assert "did you mean 'dgx-h100'" in ask(tmp_path, "cost", "--on", "DGX-H10/8").last


def test_a_count_that_no_such_machine_has_comes_with_those_beside_it(tmp_path: Path) -> None:
    found = ask(tmp_path, "estimate", "llama3-8b", "--on", "dgx-h100/60", "--batch", "60")
    assert "dgx-h100/56 or dgx-h100/64 would fill them" in " ".join(found.out.replace("│", " ").split())
    said = " ".join(ask(tmp_path, "plan", "hpl", "--on", "dgx-h100/60").out.split())
    assert "10 units of 6 are taken, which no such machine has; dgx-h100/56 or dgx-h100/64 would fill them" in said


def test_what_is_missing_is_installed_from_where_the_package_came_of() -> None:
    line = install_line("explore")
    assert line.startswith("pip install 'volvelle[explore]")
    origin = distribution("volvelle").read_text("direct_url.json")
    assert origin is None or json.loads(origin)["url"] in line


def test_an_element_type_may_be_written_in_capitals(tmp_path: Path) -> None:
    words = ("estimate", "gpt2", "--on", "dgx-h100/8", "--batch", "8", "--json")
    assert ask(tmp_path, *words, "--element", "BF16").out == ask(tmp_path, *words).out


def test_a_benchmark_without_its_argument_is_told_which(tmp_path: Path) -> None:
    reply = ask(tmp_path, "plan", "fft", "--on", "dgx-h100/8")
    assert (reply.status, reply.last) == (2, "Error: Missing argument 'GRID'.")


def test_of_names_that_hold_what_was_asked_for_the_shortest_come_first() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'h100-sxm' or 'h100-pcie'"):
        raise UnknownNameError.among("chip", "H100", ("sn10", "h100-sxm", "h100-pcie", "a100-pcie"))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("h100",), ("chips", "h100-sxm", "dgx-h100", "aws-p5")),
        (("chips", "H100"), ("h100-sxm", "h100-pcie")),
        (("chip",), ("a100-sxm4-80gb", "989 TFLOP/s")),
        (("h100-sxm",), ("NVIDIA H100 SXM5", "sources")),
        (("H100_SXM",), ("NVIDIA H100 SXM5", "sources")),
        (("Llama", "3", "70B"), ("llama3-70b", "70553706496")),
        (("stacks",), ("megatron-core", "hopper")),
        (("software", "NeMo"), ("nemo", "Megatron-Bridge")),
        ((), ("stacks", "clusters")),
    ],
)
@pytest.mark.parametrize("verb", ["catalogue", "catalog"])
def test_the_catalogue_is_searched(verb: str, words: tuple[str, ...], says: tuple[str, ...], tmp_path: Path) -> None:
    reply = ask(tmp_path, verb, *words)
    assert reply.status == 0, reply.err
    assert all(word in reply.out for word in says)
    assert ask(tmp_path, verb, *words, "--json").status == 0


def test_what_is_not_in_the_catalogue_is_said_in_a_line(tmp_path: Path) -> None:
    reply = ask(tmp_path, "catalogue", "chips", "zzzz")
    assert (reply.status, reply.last) == (2, "error: there is no chip 'zzzz'; volvelle catalogue chips lists all 54")


@pytest.mark.parametrize(
    ("verb", "says"),
    [
        ("estimat", "did you mean 'estimate'"),
        ("PLAN", ""),
        ("train", "did you mean 'estimate'"),
        ("inference", "did you mean 'serve'"),
        ("deploy", "did you mean 'serve'"),
        ("qqqq", "there are calibrate, catalogue"),
    ],
)
def test_a_command_that_is_not_there_is_told_which_one_is(verb: str, says: str, tmp_path: Path) -> None:
    reply = ask(tmp_path, verb, *(("--help",) if not says else ()))
    assert reply.status == (2 if says else 0)
    assert says in reply.err


def test_an_application_that_is_not_there_is_told_which_one_is(tmp_path: Path) -> None:
    assert "did you mean 'hpl'" in ask(tmp_path, "validate", "hpll").last
