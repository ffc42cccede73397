"""The optimiser step is memory traffic."""

import pytest

from volvelle.laws.optimiser import (
    factored_state_bytes,
    narrow_state_bytes,
    optimiser_step_time,
    orthogonalisation_work,
)


def test_the_optimiser_reads_and_writes_thirty_bytes_a_parameter() -> None:
    assert optimiser_step_time(1e9, state=12.0, gradient=4.0, weight=2.0, memory_rate=30e9) == pytest.approx(1.0)


def test_two_states_in_eight_bits_take_a_little_over_two_bytes() -> None:
    assert narrow_state_bytes(2.0) == 2.03125


def test_a_factored_moment_grows_with_the_sides_of_a_matrix_not_with_its_area() -> None:
    assert factored_state_bytes(4096.0, 4096.0) == 4 * 8192
    assert factored_state_bytes(8192.0, 8192.0) == 2 * factored_state_bytes(4096.0, 4096.0)


def test_orthogonalising_is_at_most_six_times_the_shorter_side_squared_times_the_longer_an_iteration() -> None:
    """Jordan et al. 2024: the FLOP overhead of Muon."""
    assert orthogonalisation_work(4096.0, 4096.0) == 5 * 6 * 4096.0**3
    assert orthogonalisation_work(1024.0, 4096.0) == orthogonalisation_work(4096.0, 1024.0)
    assert orthogonalisation_work(1024.0, 4096.0) < 5 * 6 * 4096.0 * 1024.0**2
