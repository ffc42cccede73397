"""A question by values is the same question as by words."""

from pathlib import Path
from typing import Any

import pytest

from volvelle import (
    AtOnce,
    Closed,
    DescriptionError,
    Draft,
    Eagle,
    FixedLengths,
    Gamma,
    LatencyLimit,
    LengthsAround,
    LengthsUpTo,
    Ngram,
    Poisson,
    Ramp,
    Trace,
    fleet,
    plan_serving,
    serve,
    serve_split,
)
from volvelle.interchange.load_words import read_load
from volvelle.simulation.compiler import INSTALLED

NODE = "dgx-h100/8"
SHORT: dict[str, Any] = {"input": 128, "output": 16}


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    file = tmp_path / "requests.csv"
    file.write_text(
        "arrival_s,input_tokens,output_tokens\n" + "".join(f"{n / 4},{90 + n},{5 + n % 7}\n" for n in range(40))
    )
    return file


@pytest.mark.parametrize(
    ("load", "words"),
    [
        (Closed(8), "closed 8"),
        (Poisson(4), "poisson 4/s"),
        (Gamma(4, 0.5), "gamma 4/s 0.5"),
        (Ramp(1, 4), "ramp 1/s 4/s"),
        (AtOnce(), "at once"),
    ],
)
def test_a_load_is_served_as_its_words_are(load: Any, words: str) -> None:
    by_value, by_words = (
        serve("llama3-8b", on=NODE, tensor=1, load=given, requests=80, **SHORT) for given in (load, words)
    )
    assert by_value.to_dict() == by_words.to_dict()
    assert by_value.question == by_words.question


def test_a_trace_is_served_as_its_words_are(trace: Path) -> None:
    by_value = serve("llama3-8b", on=NODE, tensor=1, load=Trace(trace, scale=1.5))
    assert by_value.to_dict() == serve("llama3-8b", on=NODE, tensor=1, load=f"trace {trace} ×1.5").to_dict()


def test_a_trace_is_read_when_it_is_asked_about(trace: Path) -> None:
    load = Trace(trace)
    text = trace.read_text()
    trace.unlink()
    with pytest.raises(DescriptionError, match="there is no trace"):
        read_load(load)
    trace.write_text(text)
    assert read_load(load).requests(None, count=0).arrival.size == 40


@pytest.mark.parametrize("name", [" requests.csv", "requests.csv "])
def test_a_trace_whose_name_words_cannot_say_is_refused(name: str) -> None:
    with pytest.raises(DescriptionError, match="begins or ends with a blank"):
        Trace(name)


@pytest.mark.parametrize(
    ("lengths", "words"),
    [(LengthsAround(0.1), "around:0.1"), (LengthsUpTo(0.8), "uniform:0.8"), (FixedLengths(), "fixed")],
)
def test_lengths_are_drawn_as_their_words_say(lengths: Any, words: str) -> None:
    by_value, by_words = (
        serve("llama3-8b", on=NODE, tensor=1, load="closed 4", lengths=given, **SHORT) for given in (lengths, words)
    )
    assert by_value.to_dict() == by_words.to_dict()


@pytest.mark.parametrize(
    ("drafter", "words"),
    [
        (Eagle(3, tree=(4, 2), acceptance=0.8, decay=0.9), "eagle 3 tree 4x2 acceptance 0.8 decay 0.9"),
        (Eagle(), "eagle best"),
        (Draft("llama3-8b", 4, tp=1), "draft llama3-8b 4 tp1"),
    ],
)
def test_drafts_are_timed_as_their_words_say(drafter: Any, words: str) -> None:
    by_value, by_words = (serve("llama3-70b", on=NODE, batch=4, speculate=given) for given in (drafter, words))
    assert by_value.to_dict() == by_words.to_dict()


def test_a_drafter_has_no_option_that_it_cannot_use() -> None:
    with pytest.raises(DescriptionError, match="its own acceptance"):
        Eagle(3, acceptance=0.8, curve="curve.csv")
    with pytest.raises(DescriptionError, match="without blanks"):
        Draft("my model", 4)
    with pytest.raises(DescriptionError, match="levels"):
        Eagle(1, tree=(4, 2))
    with pytest.raises(TypeError):
        Ngram(4, tree=(2,))  # type: ignore[call-arg]


def test_two_pools_serve_a_load_as_its_words_say() -> None:
    pools: dict[str, Any] = {"on": NODE, "prefill": "1x tp1", "decode": "1x tp1", "requests": 60, **SHORT}
    by_value = serve_split("llama3-8b", load=Poisson(3), lengths=FixedLengths(), **pools)
    assert by_value.to_dict() == serve_split("llama3-8b", load="poisson 3/s", lengths="fixed", **pools).to_dict()


@pytest.mark.skipif(not INSTALLED, reason="a search follows some hundred runs, which needs the compiler")
def test_a_plan_takes_values_for_words() -> None:
    few: dict[str, Any] = {"tensor": 1, "pipeline": 1, "weights": "bf16", "kv": "bf16", "max_seqs": 64, "requests": 200}
    limits = [LatencyLimit("ttft", 1.0, percentile=99), LatencyLimit("tpot", 0.03)]
    by_value = plan_serving(
        "llama3-8b",
        on=NODE,
        load=Poisson(4),
        slo=limits,
        lengths=LengthsAround(0.1),
        speculate=[Ngram(2)],
        max_batched_tokens=2048,
        **few,
        **SHORT,
    )
    by_words = plan_serving(
        "llama3-8b",
        on=NODE,
        load="poisson 4/s",
        slo="p99 ttft 1 s, mean tpot 30 ms",
        lengths="around:0.1",
        speculate="ngram 2",
        max_batched_tokens=2048,
        **few,
        **SHORT,
    )
    assert by_value.question == by_words.question
    assert by_value.to_dict()["options"] == by_words.to_dict()["options"]


def test_a_fleet_takes_values_for_words() -> None:
    asked: dict[str, Any] = {"on": "dgx-h100", "tensor": 1, "check": "none"}
    by_value = fleet(
        "llama3-8b", load=Poisson(30), slo=LatencyLimit("tpot", 0.03, percentile=95), lengths=FixedLengths(), **asked
    )
    by_words = fleet("llama3-8b", load="poisson 30/s", slo="p95 tpot 30 ms", lengths="fixed", **asked)
    assert by_value.to_dict() == by_words.to_dict()


def test_a_described_fleet_takes_values_for_words() -> None:
    def described(**service: Any) -> dict[str, Any]:
        services = [{"model": "llama3-8b", "tensor": 1, **service}]
        return {"name": "small", "machines": {"dgx-h100": {}}, "services": services, "check": "none"}

    limits = [LatencyLimit("tpot", 0.03, percentile=95), LatencyLimit("ttft", 2.0)]
    by_value = fleet(described(load={"rates": [3, 5], "lengths": LengthsUpTo(0.5)}, slo=limits))
    by_words = fleet(described(load={"rates": [3, 5], "lengths": "uniform:0.5"}, slo="p95 tpot 30 ms, mean ttft 2 s"))
    assert by_value.to_dict() == by_words.to_dict()
    assert fleet(described(load=Poisson(3), slo=limits[0])).form.services[0].load.words == "poisson 3/s"
    with pytest.raises(DescriptionError, match="slo"):
        fleet(described(load=Poisson(3), slo=[2.0]))


@pytest.mark.parametrize("wrong", [{"load": 12}, {"load": "closed 4", "lengths": 0.2}, {"speculate": 3, "batch": 1}])
def test_a_number_is_no_load_no_lengths_and_no_drafter(wrong: dict[str, Any]) -> None:
    with pytest.raises(DescriptionError, match="it must be text or"):
        serve("llama3-8b", on=NODE, **wrong)
