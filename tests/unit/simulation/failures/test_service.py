"""The recorded trace."""

import numpy as np
import pytest

from volvelle.catalogue.reliability import recorded_faults
from volvelle.simulation.failures.service import nodes_out_over

FAULTS = recorded_faults()
STARTS, ENDS = np.array([fault.start for fault in FAULTS]), np.array([fault.end for fault in FAULTS])


def test_nodes_out_are_what_littles_law_demands() -> None:
    out = nodes_out_over(STARTS, ENDS, since=0.0, until=348.98)
    assert out.mean == pytest.approx(out.by_little, rel=1e-9)
    assert out.mean == pytest.approx(9.26, abs=0.05)
    assert out.dispersion == pytest.approx(5.8, abs=0.2)
    assert [out.quantile(share) for share in (0.9, 0.95, 0.99)] == pytest.approx([22, 26, 31], abs=1)


def test_the_two_halves_of_the_trace_differ_more_than_chance() -> None:
    first = nodes_out_over(STARTS, ENDS, since=0.0, until=200.0)
    rest = nodes_out_over(STARTS, ENDS, since=200.0, until=348.98)
    assert (rest.quantile(0.95), rest.quantile(0.99)) == (12, 13)
    assert first.dispersion > 3 * rest.dispersion


def test_nobody_out_is_a_mean_of_nothing() -> None:
    out = nodes_out_over(np.array([]), np.array([]), since=0.0, until=1.0)
    assert (out.mean, out.by_little, out.quantile(0.99)) == (0.0, 0.0, 0.0)
