"""Copies of a token, and how often it crosses."""

import pytest

from volvelle.laws.routing import distinct_share


def test_a_token_crosses_once_for_each_unit_it_is_wanted_in() -> None:
    """Two copies to two units land together half the time: one and a half crossings of two."""
    assert distinct_share(2.0, 2.0) == pytest.approx(0.75)
    assert distinct_share(1.0, 8.0) == pytest.approx(1.0)
    assert distinct_share(8.0, 1.0) == pytest.approx(1 / 8)
    assert distinct_share(8.0, 1e6) == pytest.approx(1.0, abs=1e-5)
