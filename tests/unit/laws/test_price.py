"""Money for an hour."""

import pytest

from volvelle.laws.price import rented_price


def test_eight_chips_for_two_hours_cost_sixteen_chip_hours() -> None:
    assert rented_price(7200.0, 8, per_chip_hour=2.5) == pytest.approx(40.0)
