"""Laws of nature of goodput: more of anything never lowers it at equal layout."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from volvelle.applications.serving.goodput import STEP, AskedLoad
from volvelle.applications.serving.instance import instance
from volvelle.applications.serving.other_chips import on_other_chips
from volvelle.catalogue import Catalogue
from volvelle.mapping.serving_layout import ServingLayout
from volvelle.simulation.compiler import INSTALLED
from volvelle.verbs.plan_serving.screening import Search
from volvelle.verbs.plan_serving.sensitivities import share_of_rank
from volvelle.workload.served_model import ServedModel
from volvelle.workload.serving.lengths import FixedLength, Independent
from volvelle.workload.serving.limits import LatencyLimit
from volvelle.workload.serving.loads import Poisson

CATALOGUE = Catalogue()
SHAPE = CATALOGUE.model("llama3-8b")
pytestmark = pytest.mark.skipif(not INSTALLED, reason="goodput takes some hundred runs")


@settings(max_examples=8, deadline=None)
@given(
    change=st.sampled_from(
        [
            {"memory_rate": 1.3},
            {"capacity": 1.5},
            {"matrix_rate": 1.3},
            {"link_rate": 2.0},
            {"link_latency": 0.5},
        ]
    ),
    tensor=st.sampled_from([1, 2, 4]),
    lengths=st.sampled_from([(128, 512), (1024, 128), (4096, 64)]),
    tpot=st.sampled_from([0.015, 0.03, 0.1]),
)
def test_more_bandwidth_memory_arithmetic_or_links_never_lower_goodput(
    change: dict[str, float], tensor: int, lengths: tuple[int, int], tpot: float
) -> None:
    shape = Independent(input=FixedLength(tokens=lengths[0]), output=FixedLength(tokens=lengths[1]))
    limits = (
        LatencyLimit(latency="ttft", percentile=99.0, seconds=1.0),
        LatencyLimit(latency="tpot", percentile=99.0, seconds=tpot),
    )
    search = Search(
        catalogue=CATALOGUE,
        shape=SHAPE,
        asked=AskedLoad(load=Poisson(rate=100.0), shape=shape, requests=8000),
        limits=limits,
        chip_cost={},
    )
    one = instance(CATALOGUE, ServedModel(shape=SHAPE), "h100-sxm", ServingLayout(tensor=tensor), "vllm")
    # Goodput lies on a grid: one step of it is all that two searches may differ by.
    assert share_of_rank(search, on_other_chips(one, **change)) >= share_of_rank(search, one) / STEP**1.5
