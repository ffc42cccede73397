"""Networks by the rates that their links state."""

import pytest

from volvelle.catalogue import Catalogue
from volvelle.errors import MappingError
from volvelle.estimators.plain_network import PlainDimension, PlainNetwork, plain_all_reduce


def network(*kinds: tuple[str, int]) -> PlainNetwork:
    return PlainNetwork(dimensions=tuple(PlainDimension(kind=kind, size=size, rate=1e9) for kind, size in kinds))


def test_a_group_has_the_whole_dimensions_that_it_spans() -> None:
    whole = network(("ring", 8), ("switch", 4), ("ring", 2))
    assert whole.part(1, 8).dimensions == whole.dimensions[:1]
    assert whole.part(8, 8).dimensions == whole.dimensions[1:]
    assert whole.part(1, 64) == whole
    assert whole.part(64, 1).dimensions == ()
    with pytest.raises(MappingError, match="no whole dimension of a network of 8 × 4 × 2"):
        whole.part(1, 4)


def test_an_all_reduce_needs_one_dimension_and_costs_nothing_alone() -> None:
    assert network().all_reduce(1e9) == 0.0
    assert network(("ring", 4)).all_reduce(1e9) == pytest.approx(2 * 3 / 4)
    assert network(("fully-connected", 4)).all_reduce(1e9) == pytest.approx(2 / 4)
    assert plain_all_reduce(1e9, 4, rate=1e9, passes=1) == pytest.approx(3 / 4)
    with pytest.raises(MappingError, match="along 2 network dimensions"):
        network(("ring", 4), ("ring", 4)).all_reduce(1e9)


def test_an_all_to_all_takes_what_the_slowest_cut_takes() -> None:
    assert network(("ring", 4), ("ring", 8)).all_to_all(1e9) == pytest.approx(32**2 / 4 / 4)
    assert network(("switch", 8)).all_to_all(1e9) == pytest.approx(8**2 / 4 / 8)
    assert network(("fully-connected", 8)).all_to_all(1e9) == pytest.approx(1.0)


def test_a_torus_of_the_catalogue_is_refused_with_what_to_write() -> None:
    with pytest.raises(MappingError, match="write a torus as several rings"):
        PlainNetwork.of(Catalogue().cluster("tpu-v4-pod/64"))
