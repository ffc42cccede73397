"""The wire format of protocol buffers, as far as traces use it: fields of a message, and messages behind their length.

Encoding as told in "Protocol Buffers: Encoding": a field is a varint of (number << 3 | wire type) and its value. A
message's own meaning (which number is what) stands with its format, in the module of that format.
"""

import struct
from collections.abc import Iterator
from typing import Final, TypeAlias

from volvelle.errors import DescriptionError

VARINT: Final = 0
FIXED64: Final = 1
BYTES: Final = 2
FIXED32: Final = 5
_WIDTHS: Final = {FIXED64: 8, FIXED32: 4}
_MOST_SHIFT: Final = 63
_WORD: Final = 1 << 64
_SIGN: Final = 1 << 63

Field: TypeAlias = tuple[int, int, int | bytes]
"""Number, wire type and value: an integer of a varint, bytes of all else."""


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """An unsigned integer and the place behind it."""
    value, shift = 0, 0
    while True:
        if at >= len(data):
            raise DescriptionError(f"a number is cut off at byte {at}; the file is not whole: write it again")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value % _WORD, at
        shift += 7
        if shift > _MOST_SHIFT:
            raise DescriptionError(
                f"a number before byte {at} is longer than 64 bits; this is no protocol buffer, or it is damaged"
            )


def fields(data: bytes) -> Iterator[Field]:
    """The fields of a message, in the order of the file."""
    at = 0
    while at < len(data):
        key, at = read_varint(data, at)
        number, kind = key >> 3, key & 7
        if number == 0:
            raise DescriptionError(
                f"a field before byte {at} has number 0; this is no protocol buffer, or it is damaged"
            )
        if kind == VARINT:
            value, at = read_varint(data, at)
            yield number, kind, value
            continue
        if kind == BYTES:
            size, at = read_varint(data, at)
        elif kind in _WIDTHS:
            size = _WIDTHS[kind]
        else:
            raise DescriptionError(
                f"field {number} before byte {at} has wire type {kind}, and 0, 1, 2 and 5 are known; "
                "this is no protocol buffer, or it is damaged"
            )
        if size > len(data) - at:
            raise DescriptionError(
                f"field {number} at byte {at} is {size} bytes long and {len(data) - at} are left; "
                "the file is not whole: write it again"
            )
        yield number, kind, data[at : at + size]
        at += size


def messages(data: bytes) -> Iterator[bytes]:
    """Messages behind their lengths, as a stream of them is written."""
    at = 0
    while at < len(data):
        size, at = read_varint(data, at)
        if size > len(data) - at:
            raise DescriptionError(
                f"a message at byte {at} is {size} bytes long and {len(data) - at} are left; "
                "the file is not whole: write it again"
            )
        yield data[at : at + size]
        at += size


def signed(value: int) -> int:
    """A varint as the signed integer (int32, int64) that it stands for."""
    return value - _WORD if value >= _SIGN else value


def real(value: bytes) -> float:
    """A double or a float of eight or four bytes."""
    found: float = struct.unpack("<d" if len(value) == _WIDTHS[FIXED64] else "<f", value)[0]
    return found


def varint(value: int) -> bytes:
    """An integer as a varint; a negative one as its complement of 64 bits."""
    value %= _WORD
    found = bytearray()
    while value >= 0x80:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)


def integer(number: int, value: int) -> bytes:
    """A field with an integer."""
    return varint(number << 3 | VARINT) + varint(value)


def double(number: int, value: float) -> bytes:
    """A field with a double."""
    return varint(number << 3 | FIXED64) + struct.pack("<d", value)


def chunk(number: int, value: bytes | str) -> bytes:
    """A field with bytes, a text or a message."""
    told = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | BYTES) + varint(len(told)) + told


def behind_length(message: bytes) -> bytes:
    """A message behind its length."""
    return varint(len(message)) + message
