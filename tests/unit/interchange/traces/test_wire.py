"""What is written is read back, and what is damaged is refused."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from volvelle.errors import DescriptionError
from volvelle.interchange.traces import wire


@given(st.integers(-(2**63), 2**64 - 1))
def test_an_integer_is_read_back(value: int) -> None:
    ((number, kind, found),) = wire.fields(wire.integer(7, value))
    assert (number, kind) == (7, wire.VARINT)
    assert isinstance(found, int)
    assert found == value if value >= 0 else wire.signed(found) == value


@given(st.floats(allow_nan=False), st.binary(max_size=300))
def test_doubles_and_bytes_are_read_back(value: float, data: bytes) -> None:
    first, second = wire.fields(wire.double(3, value) + wire.chunk(4, data))
    assert isinstance(first[2], bytes)
    assert wire.real(first[2]) == value
    assert second == (4, wire.BYTES, data)


@given(st.lists(st.binary(max_size=200), max_size=9))
def test_messages_behind_their_lengths_are_read_back(written: list[bytes]) -> None:
    assert list(wire.messages(b"".join(map(wire.behind_length, written)))) == written


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    with contextlib.suppress(DescriptionError):
        list(wire.fields(data))


def test_a_message_that_is_cut_off_is_refused() -> None:
    whole = wire.chunk(2, "abcdef")
    for size in range(1, len(whole)):
        with pytest.raises(DescriptionError, match="not whole"):
            list(wire.fields(whole[:size]))
