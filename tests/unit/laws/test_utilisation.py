"""Utilisation as papers count it."""

import pytest

from volvelle.laws.utilisation import model_flops_utilisation, pace_among, transfer_utilisation


def test_utilisation_of_palm() -> None:
    """Chowdhery 2022: 540 B parameters, 238.3 K tokens/s on 6144 TPU v4 is 46.2 % MFU (45.7 % without attention)."""
    work = 238.3e3 * 6 * 540.35e9
    assert model_flops_utilisation(work, 1.0, chips=6144, peak=275e12) == pytest.approx(0.457, abs=0.002)


def test_no_chip_is_busy_for_more_than_all_the_time() -> None:
    assert model_flops_utilisation(3e15, 1.0, chips=1, peak=1e15) == 1.0


def test_a_link_that_is_busy_half_the_time_is_half_used() -> None:
    assert transfer_utilisation(1e12, 4.0, rate=0.5e12) == 0.5
    assert transfer_utilisation(3e12, 1.0, rate=1e12) == 1.0


def test_a_pace_falls_with_the_number_of_chips_as_megascale_has_it() -> None:
    """Jiang 2024, table 2: 173.1 tokens a second and GPU among 3,072, 161.5 among 12,288."""
    assert pace_among(173.1, 12288, measured_on=3072, exponent=-0.05) == pytest.approx(161.5, rel=0.005)
    assert pace_among(173.1, 12288, measured_on=3072, exponent=0.0) == 173.1
