"""Money for an hour."""

import pytest

from volvelle.laws.price import owned_price, rented_price


def test_a_rented_and_an_owned_hour() -> None:
    assert rented_price(7200.0, 8, per_chip_hour=2.5) == pytest.approx(40.0)
    owned = owned_price(
        3600.0,
        2,
        chip_price=36_000.0,
        life=3600.0 * 1000,
        energy=3.6e6,
        energy_price=0.1 / 3.6e6,
        overhead=0.5,
        use=0.5,
    )
    assert owned == pytest.approx(2 * 36_000 * 1.5 / 500 + 0.1)
