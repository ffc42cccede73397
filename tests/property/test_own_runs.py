"""What holds of any own runs: a few are followed a part of the way, many wholly, and scatter is not hidden."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from volvelle.applications.own_factor import own_factor
from volvelle.applications.training.own_runs import fit_own
from volvelle.catalogue.own_spread import own_runs_spread
from volvelle.estimators.factored import CONSTANTS
from volvelle.laws.shrinkage import shrunk_shift

ERRORS = st.floats(-0.5, 0.5)
SPREADS = st.floats(0.02, 0.4)
COUNT = len(CONSTANTS)


@given(error=ERRORS, between=SPREADS, within=SPREADS)
def test_one_run_moves_a_machine_towards_itself_and_never_past(error: float, between: float, within: float) -> None:
    found = shrunk_shift(np.array([error]), centre=0.0, between=between, within=within, freedom=4.0)
    assert 0.0 < found.weight < 1.0
    assert abs(found.shift) <= abs(error)
    assert found.shift * error >= 0.0
    assert found.scale <= np.hypot(between, within) + 1e-12


@given(error=ERRORS, between=SPREADS, within=SPREADS)
def test_runs_that_agree_converge_to_their_mean_and_narrow_the_range(
    error: float, between: float, within: float
) -> None:
    found = [
        shrunk_shift(np.full(count, error), centre=0.0, between=between, within=within, freedom=4.0)
        for count in (1, 4, 16, 4096)
    ]
    assert [one.weight for one in found] == sorted(one.weight for one in found)
    assert found[-1].shift == pytest.approx(error, abs=0.01)
    scales = [one.scale for one in found]
    assert scales == sorted(scales, reverse=True)


@given(error=ERRORS, apart=st.floats(0.0, 1.0), between=SPREADS, within=SPREADS)
def test_runs_that_scatter_more_are_followed_less_and_leave_a_wider_range(
    error: float, apart: float, between: float, within: float
) -> None:
    def learned(scatter: float) -> tuple[float, float]:
        runs = np.array([error - scatter, error + scatter])
        found = shrunk_shift(runs, centre=0.0, between=between, within=within, freedom=4.0)
        return found.weight, found.scale

    calm, wild = learned(apart / 2), learned(apart)
    assert wild[0] <= calm[0] + 1e-12
    assert wild[1] >= calm[1] - 1e-12


@given(apart=st.floats(0.0, 0.6))
def test_runs_that_disagree_by_more_than_runs_of_one_machine_do_are_asked_about(apart: float) -> None:
    found = own_factor(np.array([-apart, apart]), "mine", between=0.1, within=0.06)
    assert ("disagree" in found.note) == (apart / 0.06 > 3.5)


@given(error=ERRORS, slopes=st.lists(st.floats(-1.0, 0.0), min_size=COUNT, max_size=COUNT), count=st.integers(1, 6))
def test_runs_of_one_shape_tell_of_that_shape_and_leave_what_it_does_not_feel(
    error: float, slopes: list[float], count: int
) -> None:
    shape = np.array(slopes)
    prior = np.diag(np.full(COUNT, 0.01))
    runs = np.tile(shape, (count, 1)), np.full(count, error), np.zeros((count, 3))
    found = fit_own(*runs, prior=prior, spread=own_runs_spread()).posterior
    # Rows that are further off than was believed widen all; what they tell is beside that.
    known = found.covariance / found.inflation
    told = float(shape @ found.change)
    assert abs(told) <= abs(error) + 1e-9
    assert told * error >= -1e-9
    assert float(shape @ known @ shape) <= float(shape @ prior @ shape) + 1e-12
    # A direction at right angles to the shape is as open as before.
    other = np.roll(np.eye(COUNT)[0], 1)
    other = other - shape * float(shape @ other) / max(float(shape @ shape), 1e-12)
    if float(shape @ shape) > 1e-3:
        assert float(other @ known @ other) == pytest.approx(float(other @ prior @ other), rel=1e-6, abs=1e-9)
        assert float(other @ found.change) == pytest.approx(0.0, abs=1e-6)
