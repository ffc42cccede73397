"""Utilisation as papers count it."""

import pytest

from volvelle.laws.utilisation import model_flops_utilisation


def test_utilisation_of_palm() -> None:
    """Chowdhery 2022: 540 B parameters, 238.3 K tokens/s on 6144 TPU v4 is 46.2 % MFU (45.7 % without attention)."""
    work = 238.3e3 * 6 * 540.35e9
    assert model_flops_utilisation(work, 1.0, chips=6144, peak=275e12) == pytest.approx(0.457, abs=0.002)
