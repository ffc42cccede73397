"""The optimiser step is memory traffic."""

import pytest

from volvelle.laws.optimiser import optimiser_step_time


def test_the_optimiser_reads_and_writes_thirty_bytes_a_parameter() -> None:
    assert optimiser_step_time(1e9, state=12.0, gradient=4.0, weight=2.0, memory_rate=30e9) == pytest.approx(1.0)
