"""Casts to a narrow type cost memory traffic."""

from volvelle.laws.casting import cast_traffic


def test_a_cast_reads_the_wide_copy_and_writes_the_narrow_one() -> None:
    assert cast_traffic(100.0, wide_each=2.0, narrow_each=1.0) == 100 + 50
    assert cast_traffic(100.0, wide_each=2.0, narrow_each=0.5) == 100 + 25
