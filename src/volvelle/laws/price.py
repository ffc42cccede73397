"""Money."""

from volvelle.laws.citations import cites
from volvelle.quantities import Count, Dollars, Seconds

_HOUR = 3600.0


@cites("cottier2024cost", place="section 2, cloud price approach")
def rented_price(time: Seconds, chips: Count, *, per_chip_hour: Dollars) -> Dollars:
    r"""Price of renting chips for that time.

    $$ C = N\,t\,p_h $$

    Assumes billing by the second, energy included.
    """
    return chips * time / _HOUR * per_chip_hour
