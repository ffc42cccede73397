"""Two pools, one for prompts and one for answers, beside instances that do both."""

import json
import shlex
from dataclasses import replace
from itertools import product

import jsonschema
import pytest

import volvelle
from volvelle.cli import run
from volvelle.report.documents.document import schema
from volvelle.simulation.compiler import INSTALLED
from volvelle.verbs.plan_serving.plan import ServingPlan
from volvelle.verbs.plan_serving.split_pools import split_pools

pytestmark = pytest.mark.skipif(not INSTALLED, reason="a search follows some hundred runs, which needs the compiler")
NODE, CHIPS = "dgx-h100/6", 6
ASKED = {"input": 2048, "output": 128, "requests": 400, "weights": "bf16", "kv": "bf16"}
FEW = {"pp": 1, "max_batched_tokens": 8192, "max_seqs": 256}
LOADS = {
    "poisson 40/s": "p99 ttft 600 ms, p99 tpot 10 ms",
    "gamma 25/s 0.5": "p95 ttft 300 ms, mean tpot 9 ms, p99 e2el 3 s",
    "closed 24": "p90 ttft 150 ms, p99 tpot 9 ms",
}

BOTH = "poisson 40/s", "p99 ttft 600 ms, p99 tpot 16 ms"
"""That instances which do both keep too."""


def planned(load: str, slo: str, **others: object) -> ServingPlan:
    given = {"on": NODE, "load": load, "slo": slo, "tp": (1, 2), **FEW, **ASKED, **others}
    return volvelle.plan_serving("llama3-8b", **given)  # type: ignore[arg-type]


def every_pair() -> list[tuple[str, str, int]]:
    """Pools in words, and chips of both."""
    pools = [
        (f"{count}x tp{size}", count * size) for size in (1, 2) for count in range(1, CHIPS) if count * size < CHIPS
    ]
    return [(one, two, a + b) for (one, a), (two, b) in product(pools, pools) if a + b <= CHIPS]


@pytest.fixture(scope="module")
def plan() -> ServingPlan:
    return planned(*BOTH, split=True)


def test_progress_is_reported_for_candidates_and_for_pairs_of_pools() -> None:
    told: list[tuple[int, int, str]] = []
    planned(*BOTH, split=True, progress=lambda *numbers: told.append(numbers))
    assert {what for _, _, what in told} >= {"candidates", "pairs of pools"}
    assert all(0 <= done <= of for done, of, _ in told)


@pytest.mark.parametrize(
    "load", [pytest.param(load, marks=pytest.mark.long if place else ()) for place, load in enumerate(LOADS)]
)
def test_the_winner_is_the_one_that_following_every_pair_finds(load: str) -> None:
    found = planned(load, LOADS[load], split=True)
    kept = []
    for prefill, decode, chips in every_pair():
        served = volvelle.serve_split(
            "llama3-8b",
            on=NODE,
            prefill=prefill,
            decode=decode,
            load=load,
            max_batched_tokens=8192,
            max_seqs=256,
            **ASKED,  # type: ignore[arg-type]
        )
        if served.load is None or served.load.metrics is None:
            continue
        latencies = served.load.latencies
        if all(limit.kept_by(latencies) for limit in found.limits):
            excess = max((limit.found_in(latencies) or 0.0) / limit.seconds for limit in found.limits)
            kept.append((chips, excess, prefill, decode))
    assert kept, "the case has a winner"
    chips, excess, prefill, decode = min(kept)
    assert found.split is not None
    assert found.split.chips == chips > 2, "the case is no trivial one"
    assert found.split.excess == pytest.approx(excess)
    assert (str(found.split.question.prefill), str(found.split.question.decode)) == (prefill, decode)
    assert found.split_pools is not None
    assert found.split_pools.tried < len(every_pair())
    assert not found.split_pools.capped


def test_the_command_of_the_pools_gives_the_same_percentiles(
    plan: ServingPlan, capsys: pytest.CaptureFixture[str]
) -> None:
    assert plan.split is not None
    assert run([*shlex.split(plan.split.question.command)[1:], "--json"]) == 0
    served = json.loads(capsys.readouterr().out)
    assert served["chips"] == plan.split.chips
    for limit, value in plan.split.figures:
        assert served["load"]["latencies"][limit.latency]["percentiles"]["p99"] == pytest.approx(value)
        assert value <= limit.seconds
    assert plan.split.cost is not None
    assert served["serving_cost"]["owned_usd"] == pytest.approx(plan.split.cost.owned)


def test_time_to_the_first_token_has_the_transfer_in_it(plan: ServingPlan) -> None:
    assert plan.split is not None
    load = plan.split.serving.load
    assert load is not None
    assert {limit.latency: value for limit, value in plan.split.figures}["ttft"] == pytest.approx(
        load.latencies["ttft"].percentiles[99.0]
    )
    assert load.latencies["ttft"].mean > load.first_at_prefill.mean + load.transfer.mean


@pytest.mark.parametrize("slo", ["p99 ttft 1 ms", "p99 ttft 130 ms, p99 tpot 3.9 ms"])
def test_limits_that_nobody_keeps_give_no_pools_and_the_nearest(slo: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = planned("poisson 40/s", slo, split=True)
    assert found.split is None
    assert found.split_pools is not None
    nearest = found.split_pools.nearest
    assert nearest is not None
    assert not nearest.kept
    assert nearest.excess > 1.0
    words = [*shlex.split(found.question.command)[1:]]
    run(words)
    told = " ".join(capsys.readouterr().out.split())
    assert "the nearest miss" in told or "as fast as the nearest serve them" in told
    run([*words, "--json"])
    answer = json.loads(capsys.readouterr().out)
    assert answer["split_pools"]["option"] is None
    assert answer["split_pools"]["nearest"]["command"] == nearest.question.command


def test_without_the_flag_nothing_is_looked_for_and_options_are_the_same(
    plan: ServingPlan, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = planned(*BOTH)
    assert plain.split is None
    assert plain.split_pools is None
    assert "--split" not in plain.question.command
    assert [option.question for option in plain.options] == [option.question for option in plan.options]
    assert [option.spent for option in plain.options] == [option.spent for option in plan.options]
    assert not any("split" in note for note in plain.notes)
    assert run(shlex.split(plain.question.command)[1:]) == 0
    assert "plit" not in capsys.readouterr().out


def test_what_spends_less_is_said_in_full_in_brief_and_as_json(
    plan: ServingPlan, capsys: pytest.CaptureFixture[str]
) -> None:
    assert plan.best is not None
    assert plan.split is not None
    words = shlex.split(plan.question.command)[1:]
    assert run(words) == 0
    full = " ".join(capsys.readouterr().out.split())
    assert "Split pools" in full
    less = "split pools spend less" if plan.split.spent < plan.best.spent else "instances that do both spend less"
    assert (less if plan.split.spent != plan.best.spent else "spend the same") in full
    assert plan.split.question.command in full
    assert run([*words, "--brief"]) == 0
    assert "split pools: prefill" in capsys.readouterr().out
    assert run([*words, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, schema("plan"))
    answer = document["split_pools"]
    assert answer["option"]["chips"] == plan.split.chips
    assert answer["option"]["command"] == plan.split.question.command
    assert answer["nearest"] is None
    assert answer["tried"] > 0


def test_a_search_that_was_cut_short_says_so_and_tries_the_whole_machine() -> None:
    whole = planned("poisson 40/s", "p99 ttft 150 ms, p99 tpot 16 ms", split=True)
    assert whole.split is not None
    found = split_pools(whole.search, whole.question, whole.clusters, whole.options, most=2)
    assert found.capped
    assert found.option is None or found.option.spent >= whole.split.spent
    told = replace(whole, split_pools=found).notes
    assert any("were simulated and no more" in note for note in told)


def test_a_run_that_ends_before_a_pool_is_full_rules_out_no_pair() -> None:
    """Long answers at a high rate: what would be too much for ever is not too much for 500 requests."""
    others = {"on": "dgx-h100/8", "input": 6000, "output": 400, "requests": 500, "weights": "fp8", "kv": "fp8"}
    found = planned("poisson 60/s", "p95 ttft 300 ms, mean tpot 40 ms", lengths="uniform:0.3", split=True, **others)
    assert found.split is not None
    assert found.split.chips == 8


def test_pools_may_serve_what_no_instance_that_does_both_serves(capsys: pytest.CaptureFixture[str]) -> None:
    found = planned("poisson 40/s", LOADS["poisson 40/s"], split=True)
    assert found.best is None
    assert found.split is not None
    assert found.feasible
    assert run(shlex.split(found.question.command)[1:]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "no instance that does both serves it within the limits" in told
    assert "split pools keep the limits for" in told
