"""What hours of chips cost."""

import pytest

from volvelle.catalogue import Catalogue
from volvelle.economics.chip_hours import chip_hours
from volvelle.economics.step_cost import TimedStep, step_costs

NODE = Catalogue().cluster("dgx-h100/8")


def test_chips_that_are_always_on_cost_what_a_step_of_that_time_costs() -> None:
    prices = chip_hours(NODE)
    step = step_costs(TimedStep(time=3600.0, tokens=1.0, chips=8), NODE)
    assert step.dollars is not None
    assert prices.owned(8.0, chips=8.0, hours=1.0) == pytest.approx(float(step.dollars))
    assert prices.joules(8.0) == pytest.approx(float(step.energy or 0.0))


def test_owned_chips_that_are_off_cost_all_but_energy() -> None:
    prices = chip_hours(NODE)
    on, off = prices.owned(8.0, chips=8.0, hours=1.0), prices.owned(0.0, chips=8.0, hours=1.0)
    energy = prices.joules(8.0)
    assert on is not None
    assert off is not None
    assert energy is not None
    assert on - off == pytest.approx(energy * prices.assumptions.energy_price)


def test_rented_chips_cost_their_hours() -> None:
    assert chip_hours(NODE, rent=2.5).rented(8.0) == pytest.approx(20.0)


def test_without_a_price_nothing_is_said() -> None:
    assert chip_hours(NODE).rented(8.0) is None
    assert chip_hours(NODE, price=1e4).chip_price == 1e4
