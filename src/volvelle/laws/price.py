"""Money."""

from volvelle.laws.citations import cites
from volvelle.laws.ownership import charged_price
from volvelle.quantities import Count, Dollars, Fraction, Joules, Number, Seconds

_HOUR = 3600.0


@cites("cottier2024cost", place="section 2, cloud price approach")
def rented_price(time: Seconds, chips: Count, *, per_chip_hour: Dollars) -> Dollars:
    r"""Price of renting chips for that time.

    $$ C = N\,t\,p_h $$

    Assumes billing by the second, energy included.
    """
    return chips * time / _HOUR * per_chip_hour


@cites("cottier2024cost", place="section 2, amortised hardware capital expense plus energy")
def owned_price(
    time: Seconds,
    chips: Count,
    *,
    chip_price: Dollars,
    life: Seconds,
    energy: Joules,
    energy_price: Number,
    overhead: Fraction = 0.0,
    use: Fraction = 1.0,
) -> Dollars:
    r"""Price of using one's own chips for that time: their share of purchase, and energy.

    $$ C = N\,p\,(1+o)\,\frac{t}{u\,L} + E\,p_e $$

    o is the price of hosts and network over that of the chips, L the life and u the used share of it. Assumes value
    is lost evenly over the life; no interest, staff or building.
    """
    return charged_price(chips * chip_price * (1.0 + overhead), time, life=life, use=use) + energy * energy_price
