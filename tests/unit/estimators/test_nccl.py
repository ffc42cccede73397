"""What NCCL would choose, by its own cost model."""

import numpy as np
import pytest

from volvelle import Catalogue
from volvelle.catalogue.nccl import nccl_model
from volvelle.errors import DescriptionError
from volvelle.estimators.nccl import _channels, _doubled, nccl_group, nccl_times
from volvelle.workload.tensor_layout import Collective

SIZES = 2.0 ** np.arange(10, 34)


@pytest.mark.parametrize(
    ("cluster", "along", "channels", "speed"),
    [
        ("dgx-a100/8", (8, 1), 12, 20e9),
        ("dgx-h100/8", (8, 1), 12, 30e9),
        ("dgx-h100/16", (8, 2), 8, 45e9),
        ("dgx-a100/16", (8, 2), 8, 24e9),
        ("dgx-b200/8", (8, 1), 16, 45e9),
    ],
)
def test_channels_are_those_that_the_library_is_known_to_find(
    cluster: str, along: tuple[int, ...], channels: int, speed: float
) -> None:
    group = nccl_group(nccl_model(), Catalogue().cluster(cluster), along)
    assert _doubled(group, *_channels(group)) == (channels, speed)


def test_short_messages_go_by_the_short_protocol_and_long_ones_by_switches_that_add_up() -> None:
    model = nccl_model()
    group = nccl_group(model, Catalogue().cluster("dgx-h100/8"), (8, 1))
    found = nccl_times(model, group, Collective.ALL_REDUCE, SIZES)
    assert found.chosen[0].endswith(" LL")
    assert found.chosen[-1] == "switch Simple"


def test_between_many_nodes_trees_are_chosen_before_rings() -> None:
    model = nccl_model()
    group = nccl_group(model, Catalogue().cluster("dgx-a100/1024"), (8, 128))
    found = nccl_times(model, group, Collective.ALL_REDUCE, SIZES)
    assert found.chosen[0].startswith("tree")
    assert found.chosen[-1].startswith("ring")
    rings = nccl_times(model, group, Collective.ALL_REDUCE, SIZES, only="ring")
    assert (found.time[:4] < 0.1 * rings.time[:4]).all()


def test_a_long_message_takes_what_the_chosen_rate_and_the_filling_say() -> None:
    model = nccl_model()
    group = nccl_group(model, Catalogue().cluster("dgx-a100/8"), (8, 1))
    size = np.array([2.0**33])
    found = nccl_times(model, group, Collective.ALL_REDUCE, size)
    transfer = size / (240e9 * 8 / 14 * model.rate_reached)
    assert found.time == pytest.approx(8.4e-6 + 14 * 3.4e-6 + transfer + model.fill, rel=1e-4)


@pytest.mark.parametrize(
    ("cluster", "along", "said"),
    [
        ("mi300x-cluster/8", (8, 1), "no constants for mi300x"),
        ("dgx-v100/8", (8, 1), "not joined by a switch"),
    ],
)
def test_machines_that_it_does_not_know_are_refused_by_name(cluster: str, along: tuple[int, ...], said: str) -> None:
    with pytest.raises(DescriptionError, match=said):
        nccl_group(nccl_model(), Catalogue().cluster(cluster), along)


def test_an_algorithm_that_a_group_does_not_have_is_refused() -> None:
    model = nccl_model()
    group = nccl_group(model, Catalogue().cluster("dgx-a100/8"), (8, 1))
    with pytest.raises(DescriptionError, match="no switch for all-reduce"):
        nccl_times(model, group, Collective.ALL_REDUCE, SIZES, only="switch")
