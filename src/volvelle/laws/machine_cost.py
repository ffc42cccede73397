"""Price and power of a machine by its parts: chips, memory by its rate, links and switch ports by theirs."""

from volvelle.laws.citations import cites
from volvelle.quantities import Bytes, BytesPerSecond, Count, Dollars, FlopPerSecond, Fraction, Number, Watts


@cites("dfmodel", place="figure 9: silicon power against compute throughput, the curve through four accelerators")
def silicon_power(rate: FlopPerSecond) -> Watts:
    r"""Power of a chip without its memory, by what it computes.

    $$ P = 0.04 + 0.43\,x + 0.3\,x^2 $$

    P is in kilowatts and x in PFLOP/s of dense products in 16 bits. Assumes a chip like the four that the curve goes
    through: 0.17 to 20 kW at 0.275 to 7.5 PFLOP/s, each within 7 %. The digits 3, 4.3 and
    0.04 are those of the caption; its powers of ten and the sign of the middle term could not be read in the copy at
    hand, and are those with which the curve meets the points.
    """
    x = rate / 1e15
    return 1e3 * (0.04 + 0.43 * x + 0.3 * x * x)


@cites("dfmodel", place="section VI-C, price of design points, the chips' share; figure 9 for what a larger one costs")
def logic_price(chips: Count, *, chip_price: Dollars, logic: Fraction = 1.0, exponent: Number = 1.0) -> Dollars:
    r"""Price of chips without their memory.

    $$ C = n\,p\,g^{\alpha} $$

    g is the logic of a chip over that of the chip whose price p is known; with α = 1 price grows as logic does, at one
    yield and one margin. Larger dies yield less and sell for more: α is above 1. Assumes one α from the chip that is
    sold to the one that is not.
    """
    return chips * chip_price * logic**exponent


@cites("dfmodel", place="section VI-C, power of design points, the chips' share; figure 9 for what a larger one takes")
def logic_power(chips: Count, *, chip_power: Watts, logic: Fraction = 1.0, exponent: Number = 1.0) -> Watts:
    r"""Power of chips without their memory.

    $$ P = n\,w\,g^{\beta} $$

    g is as in the price. Assumes chips at their rated power; with β = 1 it grows as logic does at one clock and
    voltage.
    """
    return chips * chip_power * logic**exponent


@cites(
    "dfmodel",
    place="section VI-C, price of design points, the memories' share; as in the authors' cost step, capacity is ours",
)
def memory_price(
    chips: Count,
    *,
    rate: BytesPerSecond,
    rate_price: Number,
    capacity: Bytes = 0.0,
    capacity_price: Number = 0.0,
) -> Dollars:
    r"""Price of the memory of chips, by its rate and by its capacity.

    $$ C = n\,(r\,p_r + M\,p_M) $$

    p_r is dollars for every byte a second, p_M for every byte. Assumes both can be bought apart; the authors pay the
    rate alone.
    """
    return chips * (rate * rate_price + capacity * capacity_price)


@cites("dfmodel", place="section VI-C, power of design points, the memories' share; as in the authors' cost step")
def memory_power(chips: Count, *, rate: BytesPerSecond, energy: Number) -> Watts:
    r"""Power of the memory of chips.

    $$ P = n\,r\,e $$

    e is joules for every byte. Assumes memory at its full rate all the time; capacity at rest takes nothing.
    """
    return chips * (rate * energy)


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
