"""Ranges of figures."""

from math import exp, hypot, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from volvelle.estimators.result import Range
from volvelle.spread import model_reach


@given(st.floats(0.0, 2.0), st.floats(0.0, 2.0), st.floats(0.0, 1.0))
def test_a_range_grows_to_both_sides_by_what_else_is_open(down: float, up: float, deviation: float) -> None:
    span = Range(low=3.0 * exp(-down), high=3.0 * exp(up), level=0.8, varied=()).wider(3.0, deviation)
    more = model_reach(0.8) * deviation
    assert log(3.0 / span.low) == pytest.approx(hypot(down, more), abs=1e-9)
    assert log(span.high / 3.0) == pytest.approx(hypot(up, more), abs=1e-9)
