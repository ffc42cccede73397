import numpy as np
import pytest

from tests.conftest import small_chip
from volvelle import (
    Catalogue,
    DescriptionError,
    Dragonfly,
    FatTree,
    FullyConnected,
    OutsideDomainError,
    Ring,
    Switch,
    Torus,
)
from volvelle.mapping.placement import members
from volvelle.system.cluster import nested_sizes
from volvelle.system.topologies.torus import nearly_cubic


def test_a_template_takes_any_count() -> None:
    assert nested_sizes(1024, (8, None), name="x")[0] == (8, 128)
    assert nested_sizes(4, (8, None), name="x")[0] == (4, 1)
    note = "12 do not fill units of 8: 2 units of 6 are taken, which no such machine has; x/8 or x/16 would fill them"
    assert nested_sizes(12, (8, None), name="x") == ((6, 2), (note,))
    assert nested_sizes(13, (8, None), name="x")[0] == (1, 13)


def test_a_shape_that_ends_says_where() -> None:
    with pytest.raises(DescriptionError, match="at most 32"):
        nested_sizes(64, (8, 4), name="x")


@pytest.mark.parametrize(("chips", "shape"), [(4096, (16, 16, 16)), (8, (2, 2, 2)), (12, (2, 2, 3)), (13, (1, 1, 13))])
def test_tori_are_as_cubic_as_their_count_allows(chips: int, shape: tuple[int, ...]) -> None:
    assert nearly_cubic(chips, 3) == shape


def test_tensor_groups_sit_inside_nodes_and_data_groups_between_them() -> None:
    assert [float(m) for m in members(8, 1, (8, 1024))] == [8, 1]
    assert [float(m) for m in members(16, 8, (8, 1024))] == [1, 16]
    assert [float(m) for m in members(16, 4, (8, 1024))] == [2, 8]


def test_a_group_that_straddles_nodes_counts_by_its_worst_member() -> None:
    assert [float(m) for m in members(6, 1, (8, 1536))] == [2, 3]


def test_members_multiply_to_the_group() -> None:
    for group, stride in [(2, 1), (4, 2), (32, 1), (128, 8), (64, 16)]:
        assert np.prod([float(m) for m in members(group, stride, (8, 64, 1024))]) == group


@pytest.mark.parametrize(
    ("topology", "chips", "steps", "bisection"),
    [
        (Ring(), 8, 7, 0.25),
        (Switch(), 8, 3, 1.0),
        (FullyConnected(), 8, 1, 4 / 7),
        (Torus((4, 4, 4)), 64, 9, 2 / 3 / 4),
        (FatTree(oversubscription=2.0), 1024, 10, 0.5),
        (Dragonfly(64), 32, 5, 1.0),
    ],
)
def test_topologies_know_their_steps_and_bisection(topology, chips, steps, bisection) -> None:  # type: ignore[no-untyped-def]
    assert float(topology.steps(float(chips))) == pytest.approx(steps)
    assert float(topology.bisection(float(chips))) == pytest.approx(bisection)


def test_every_topology_broadcasts() -> None:
    chips = np.array([1.0, 2.0, 8.0, 64.0])
    for topology in (Ring(), Switch(), FullyConnected(), Torus((4, 4, 4)), FatTree(), Dragonfly(16)):
        for answer in (topology.steps, topology.bisection, topology.diameter, topology.links, topology.switch_ports):
            together = np.broadcast_to(np.asarray(answer(chips)), chips.shape)
            assert list(together) == pytest.approx([float(answer(float(count))) for count in chips])


def test_a_chip_without_a_rate_for_the_element_says_which_it_has() -> None:
    with pytest.raises(OutsideDomainError, match=r"'toy' has no dense matrix rate for fp8; it has bf16"):
        small_chip().matrix_rate("fp8")


def test_a_million_accelerators_are_a_name_away(catalogue: Catalogue) -> None:
    cluster = catalogue.cluster("dgx-a100/1048576")
    assert cluster.accelerators == 1048576
    assert cluster.spans == (8, 1048576)
