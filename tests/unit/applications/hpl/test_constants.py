"""Constants of Linpack, and rows that ranges rest on."""

from dataclasses import replace

import pytest

from volvelle.applications.hpl.constants import hpl_constants, rows_behind


@pytest.mark.parametrize("family", ["hopper", "ampere", "cdna3"])
def test_a_range_is_as_wide_as_the_rows_that_are_named_behind_it(family: str) -> None:
    constants = hpl_constants(family)
    told = rows_behind(constants)

    assert told is not None
    assert told.factor == constants.error
    assert told.regime == family
    assert told.rows + told.pooled_rows >= 30


def test_an_error_that_is_stated_or_of_own_runs_rests_on_no_such_rows() -> None:
    known = hpl_constants("hopper")
    assert rows_behind(replace(known, error=1.01 * known.error)) is None
    assert rows_behind(replace(known, fitted=False)) is None
