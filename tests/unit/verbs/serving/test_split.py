"""How a model is served by two pools."""

import json

import pytest

import volvelle
from volvelle import DescriptionError, MappingError, UnknownNameError
from volvelle.catalogue.engines import split_error
from volvelle.questions.serving import ServeQuestion
from volvelle.report.documents.document import json_text
from volvelle.report.documents.serve_split import ServeSplitDocument
from volvelle.report.serving.split_text import brief_lines
from volvelle.verbs.serving.split import SplitServing, split_of

ASKED = {"on": "dgx-h100/16", "weights": "fp8", "load": "closed 8", "input": 512, "output": 32}


def split(**changed: object) -> SplitServing:
    asked: dict[str, object] = {"prefill": "1x tp4", "decode": "1x tp4", **ASKED, **changed}
    return volvelle.serve_split("llama3-70b", **asked)  # type: ignore[arg-type]


def test_time_to_the_first_token_is_told_with_the_transfer_and_before_it() -> None:
    load = split(on="dgx-h100/8").load
    assert load is not None
    times = load.latencies
    parts = times["ttft_at_prefill"].mean + times["transfer"].mean + times["wait_for_room"].mean
    assert times["ttft"].mean == pytest.approx(parts)


def test_ranges_are_no_narrower_than_runs_of_split_pools_ask_for() -> None:
    load = split(on="dgx-h100/8").load
    assert load is not None
    for measure in ("ttft", "tpot"):
        assert split_error(measure) > 1.0
        assert load.errors[measure] >= split_error(measure)
    assert split_error("latency") == 1.0  # no run of split pools states it


def test_pools_in_one_node_are_joined_by_its_links_and_larger_ones_by_the_network() -> None:
    within, beyond = split(on="dgx-h100/8"), split(prefill="2x tp4", decode="2x tp4")
    assert within.link.rate > 5 * beyond.link.rate
    assert split(decode="1x tp4 on dgx-h200/8").link.rate == beyond.link.rate


def test_answers_of_one_token_are_those_of_an_engine_that_is_not_split() -> None:
    alone = volvelle.serve("llama3-70b", **{**ASKED, "on": "dgx-h100/4", "output": 1}, tp=4).load  # type: ignore[arg-type]
    load = split(output=1).load
    assert load is not None
    assert alone is not None
    assert load.latencies["ttft"].mean == alone.latencies["ttft"].mean
    assert load.throughput == alone.throughput
    assert load.matched is None


def test_a_second_worker_for_prompts_lowers_the_time_to_the_first_token_and_its_use() -> None:
    one, two = split(load="closed 64").load, split(load="closed 64", prefill="2x tp4").load
    assert one is not None
    assert two is not None
    assert two.latencies["ttft"].mean < one.latencies["ttft"].mean
    assert two.prefill.utilisation < one.prefill.utilisation
    assert two.matched == pytest.approx(one.matched)


def test_a_pool_may_have_chips_and_weights_of_its_own() -> None:
    found = split(prefill="1x tp4 on dgx-h200/8 weights bf16")
    assert found.prefill.instance.chip.name == "h200-sxm"
    assert found.prefill.instance.served.weights == "bf16"
    assert found.decode.instance.served.weights == "fp8"
    assert found.cost is not None
    assert found.cost.owned is not None


def test_what_does_not_fit_is_told_with_commands_that_would() -> None:
    found = split(prefill="1x tp1 weights bf16")
    assert not found.feasible
    (problem,) = found.violations
    assert problem.problem.startswith("prefill: ")
    assert any("--prefill '1x tp2 weights bf16'" in cure for cure in problem.cures)
    assert any("cannot run" in line for line in brief_lines(found))


def test_more_than_is_sustained_is_rates_and_no_latencies() -> None:
    load = split(load="poisson 500/s", requests=400).load
    assert load is not None
    assert load.unstable is not None
    assert load.binds == load.unstable_pool == "prefill"
    assert load.latencies == {}


def test_the_document_is_finite_and_has_both_pools() -> None:
    document = json.loads(json_text("serve", ServeSplitDocument.model_validate(split())))
    assert document["prefill"]["workers"] == document["decode"]["workers"] == 1
    assert document["load"]["binds"] in ("prefill", "decode")
    assert 0.0 < document["load"]["decode"]["utilisation"] < 1.0
    assert {"ttft", "tpot", "latency", "throughput"} == set(document["ranges"])


def test_a_question_is_the_command_that_asks_it() -> None:
    command = split(router="least-loaded", transfer="by-layer").question.command
    assert "--prefill '1x tp4' --decode '1x tp4'" in command
    assert "--router least-loaded" in command


@pytest.mark.parametrize(
    ("changed", "error", "said"),
    [
        ({"prefill": "3x tp8"}, MappingError, "both pools take 28 chips, and dgx-h100/16 has 16"),
        ({"transfer": "before"}, UnknownNameError, "transfer is 'before'"),
        ({"router": "random"}, UnknownNameError, "router is 'random'"),
        ({"decode": "many"}, DescriptionError, "decode='many'"),
        ({"load": "closed 50001"}, DescriptionError, "clients of one part of the pools is 50001; .* from 1 to 50,000"),
    ],
)
def test_what_cannot_be_asked_is_refused_by_name(changed: dict[str, str], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        split(**changed)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"prefill": "1x tp8"}, "--prefill is given without --decode"),
        ({"decode": "1x tp8"}, "--decode is given without --prefill"),
        ({"prefill": "1x", "decode": "1x"}, "give --load"),
        ({"prefill": "1x", "decode": "1x", "load": "closed 1", "batch": 4}, "no --batch"),
        ({"prefill": "1x", "decode": "1x", "load": "closed 1", "emit": "vllm"}, "--emit is not there for two pools"),
        ({"router": "round-robin"}, "--router is said of two pools"),
    ],
)
def test_options_of_pools_go_together(given: dict[str, object], said: str) -> None:
    with pytest.raises(DescriptionError, match=said):
        split_of(ServeQuestion("llama3-8b", on="dgx-h100/16", **given))
