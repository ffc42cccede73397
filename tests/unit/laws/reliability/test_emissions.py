"""Carbon."""

import pytest

from volvelle.laws.reliability.emissions import operational_emissions

KWH = 3.6e6


def test_llama_3_by_the_convention_of_its_card() -> None:
    energy = 30.84e6 * 0.7 * KWH
    assert energy / KWH / 1000 == pytest.approx(21588)
    assert operational_emissions(energy, intensity=0.4137 / KWH) / 1000 == pytest.approx(8930, rel=1e-3)


def test_bloom() -> None:
    assert operational_emissions(433e3 * KWH, intensity=0.057 / KWH) / 1000 == pytest.approx(24.7, abs=0.05)
