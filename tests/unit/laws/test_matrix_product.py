"""How much of a chip a product of some shape fills."""

import numpy as np
import pytest

from volvelle.laws.matrix_product import depth_efficiency, wave_efficiency


def test_many_waves_fill_the_chip_and_part_of_one_fills_that_part() -> None:
    """108 units, tiles of 256 × 128: two rows of 54 tiles are one wave, whose last half is lost on average."""
    shape = {"units": 108.0, "tile": 256.0 * 128.0}
    assert wave_efficiency(512.0, 54 * 128.0, 1.0, **shape) == pytest.approx(1 / 1.5)
    assert wave_efficiency(512.0, 54 * 128.0, 0.25, **shape) == pytest.approx(0.25)
    assert wave_efficiency(512.0, 54 * 128.0, 1000.0, **shape) == pytest.approx(1.0, abs=1e-3)


def test_a_chip_without_units_or_a_fitted_tile_has_no_partly_filled_waves() -> None:
    assert wave_efficiency(8.0, 8.0, 1.0, units=None, tile=8192.0) == 1.0
    assert wave_efficiency(8.0, 8.0, 1.0, units=108.0, tile=None) == 1.0


def test_a_tile_as_deep_as_its_set_up_loses_half() -> None:
    assert list(depth_efficiency(np.array([64.0, 192.0]), half=64.0)) == pytest.approx([0.5, 0.75])
