"""How narrow ranges could be at best."""

from itertools import product

import numpy as np
import pytest

from volvelle.applications.least_widths import alike_width, least_width, width_if_drawn


def test_alike_holds_as_many_of_every_application() -> None:
    errors = {"near": np.linspace(-0.1, 0.1, 21), "far": np.linspace(-1.0, 1.0, 21)}
    assert alike_width(errors, 0.8) == pytest.approx((0.08 + 0.8) / 2, abs=0.06)


def test_least_is_what_trying_every_pair_of_widths_finds() -> None:
    draws = np.random.default_rng(3)
    errors = {"a": draws.normal(0, 0.1, 9), "b": draws.normal(0, 0.7, 6)}
    options = {name: np.concatenate([[0.0], np.abs(own)]) for name, own in errors.items()}
    for share in (0.3, 0.6, 0.9, 1.0):
        tried = [
            (9 * first + 6 * second) / 15
            for first, second in product(options["a"], options["b"])
            if np.sum(np.abs(errors["a"]) <= first) + np.sum(np.abs(errors["b"]) <= second) >= share * 15 - 1e-9
        ]
        assert least_width(errors, share) == pytest.approx(min(tried), rel=1e-12)
        assert least_width(errors, share) <= alike_width(errors, share) + 1e-12


def test_drawn_from_ranges_alike_nothing_is_narrower_than_a_plain_one() -> None:
    side, freedom = np.full(400, 0.2), np.full(400, 4.0)
    widths = width_if_drawn(-side, side, freedom, plain=0.35)
    assert np.log(1.35) < np.median(widths) < -np.log(0.65)


def test_drawn_from_ranges_that_differ_more_these_are_narrower_by_more() -> None:
    freedom = np.full(400, 4.0)

    def told(spread: float) -> float:
        side = 0.2 * np.exp(spread * np.linspace(-1.0, 1.0, 400))
        return float(np.median(width_if_drawn(-side, side, freedom, plain=0.35)))

    assert told(0.0) > told(0.6) > told(1.2)
    assert told(1.2) < 0.95 * told(0.0)
