import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from volvelle.quantities import KINDS, format, parse, show  # noqa: A004


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(KINDS))
def test_parse_undoes_format_exactly(value, kind) -> None:  # type: ignore[no-untyped-def]
    assert parse(format(value, kind), kind) == value


@given(st.floats(1e-15, 1e25), st.sampled_from(KINDS), st.integers(2, 6))
def test_what_is_shown_is_right_to_the_digits_it_shows(value, kind, digits) -> None:  # type: ignore[no-untyped-def]
    read = parse(show(value, kind, digits=digits).replace(",", ""), kind)
    assert math.isclose(read, value, rel_tol=0.5001 * 10.0 ** (1 - digits))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_every_unit_is_read_as_its_size(kind) -> None:  # type: ignore[no-untyped-def]
    for unit, size in kind.units.items():
        assert parse(f"1 {unit}", kind) == size
