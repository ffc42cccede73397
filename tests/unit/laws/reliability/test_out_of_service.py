"""Nodes out, and spares."""

import numpy as np
import pytest

from volvelle.laws.reliability.out_of_service import chance_without_spare, nodes_out, spares_needed
from volvelle.quantities import DAY


def test_nodes_out_of_the_trace() -> None:
    assert nodes_out(400, rate=4.184e-3 / DAY, repair=5.535 * DAY) == pytest.approx(9.26, abs=0.01)


def test_bursts_need_more_spares_than_independent_faults() -> None:
    at = np.array([0.90, 0.95, 0.99])
    assert spares_needed(9.26, dispersion=5.8, at=at) == pytest.approx([19, 23, 33], abs=1)
    assert spares_needed(9.26, dispersion=1.0, at=at).tolist() == [13, 15, 17]


@pytest.mark.parametrize("mean", [0.01, 9.26, 5000.0])
def test_spares_for_a_share_leave_at_most_the_rest_waiting(mean: float) -> None:
    spares = spares_needed(mean, dispersion=3.0, at=0.95)
    assert float(chance_without_spare(mean, dispersion=3.0, spares=spares)) <= 0.05
    if spares > 0:
        assert float(chance_without_spare(mean, dispersion=3.0, spares=spares - 1)) > 0.05
