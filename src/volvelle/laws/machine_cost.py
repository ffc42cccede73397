"""Price and power of a machine by its parts: chips, memory by its rate, links and switch ports by theirs."""

from volvelle.laws.citations import cites
from volvelle.quantities import BytesPerSecond, Count, Dollars, Number, Watts

__all__ = [
    "connected_links",
    "connected_ports",
    "network_power",
    "network_price",
    "nodes_power",
    "nodes_price",
    "ring_ports",
]


@cites("dfmodel", place="section VI-C, price of design points; as in the authors' cost step")
def nodes_price(chips: Count, *, chip_price: Dollars, memory_rate: BytesPerSecond, memory_price: Number) -> Dollars:
    r"""Price of chips with their memory.

    $$ C = n\,(p + r\,p_m) $$

    p_m is dollars for every byte a second. Assumes memory is paid by its rate, whatever its capacity.
    """
    return chips * (chip_price + memory_rate * memory_price)


@cites("dfmodel", place="section VI-C, power of design points; as in the authors' cost step")
def nodes_power(chips: Count, *, chip_power: Watts, memory_rate: BytesPerSecond, memory_energy: Number) -> Watts:
    r"""Power of chips with their memory.

    $$ P = n\,(w + r\,e_m) $$

    e_m is joules for every byte. Assumes chips at their rated power and memory at its full rate, all the time.
    """
    return chips * (chip_power + memory_rate * memory_energy)


@cites("dfmodel", place="section VI-C, price of interconnects; as in the authors' cost step")
def network_price(
    links: Count, ports: Count, *, rate: BytesPerSecond, link_price: Number, port_price: Number
) -> Dollars:
    r"""Price of one network dimension.

    $$ C = b\,(\ell\,p_\ell + s\,p_s) $$

    Prices are dollars for every byte a second. Assumes price grows with the rate alone, not with length.
    """
    return rate * (links * link_price + ports * port_price)


@cites("dfmodel", place="section VI-C, power of interconnects; as in the authors' cost step")
def network_power(
    links: Count, ports: Count, *, rate: BytesPerSecond, link_energy: Number, port_energy: Number
) -> Watts:
    r"""Power of one network dimension.

    $$ P = b\,(\ell\,e_\ell + s\,e_s) $$

    Energies are joules for every byte. Assumes all links and ports are busy all the time.
    """
    return rate * (links * link_energy + ports * port_energy)


@cites("dfmodel", place="authors' cost step, switch ports of rings")
def ring_ports(chips: Count, *, size: Count) -> Count:
    r"""Switch ports of a dimension of rings of k chips, which has as many links as chips.

    $$ s = 2n / k $$

    Assumes each ring hangs on a switch by its two ends.
    """
    return 2.0 * chips / size


@cites("dfmodel", place="authors' cost step, links of fully connected dimensions")
def connected_links(units: Count, *, size: Count) -> Count:
    r"""Links of a dimension in which each of m units is linked to the k − 1 others of its group.

    $$ \ell = m\,(k-1) $$

    Assumes a link in each direction.
    """
    return units * (size - 1.0)


@cites("dfmodel", place="authors' cost step, switch ports of fully connected dimensions")
def connected_ports(units: Count, *, size: Count) -> Count:
    r"""Switch ports where groups rather than chips are fully connected.

    $$ s = m\,k $$

    Assumes each group has a port for every group, itself included. Chips linked to each other directly need none.
    """
    return units * size
