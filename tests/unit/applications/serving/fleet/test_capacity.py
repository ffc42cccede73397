"""What one replica takes within its limits."""

from functools import cache

import pytest

from volvelle.applications.serving.fleet.capacity import ReplicaCapacity, replica_capacity
from volvelle.applications.serving.instance import Instance
from volvelle.applications.serving.under_load import answer_under_load
from volvelle.catalogue import Catalogue
from volvelle.errors import OutsideDomainError
from volvelle.interchange.limit_words import read_limits
from volvelle.verbs.serving.question import ServingQuestion
from volvelle.workload.serving.lengths import FixedLength, Independent
from volvelle.workload.serving.loads import Poisson

SHAPE = Independent(input=FixedLength(tokens=1024), output=FixedLength(tokens=128))


@cache
def replica(machine: str = "dgx-h100", tokens: int | None = None) -> Instance:
    catalogue = Catalogue()
    question = ServingQuestion(model="llama3-8b", on=f"{machine}/1", max_batched_tokens=tokens)
    return question.instance(catalogue, catalogue.model("llama3-8b"), catalogue.cluster(question.on))


@cache
def found(limits: str, machine: str = "dgx-h100") -> ReplicaCapacity:
    return replica_capacity(replica(machine), SHAPE, read_limits(limits))


def test_limits_are_kept_at_the_rate_and_missed_above() -> None:
    limits = read_limits("p95 tpot 20 ms")
    capacity = found("p95 tpot 20 ms")
    assert capacity.binding == "p95 tpot"
    assert 0 < capacity.rate < capacity.sustained

    def kept(rate: float) -> bool:
        run = answer_under_load(replica(), Poisson(rate=rate), SHAPE, replicas=1, requests=12_000)
        return run.unstable is None and all(limit.kept_by(run.latencies) for limit in limits)

    assert kept(capacity.rate)
    assert not kept(1.1 * capacity.rate)


def test_looser_limits_never_take_less() -> None:
    rates = [found(f"p95 tpot {tpot} ms").rate for tpot in (12, 20, 40)] + [found("p99 e2el 100 s").rate]
    assert rates == sorted(rates)
    assert rates[-1] <= found("p99 e2el 100 s").sustained


def test_a_faster_chip_never_takes_less() -> None:
    assert found("p95 tpot 20 ms").rate <= found("p95 tpot 20 ms", "dgx-h200").rate


def test_limits_that_a_lone_request_misses_leave_no_rate() -> None:
    capacity = found("p99 ttft 1 ms")
    assert capacity.rate == 0.0
    assert capacity.latencies["ttft"].percentiles[99.0] > 1e-3


def test_the_range_is_as_wide_as_the_error_of_the_throughput() -> None:
    capacity = found("p95 tpot 20 ms")
    assert capacity.range.low * capacity.range.high == pytest.approx(capacity.rate**2)
    assert capacity.range.high / capacity.rate == pytest.approx(capacity.error**1.2816, rel=1e-3)
    assert 0.0 < capacity.prompt_share < 1.0


def test_prompts_of_many_steps_are_followed_with_fewer_requests_and_of_very_many_refused() -> None:
    limits = read_limits("p99 ttft 30 s")
    few = replica_capacity(replica(tokens=12), SHAPE, limits)
    assert few.few
    assert 1000 <= few.requests < 12_000
    assert few.rate > 0.0
    assert not found("p95 tpot 20 ms").few
    with pytest.raises(OutsideDomainError, match=r"1,024 steps of 1 each.*--max-batched-tokens"):
        replica_capacity(replica(tokens=1), SHAPE, limits)
