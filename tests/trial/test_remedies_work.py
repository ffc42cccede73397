"""Every remedy that is printed leads to an answer when it is typed."""

import json
import re
import shlex
from pathlib import Path

import pytest

from tests.everyday.asking import Reply, ask

ESTIMATES = {
    "a degree that does not divide": "llama3-8b --on dgx-h100/8 --batch 128 --tp 3",
    "experts split over too few chips": (
        "qwen3-235b-a22b --on dgx-h100/256 --seq 4096 --batch 8192 --element fp8 --tp 2 --pp 8 --ep 32 --interleave 4"
    ),
    "a batch that does not divide": "llama3-8b --on dgx-h100/8 --batch 100 --micro-batch 3",
    "replicas that leave chips over": "llama3-8b --on dgx-h100/8 --batch 128 --dp 3",
    "more stages than layers": "llama3-8b --on dgx-h100/64 --batch 128 --pp 64",
    "a schedule that does not interleave": (
        "llama3-8b --on dgx-h100/8 --batch 64 --pp 2 --schedule dualpipe --interleave 2"
    ),
    "groups of ZeRO that are unequal": "llama3-8b --on dgx-h100/8 --batch 128 --zero 2 --zero-group 3",
    "experts of a dense model": "llama3-8b --on dgx-h100/8 --batch 64 --tp 4 --pp 2 --ep 2",
    "heads that cannot be swapped": "llama3-8b --on dgx-h100/64 --batch 64 --tp 4 --cp 8 --ulysses",
    "too little memory": "llama3-8b --on dgx-h100/8 --batch 64 --recompute none --zero 0",
    "too little memory on the whole machine": "llama3-405b --on dgx-h100/64 --batch 128 --tp 8",
    "whole experts without sequence parallelism": (
        "mixtral-8x7b --on dgx-h100/64 --seq 4096 --batch 512 --tp 8 --ep 8 --pp 4 --no-sequence-parallel "
        "--no-expert-tensor-parallel"
    ),
    "more chips than there are": "llama3-70b --on dgx-h100/8 --batch 128 --tp 16",
    "a host whose link is unknown": "llama3-8b --on aurora/12 --batch 96 --zero 3 --offload optimiser",
    "stages that cannot be replayed": "llama3-8b --on dgx-h100/8 --batch 3 --pp 2 --tp 3 --estimator event",
}
SERVES = {
    "weights that do not fit": "llama3-70b --on dgx-h100/8 --tp 1 --batch 8",
    "a batch whose cache does not fit": "llama3.1-8b --on dgx-h100/1 --batch 4000 --input 8000 --output 1000",
    "a prompt that the engine does not cut": (
        "llama3.1-8b --on dgx-h100/8 --tp 1 --batch 8 --input 20000 --engine trtllm"
    ),
}
PLANS = {
    "a model that is too large": "llama3-405b --on dgx-h100/16 --batch 64",
    "optimiser state that is too large": "llama3-70b --on dgx-h100/8 --batch 64 --recompute none",
}
APPLICATIONS = {
    "a transform that does not fit": "fft 4096 --on dgx-h100/8",
    "a real transform that does not fit": "fft 4096 --on dgx-h100/8 --real",
    "a transform of too few points": "fft 16 --on dgx-h100/512",
    "a stencil whose cells do not fit": "stencil 8192 --on dgx-h100/8",
    "a stencil with fewer cells than processes": "stencil 8 --on dgx-h100/1024",
    "tables that do not fit": "dlrm dlrm-793b --on dgx-h100/8",
    "more processes than accelerators": "hpl --on dgx-h100/8 --p 4 --q 4",
    "a matrix of less than one block": "hpl --on dgx-h100/8 --n 100",
    "factors that do not fit": "hpl-mxp --on dgx-h100/8 --n 2000000",
}
MAPS = {
    "weights that no layout of the machine holds": "llama3-70b --on dgx-h100/4 --limit 5",
    "whole weights that the memory on the chip does not hold": (
        "gpt3-175b --gpt-layer-only --forward --on sn10-node/4 --tp 1 --limit 5 --whole-weights"
    ),
}
UNTRIED = re.compile(
    r"more chips|chips with more memory|smaller (grid|tiles)|more SRAM|longer (--)?(time )?limit|; try "
)
"""Words that offered a change which no command had tried."""
FLEET = "llama3-8b --load 'poisson 60/s' --slo 'p99 ttft 2 s' --check none"


def remedies_of(reply: Reply) -> list[str]:
    """Return the remedies of an answer or of an error: options, or a whole command."""
    if reply.status == 2:
        return [part for part in reply.last.partition("; ")[2].split(" or ") if part]
    document = json.loads(reply.out)
    if "refused" in document:
        document = document["refused"][0]
    return list(dict.fromkeys(cure for violation in document["violations"] for cure in violation["cures"]))


def with_remedy(question: str, remedy: str, command: str = "estimate") -> list[str]:
    """Return the question with a remedy; what is of the form ``without --x y`` is taken out."""
    options = remedy.partition(" (")[0]
    if options.startswith("volvelle "):
        return shlex.split(options)[1:]
    kept = question
    for part in options.split("without ")[1:]:
        kept = kept.replace(part.strip(), "")
    return [command, *shlex.split(f"{kept} {options.partition('without ')[0]}")]


@pytest.mark.parametrize("question", ESTIMATES.values(), ids=ESTIMATES)
def test_every_fix_of_an_estimate_runs(tmp_path: Path, question: str) -> None:
    reply = ask(tmp_path, "estimate", *shlex.split(question), "--json", "--anyway")
    assert reply.status != 0
    remedies = list(dict.fromkeys(remedies_of(reply)))
    assert remedies, reply.out + reply.err
    for remedy in remedies:
        again = ask(tmp_path, *with_remedy(question, remedy), "--json", "--anyway")
        assert again.status == 0, f"{remedy}: {again.err or again.out[:400]}"


def test_whole_experts_are_offered_where_experts_are_split_over_too_few_chips(tmp_path: Path) -> None:
    question = ESTIMATES["experts split over too few chips"]
    found = ask(tmp_path, "estimate", *shlex.split(question), COLUMNS="200")
    first = next(line for line in found.out.splitlines() if "fix:" in line)
    assert "--no-expert-tensor-parallel" in first


@pytest.mark.parametrize("brief", [(), ("--brief",)])
def test_a_layout_that_cannot_exist_has_no_memory_and_no_inputs(tmp_path: Path, brief: tuple[str, ...]) -> None:
    reply = ask(tmp_path, "estimate", *shlex.split(ESTIMATES["a degree that does not divide"]), *brief)
    assert reply.status == 1
    assert "probability" not in reply.out
    assert "Inputs and sources" not in reply.out
    assert "fix:" in reply.out
    assert len(reply.out.splitlines()) < 25


@pytest.mark.parametrize("question", SERVES.values(), ids=SERVES)
def test_every_fix_of_serving_runs(tmp_path: Path, question: str) -> None:
    reply = ask(tmp_path, "serve", *shlex.split(question), "--json")
    assert reply.status == 1, reply.err
    remedies = remedies_of(reply)
    assert remedies
    for remedy in remedies:
        again = ask(tmp_path, *with_remedy(question, remedy), "--json")
        assert again.status == 0, f"{remedy}: {again.err or again.out[:400]}"


@pytest.mark.parametrize("question", PLANS.values(), ids=PLANS)
def test_every_way_out_of_a_plan_runs(tmp_path: Path, question: str) -> None:
    reply = ask(tmp_path, "plan", *shlex.split(question), "--json")
    assert reply.status == 1
    ways = json.loads(reply.out)["ways_out"]
    assert ways
    for way in ways:
        again = ask(tmp_path, *shlex.split(way["command"])[1:], "--json", "--top", "1", "--anyway")
        assert again.status == 0, f"{way['command']}: {again.err}"
        assert json.loads(again.out)["layouts"]


@pytest.mark.parametrize("question", APPLICATIONS.values(), ids=APPLICATIONS)
def test_every_fix_of_a_plan_of_an_application_runs(tmp_path: Path, question: str) -> None:
    reply = ask(tmp_path, "plan", *shlex.split(question), "--json")
    assert reply.status in (1, 2)
    assert not UNTRIED.search(reply.out + reply.err)
    remedies = remedies_of(reply)
    assert remedies, reply.out + reply.err
    for remedy in remedies:
        again = ask(tmp_path, *with_remedy(question, remedy, "plan"), "--json", "--top", "1")
        assert again.status == 0, f"{remedy}: {again.err or again.out[:400]}"
        assert json.loads(again.out)["plans"]


@pytest.mark.parametrize("question", ["fft 4096 --on dgx-h100/8", "stencil 8 --on dgx-h100/1024"])
def test_a_plan_that_cannot_run_prints_its_fixes_as_options_and_no_time(tmp_path: Path, question: str) -> None:
    reply = ask(tmp_path, "plan", *shlex.split(question))
    assert reply.status == 1
    assert "fix: --on dgx-h100/" in reply.out
    assert not UNTRIED.search(reply.out)
    assert " range)" not in reply.out, "a cut that cannot exist has no time"


@pytest.mark.parametrize("question", MAPS.values(), ids=MAPS)
def test_every_fix_of_map_runs(tmp_path: Path, question: str) -> None:
    reply = ask(tmp_path, "map", *shlex.split(question), "--json")
    assert reply.status == 1
    assert not UNTRIED.search(reply.out)
    remedies = remedies_of(reply)
    assert remedies
    for remedy in remedies:
        again = ask(tmp_path, *with_remedy(question, remedy, "map"), "--json")
        assert again.status == 0, f"{remedy}: {again.err or again.out[:400]}"


def test_map_without_time_offers_nothing_that_it_did_not_try(tmp_path: Path) -> None:
    reply = ask(tmp_path, "map", "gpt2", "--on", "sn30-node/8", "--tp", "8", "--limit", "0.01")
    assert reply.status == 1
    assert "fix:" not in reply.out


def test_every_fix_of_a_fleet_with_too_few_chips_serves_the_load(tmp_path: Path) -> None:
    reply = ask(tmp_path, "fleet", *shlex.split(f"{FLEET} --on dgx-h100/1"), "--json")
    assert reply.status == 1
    remedies = remedies_of(reply)
    assert remedies
    for remedy in remedies:
        again = ask(tmp_path, *with_remedy(FLEET, remedy, "fleet"), "--json")
        assert again.status == 0, f"{remedy}: {again.err or again.out[:400]}"
