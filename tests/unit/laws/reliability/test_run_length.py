"""The variance of a whole run."""

import numpy as np
import pytest

from volvelle.laws.reliability.run_length import run_variance
from volvelle.quantities import DAY

CASE = {"between": 10000.0, "stall": 30.0, "restart": 600.0}


def test_thirty_days_of_work_vary_by_a_fifth_of_a_day() -> None:
    assert np.sqrt(run_variance(30 * DAY, 750.0, **CASE)) / DAY == pytest.approx(0.2075, abs=1e-4)


def test_without_failures_nothing_varies() -> None:
    never = {**CASE, "between": np.inf}
    assert float(run_variance(30 * DAY, 750.0, **never)) == 0.0


def test_short_periods_do_not_cancel() -> None:
    tiny, small = run_variance(DAY, np.array([0.5, 1.0]), between=1e6, stall=0.0, restart=600.0)
    assert tiny == pytest.approx(small, rel=1e-2)
