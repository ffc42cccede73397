"""Parts of a collective make its time, whatever the algorithm and the machine."""

import pytest

from volvelle import Catalogue
from volvelle.estimators.collectives import LAWS, NESTED, Algorithm, collective_parts
from volvelle.estimators.rates import SustainedRates
from volvelle.laws.nested_collectives import Tier, ring_gather_through_tiers_time, ring_through_tiers_time
from volvelle.workload.tensor_layout import Collective

MACHINES = ("dgx-h100/1024", "dgx-a100/8", "frontier/64", "tpu-v4-pod/64", "gb200-nvl72/144")


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("kind", LAWS, ids=lambda kind: kind.value)
def test_parts_by_dimension_make_the_whole(kind: Collective, machine: str, catalogue: Catalogue) -> None:
    cluster = catalogue.cluster(machine)
    tiers = SustainedRates.of(cluster, "bf16").tiers(float(cluster.accelerators), 1.0)
    for law in LAWS[kind].values():
        for size in (1.0, 1e5, 1e9):
            parts = collective_parts(law, size, tiers)
            assert parts.time == pytest.approx(float(law(size, tiers)), rel=1e-12)
            assert min(parts.setup, *(min(tier.latency, tier.fill, tier.transfer) for tier in parts.tiers)) >= -1e-15


def test_the_algorithm_of_training_is_first_and_the_same() -> None:
    for kind, law in NESTED.items():
        assert next(iter(LAWS[kind])) is Algorithm.NESTED
        assert LAWS[kind][Algorithm.NESTED] is law


@pytest.mark.parametrize("kind", [Collective.ALL_GATHER, Collective.REDUCE_SCATTER])
def test_a_gather_around_one_ring_is_half_an_all_reduce_around_it(kind: Collective) -> None:
    """It counts every hop, also where a switch could do with fewer steps."""
    tiers = [
        Tier(chips=8.0, rate=300e9, latency=2e-6, steps=3.0),
        Tier(chips=16.0, rate=25e9, latency=5e-6, steps=4.0),
    ]
    gathered = float(ring_gather_through_tiers_time(1e8, tiers))
    assert 2.0 * gathered == pytest.approx(float(ring_through_tiers_time(1e8, tiers)))
    assert LAWS[kind][Algorithm.RING](1e8, tiers) == gathered > LAWS[kind][Algorithm.NESTED](1e8, tiers)
