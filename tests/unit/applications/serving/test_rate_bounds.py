"""What no run of an instance beats."""

import pytest

from volvelle.applications.serving.goodput import AskedLoad, trial
from volvelle.applications.serving.instance import Settings, instance
from volvelle.applications.serving.rate_bounds import StepFloors, rate_bounds, share_bound
from volvelle.catalogue import Catalogue
from volvelle.mapping.serving_layout import ServingLayout
from volvelle.workload.served_model import ServedModel
from volvelle.workload.serving.lengths import FixedLength, Independent
from volvelle.workload.serving.limits import LatencyLimit
from volvelle.workload.serving.loads import Poisson

CATALOGUE = Catalogue()


@pytest.mark.parametrize("engine", ["vllm", "sglang", "trtllm"])
@pytest.mark.parametrize(("prompt", "answer", "budget", "sequences"), [(2048, 256, 4096, 64), (256, 512, 8192, 256)])
@pytest.mark.parametrize("tpot", [0.03, 1.0])
def test_no_run_is_faster_than_its_bounds(
    engine: str, prompt: int, answer: int, budget: int, sequences: int, tpot: float
) -> None:
    limits = (
        LatencyLimit(latency="tpot", percentile=99.0, seconds=tpot),
        LatencyLimit(latency="ttft", percentile=50.0, seconds=1e3),
        LatencyLimit(latency="e2el", percentile=1.0, seconds=1e3),
    )
    settings = Settings(token_budget=budget, chunk=budget, max_sequences=sequences)
    served = ServedModel(shape=CATALOGUE.model("llama3-8b"))
    one = instance(CATALOGUE, served, "h100-sxm", ServingLayout(), engine, settings)
    shape = Independent(input=FixedLength(tokens=prompt), output=FixedLength(tokens=answer))
    asked = AskedLoad(load=Poisson(rate=1.0), shape=shape)
    bounds = rate_bounds(one.rules(), StepFloors(one, asked.part(1.0)), limits)
    assert bounds.possible
    beyond = 1.02 * share_bound(asked.load, bounds, limits, most_sequences=sequences)
    assert not trial(one, asked, limits, beyond).kept
    calm = trial(one, asked, limits, 0.1 * beyond)
    assert all(figure >= floor for figure, floor in zip(calm.figures, bounds.floors, strict=True))


def test_a_limit_below_what_a_request_alone_takes_and_a_model_that_does_not_fit_are_ruled_out() -> None:
    shape = Independent(input=FixedLength(tokens=2048), output=FixedLength(tokens=64))
    requests = AskedLoad(load=Poisson(rate=1.0), shape=shape).part(1.0)
    one = instance(CATALOGUE, ServedModel(shape=CATALOGUE.model("llama3-8b")), "h100-sxm", ServingLayout(), "vllm")
    tight = (LatencyLimit(latency="tpot", percentile=99.0, seconds=1e-3),)
    assert "even for a request alone" in rate_bounds(one.rules(), StepFloors(one, requests), tight).reason
    big = instance(CATALOGUE, ServedModel(shape=CATALOGUE.model("llama3-70b")), "h100-sxm", ServingLayout(), "vllm")
    found = rate_bounds(big.rules(), StepFloors(big, requests), tight)
    assert "llama3-70b" in found.reason
    assert found.rate == 0.0
