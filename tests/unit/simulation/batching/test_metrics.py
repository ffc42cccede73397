"""Figures are those that ``vllm bench serve`` would print."""

import numpy as np
import pytest

from tests.unit.simulation.batching.small import flat_costs, requests
from volvelle.errors import DescriptionError
from volvelle.simulation.batching.metrics import Latency, Limits, measure
from volvelle.simulation.batching.rules import vllm
from volvelle.simulation.batching.serving import serve

RULES = vllm(kv_blocks=100, token_budget=64, max_sequences=8, block_tokens=4)


def test_percentiles_of_weighted_values_are_those_of_all_written_out() -> None:
    generator = np.random.default_rng(5)
    for _ in range(20):
        values, weights = generator.random(30), generator.integers(1, 9, 30)
        written = np.repeat(values, weights)
        found = Latency.of(values, (1.0, 25.0, 50.0, 99.0, 100.0), weights.astype(float))
        for percentile, value in found.percentiles.items():
            assert value == pytest.approx(np.percentile(written, percentile), rel=1e-12)
        assert found.mean == pytest.approx(written.mean())
        assert found.std == pytest.approx(written.std())


def test_the_figures_of_two_requests() -> None:
    served = serve(requests((0.0, 10, 5), (0.0, 10, 1)), flat_costs(), RULES)
    found = measure(served, limits=Limits(ttft=1.3, tpot=1.0))
    assert found.ttft.mean == pytest.approx(1.2)
    assert found.tpot.mean == pytest.approx(1.01)
    assert found.itl.mean == pytest.approx(1.01)
    assert found.e2el.percentiles[99.0] == pytest.approx(np.percentile([1.2, 1.2 + 4 * 1.01], 99))
    assert found.duration == pytest.approx(1.2 + 4 * 1.01)
    assert found.output_throughput == pytest.approx(6 / found.duration)
    assert found.total_token_throughput == pytest.approx(26 / found.duration)
    # One token has no time per output token: it counts as 0, and keeps any limit.
    assert found.request_goodput == pytest.approx(1 / found.duration)
    assert found.max_concurrent_requests == 2


def test_latencies_that_no_request_has_are_no_numbers() -> None:
    found = measure(serve(requests((0.0, 10, 1)), flat_costs(), RULES))
    assert np.isnan(found.tpot.mean)
    assert np.isnan(found.itl.percentiles[99.0])
    assert found.request_goodput is None


def test_time_in_a_client_s_queue_is_not_time_to_first_token() -> None:
    found = measure(serve(requests((0.0, 10, 2), (0.0, 10, 2), clients=1), flat_costs(), RULES))
    assert found.ttft.mean == pytest.approx(1.1)
    assert found.client_queue_time.percentiles[99.0] > 2


def test_a_limit_is_a_number_of_seconds() -> None:
    with pytest.raises(DescriptionError, match="ttft is nan"):
        Limits(ttft=float("nan"))
