"""Parts of a collective make its time, whatever the algorithm and the machine."""

import pytest

from volvelle import Catalogue
from volvelle.estimators.collectives import LAWS, NESTED, Algorithm, collective_parts
from volvelle.estimators.rates import SustainedRates
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
