"""The largest part of a load that a rank serves within limits."""

import numpy as np
import pytest

from volvelle.applications.serving.goodput import (
    STEP,
    AskedLoad,
    Trial,
    largest_share,
    latencies_of,
    replicas_for,
    slowed,
    trial,
)
from volvelle.applications.serving.instance import Instance, instance
from volvelle.applications.serving.under_load import answer_under_load
from volvelle.catalogue import Catalogue
from volvelle.errors import DescriptionError
from volvelle.mapping.serving_layout import ServingLayout
from volvelle.simulation.batching.metrics import measure
from volvelle.simulation.batching.serving import serve
from volvelle.workload.served_model import ServedModel
from volvelle.workload.serving.lengths import FixedLength, Independent
from volvelle.workload.serving.limits import LatencyLimit
from volvelle.workload.serving.loads import AtOnce, Closed, Poisson, Recorded

SHAPE = Independent(input=FixedLength(tokens=512), output=FixedLength(tokens=64))
LIMITS = (
    LatencyLimit(latency="ttft", percentile=99.0, seconds=0.5),
    LatencyLimit(latency="tpot", percentile=99.0, seconds=0.02),
    LatencyLimit(latency="itl", percentile=95.0, seconds=0.5),
    LatencyLimit(latency="e2el", seconds=5.0),
)


@pytest.fixture(scope="module")
def small() -> Instance:
    known = Catalogue()
    served = ServedModel(shape=known.model("llama3-8b"))
    return instance(known, served, "h100-sxm", ServingLayout(), "vllm")


@pytest.mark.parametrize("most", [0.03, 0.4, 0.9, 1.0])
@pytest.mark.parametrize("known", [None, 0.02])
def test_the_largest_part_is_found_on_one_grid_wherever_the_search_begins(most: float, known: float | None) -> None:
    def tried(share: float) -> Trial:
        return Trial(share=share, figures=(share,), excess=share / most, throughput=1.0, tpot=0.01)

    found = largest_share(tried, bound=1.3, known=known)
    assert found.share <= most < found.share * STEP * (1 + 1e-9)
    assert np.log(found.share) / np.log(STEP) == pytest.approx(round(np.log(found.share) / np.log(STEP)))


def test_nothing_is_served_where_the_least_part_breaks_limits() -> None:
    def tried(share: float) -> Trial:
        return Trial(share=share, figures=(2.0,), excess=2.0, throughput=1.0, tpot=0.01)

    assert largest_share(tried, bound=1.0).share == 0.0


def test_one_replica_fewer_is_taken_where_a_trial_between_places_keeps_limits() -> None:
    def tried(share: float) -> Trial:
        return Trial(share=share, figures=(1.0,), excess=1.0 if share <= 0.5 else 2.0, throughput=1.0, tpot=0.01)

    assert replicas_for(0.498, tried, data=1) == 2
    assert replicas_for(0.4, tried, data=1) == 3
    assert replicas_for(0.4, tried, data=2) == 2
    assert replicas_for(3.0, tried, data=1) == 1


def test_a_trial_measures_what_vllm_bench_serve_does(small: Instance) -> None:
    asked = AskedLoad(load=Poisson(rate=8.0), shape=SHAPE)
    found = trial(small, asked, LIMITS, 0.5)
    rules = small.rules()
    metrics = measure(serve(asked.part(0.5), small.costs(rules), rules))
    wanted = (metrics.ttft.percentiles[99.0], metrics.tpot.percentiles[99.0], metrics.itl.percentiles[95.0])
    assert found.figures == pytest.approx((*wanted, metrics.e2el.mean))
    assert found.throughput == pytest.approx(metrics.output_throughput)
    assert found.kept


def test_a_part_of_a_load_is_what_a_rank_of_replicas_gets(small: Instance) -> None:
    for load in (Poisson(rate=8.0), Closed(clients=32)):
        asked = AskedLoad(load=load, shape=SHAPE, requests=800)
        answer = answer_under_load(small, load, SHAPE, replicas=4, requests=800)
        assert answer.metrics is not None
        assert trial(small, asked, LIMITS, 0.25).figures[0] == pytest.approx(answer.metrics.ttft.percentiles[99.0])


def test_a_part_of_a_trace_thins_it_and_more_than_all_of_it_comes_faster() -> None:
    recorded = Poisson(rate=4.0).requests(SHAPE, count=100)
    asked = AskedLoad(load=Recorded(recorded=recorded), shape=None)
    assert len(asked.part(0.25)) == 25
    assert asked.part(2.0).arrival == pytest.approx(recorded.arrival / 2.0)
    assert asked.part(0.3).offered_rate == pytest.approx(0.3 * recorded.offered_rate, rel=0.1)


def test_requests_at_once_have_no_goodput() -> None:
    with pytest.raises(DescriptionError, match="all at once"):
        AskedLoad(load=AtOnce(), shape=SHAPE)


def test_slower_steps_slow_every_request_down(small: Instance) -> None:
    asked = AskedLoad(load=Closed(clients=1), shape=SHAPE, requests=20)
    plain, slow = (trial(small, asked, LIMITS[1:2], 1.0, slower=factor) for factor in (1.0, 1.5))
    assert slow.figures[0] == pytest.approx(1.5 * plain.figures[0])
    rules = small.rules()
    served = serve(asked.part(1.0), slowed(small.costs(rules), 2.0), rules)
    assert latencies_of(served, {"tpot"})["tpot"].min() > 1.9 * plain.figures[0]


def test_a_hasty_trial_refuses_only_what_a_whole_one_refuses(small: Instance) -> None:
    asked = AskedLoad(load=Poisson(rate=10.0), shape=SHAPE)
    for share in (0.5, 2.0, 4.0, 6.0):
        hasty, whole = (trial(small, asked, LIMITS[:2], share, hasty=quick) for quick in (True, False))
        assert hasty.kept == whole.kept
