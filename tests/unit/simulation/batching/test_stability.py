"""Past the knee the answer is rates, and does not tell how long the run was."""

import numpy as np
import pytest

from tests.unit.simulation.batching.small import flat_costs
from volvelle.simulation.batching.metrics import Metrics
from volvelle.simulation.batching.rules import vllm
from volvelle.simulation.batching.served import Served
from volvelle.simulation.batching.serving import serve
from volvelle.simulation.batching.stability import Unstable, answer, settled, unstable
from volvelle.workload.serving.lengths import FixedLength, Independent
from volvelle.workload.serving.loads import AtOnce, Closed, Poisson
from volvelle.workload.serving.requests import Requests

RULES = vllm(kv_blocks=1000, token_budget=64, max_sequences=8, block_tokens=4)
SHAPE = Independent(input=FixedLength(tokens=8), output=FixedLength(tokens=10))


def at(rate: float, count: int) -> Unstable | Metrics:
    return answer(serve(Poisson(rate=rate).requests(SHAPE, count=count), flat_costs(), RULES))


def test_a_rate_that_is_too_high_is_answered_by_what_is_sustained() -> None:
    found = [at(2.0, count) for count in (1000, 2000, 4000)]
    assert all(isinstance(each, Unstable) for each in found)
    sustained = [each.sustained for each in found if isinstance(each, Unstable)]
    # Eight at a time: a step with all their prompts, and nine in which they decode.
    assert sustained == pytest.approx([8 / (1.64 + 9 * 1.08)] * 3, rel=0.01)
    assert str(found[0]).startswith("unstable: offered 2/s, sustained 0.7")


def test_a_rate_that_is_kept_up_with_has_latencies() -> None:
    assert isinstance(at(0.4, 2000), Metrics)


def test_loads_without_a_rate_are_never_unstable() -> None:
    for load in (Closed(clients=50), AtOnce()):
        assert unstable(serve(load.requests(SHAPE, count=400), flat_costs(), RULES)) is None


def test_an_answer_settles_before_it_is_given() -> None:
    def asked(count: int) -> Requests:
        return Poisson(rate=0.6).requests(SHAPE, count=count)

    def run(count: int) -> tuple[Served, Metrics | Unstable]:
        served = serve(asked(count), flat_costs(), RULES)
        return served, answer(served)

    _, found = settled(run, count=500, most=128_000)
    _, longer = run(64_000)
    assert isinstance(found, Metrics)
    assert isinstance(longer, Metrics)
    assert found.ttft.mean == pytest.approx(longer.ttft.mean, rel=0.15)
    assert np.isfinite(found.itl.mean)
