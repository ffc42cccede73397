"""Parts in series."""

import numpy as np
import pytest

from volvelle.laws.reliability.hazards import series_hazard, time_between
from volvelle.quantities import DAY

LLAMA_3 = {"gpu": 268, "network": 35, "host": 21, "maintenance": 32, "software": 56, "unknown": 7}
"""Unexpected interruptions by cause, as counted in its table 5."""


def test_causes_of_llama_3_add_up_to_one_every_three_hours() -> None:
    rate = series_hazard([1] * 6, [count / (54 * DAY) for count in LLAMA_3.values()])
    assert rate * DAY == pytest.approx(7.76, abs=0.005)
    assert float(time_between(rate)) / 3600 == pytest.approx(3.093, abs=5e-4)
    with_planned = series_hazard([1, 1], [rate, 47 / (54 * DAY)])
    assert with_planned * DAY == pytest.approx(8.63, abs=0.005)
    assert float(time_between(with_planned)) / 3600 == pytest.approx(2.781, abs=5e-4)


@pytest.mark.parametrize(("accelerators", "hours"), [(16_384, 1.803), (131_072, 0.2254)])
def test_rsc_projects_its_own_rate(accelerators: int, hours: float) -> None:
    rate = series_hazard([accelerators / 8], [6.5e-3 / DAY])
    assert float(time_between(rate)) / 3600 == pytest.approx(hours, rel=1e-3)


def test_nothing_fails_is_an_infinite_time() -> None:
    assert np.isinf(time_between(0.0))
