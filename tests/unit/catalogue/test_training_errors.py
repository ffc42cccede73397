"""Ranges of steps by what is open of constants: what is shipped is what calibration runs say."""

import numpy as np
import pytest

from volvelle.catalogue.model_errors import model_error
from volvelle.catalogue.own_spread import own_runs_spread, spread_of
from volvelle.catalogue.residuals import residuals
from volvelle.catalogue.training_errors import (
    open_of_runs,
    reaches_left_out,
    runs_left_out,
    scales_of,
    step_ranges,
    stretch_by,
    training_errors,
)
from volvelle.estimators.factored import CONSTANTS, NETWORK

ROWS = runs_left_out()


def test_the_stretch_is_that_of_left_out_runs() -> None:
    """But for runs on chips that no other publication ran on, of which nothing is known without them."""
    alone = {row.row_id for row in residuals() if row.family == "tpu"}
    assert {row.row_id for row in ROWS} == set(open_of_runs()) - alone
    assert step_ranges().stretch == pytest.approx(stretch_by(ROWS, step_ranges()), rel=1e-3)


def test_large_publications_left_out_lie_within_a_band_but_for_one_in_ten() -> None:
    known, within = reaches_left_out(), []
    for source in {row.source for row in ROWS}:
        own = [row for row in ROWS if row.source == source]
        if len(own) >= 20:
            within.append(0.65 <= float(np.mean([abs(row.residual) <= known[row.row_id] for row in own])) <= 0.955)
    assert len(within) == 8
    assert sum(within) >= 7


def test_one_more_publication_is_counted_than_there_are() -> None:
    """Of four publications of one run each no four fifths can be told: what all keep to is taken."""
    few = [next(row for row in ROWS if row.source == source) for source in sorted({row.source for row in ROWS})[:4]]
    plain = step_ranges().model_copy(
        update={"scatter": 0.1, "network": 0.0, "stand_in": 0.0, "unstated_network": 0.0},
    )
    scales = np.hypot([open_of_runs()[row.row_id].constants for row in few], 0.1)
    assert stretch_by(few, plain) == pytest.approx(max(np.abs([row.residual for row in few]) / scales))


def test_what_a_row_does_not_say_of_its_machine_counts_among_what_is_open_of_it() -> None:
    known = open_of_runs()
    unsaid = [row for row in ROWS if known[row.row_id].unstated_network > 0.0]
    stood_in = [row for row in ROWS if known[row.row_id].stand_in]
    assert min(len(unsaid), len(stood_in)) >= 15
    for part, rows in (("unstated_network", unsaid), ("stand_in", stood_in)):
        without = scales_of(rows, step_ranges().model_copy(update={part: 0.0}))
        assert (scales_of(rows, step_ranges()) > without).all()


def test_what_waits_for_the_network_is_as_far_off_as_collectives_are() -> None:
    off, known = model_error("collectives"), own_runs_spread()
    assert step_ranges().network == known.network == pytest.approx(off.within, rel=1e-3)
    assert spread_of("nemo", "hopper", "bf16")[-1, -1] ** 0.5 == pytest.approx(off.between, rel=1e-3)


def test_a_step_that_waits_for_the_network_has_a_wider_range_than_one_that_does_not() -> None:
    factors = []
    for share in (0.0, 0.3, 1.0):
        slopes = np.zeros(len(CONSTANTS))
        slopes[0], slopes[CONSTANTS.index(NETWORK)] = share - 1.0, share
        factors.append(training_errors().of_step(lambda felt=slopes: felt, "hopper", "bf16", "nemo"))
    assert 1.08 < factors[0] < factors[1] < factors[2]
    assert factors[2] > 1.25


def test_what_others_leave_open_widens_a_step_and_unknown_software_is_not_answered_by_it() -> None:
    errors, slopes = training_errors(), np.zeros(len(CONSTANTS))
    slopes[0] = -0.9
    known, unseen = (errors.of_step(lambda: slopes, "hopper", "bf16", stack) for stack in ("nemo", "internevo"))
    assert known is not None
    assert unseen is not None
    assert 1.1 < known < unseen < 1.4
    assert errors.of_step(lambda: slopes, "hopper", "bf16", "nobody's") is None
    assert errors.of_step(lambda: slopes, "nobody's", "bf16", "nemo") is None
