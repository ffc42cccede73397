"""Links and ports counted as DFModel counts them."""

from volvelle.economics.plain_parts import plain_parts
from volvelle.estimators.plain_network import PlainDimension, PlainNetwork


def counts(*kinds: tuple[str, int]) -> list[tuple[float, float]]:
    network = PlainNetwork(dimensions=tuple(PlainDimension(kind=kind, size=size, rate=1e9) for kind, size in kinds))
    return [(links, ports) for _, links, ports in plain_parts(network)]


def test_a_ring_has_a_link_a_chip_and_two_ports_a_ring() -> None:
    assert counts(("ring", 8), ("ring", 4)) == [(32, 8), (32, 16)]


def test_a_switch_has_a_link_and_a_port_a_unit() -> None:
    assert counts(("switch", 8), ("switch", 4)) == [(32, 32), (4, 4)]


def test_chips_that_are_linked_to_each_other_need_no_ports_and_groups_one_for_each() -> None:
    assert counts(("fully-connected", 8), ("fully-connected", 4)) == [(32 * 7, 0), (4 * 3, 16)]
