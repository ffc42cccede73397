"""Weights in four bits are read so, and written in sixteen."""

import pytest

from volvelle.laws.dequantisation import dequantisation_traffic
from volvelle.workload.elements import element_bytes


def test_unpacking_reads_what_is_kept_and_writes_a_copy() -> None:
    assert dequantisation_traffic(4.0, 16.0) == 20.0


def test_a_normal_float_with_double_quantisation_takes_4127_thousandths_of_a_bit() -> None:
    """Dettmers et al. 2023, section 3: 0.5 bits of scales a parameter become 0.127."""
    assert 8 * element_bytes("nf4") == pytest.approx(4.127, abs=5e-4)
    assert 8 * element_bytes("nf4-single") == 4.5
