"""The bytes of a trace, and objects of its JSON one at a time: too large is refused before it is read."""

import json
import os
import re
import zlib
from collections.abc import Iterator
from contextlib import suppress
from json import JSONDecoder
from pathlib import Path
from typing import Any, Final

from volvelle.errors import DescriptionError, brief
from volvelle.input_limits import read_bytes

LARGEST: Final = 2**30
"""Bytes of a trace, unpacked."""
MOST_OPERATIONS: Final = 500_000
"""That are read: some seconds and half a gigabyte."""
_MEMORY_SHARE: Final = 4
"""A trace and what is made of it takes up to so many times its own bytes."""
_GZIP: Final = b"\x1f\x8b"
_PIECE: Final = 2**20
_DECODER: Final = JSONDecoder()


def most_bytes() -> int:
    """What a trace may take: a gibibyte, less where memory is short."""
    found = [LARGEST]
    with suppress(AttributeError, ValueError, OSError):  # not told on every system
        found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // _MEMORY_SHARE)
    with suppress(ImportError):
        import resource  # noqa: PLC0415 - not there on every system

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit != resource.RLIM_INFINITY:
            found.append(limit // _MEMORY_SHARE)
    return min(found)


def read_whole(file: Path) -> bytes:
    """What a trace holds, unpacked where it is gzipped."""
    most = most_bytes()
    try:
        size = file.stat().st_size
        if size > most:
            raise DescriptionError(_too_large(file, size, most))
        found = read_bytes(file, most=most)
    except FileNotFoundError:
        raise DescriptionError(f"there is no trace {str(file)!r}; give a file that a profiler wrote") from None
    except (OSError, ValueError) as error:
        raise DescriptionError(f"{str(file)!r} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if not found:
        raise DescriptionError(f"{str(file)!r} is empty; record the trace again")
    return _unpacked(found, file, most) if found.startswith(_GZIP) else found


def _too_large(file: Path, size: int, most: int) -> str:
    return (
        f"{str(file)!r} takes {size // 2**20} MiB and {most // 2**20} MiB can be read here; record fewer steps, or "
        "leave stacks out of the profile"
    )


def _unpacked(packed: bytes, file: Path, most: int) -> bytes:
    """Piece by piece, so that a small file that stands for a huge one is refused early."""
    found = bytearray()
    left = packed
    try:
        while left.startswith(_GZIP):  # several members may stand behind each other
            unpacking = zlib.decompressobj(wbits=31)
            while left and not unpacking.eof:
                found += unpacking.decompress(left, _PIECE)
                left = unpacking.unused_data if unpacking.eof else unpacking.unconsumed_tail
                if len(found) > most:
                    raise DescriptionError(_too_large(file, len(found), most))
            if not unpacking.eof:
                raise DescriptionError(f"{str(file)!r} is cut off in its compression; copy or record it again")
    except zlib.error as error:
        raise DescriptionError(f"{str(file)!r} is not whole: {error}; copy or record it again") from None
    return bytes(found)


def text_of(data: bytes, file: Path) -> str:
    """The text of a trace in JSON."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # Kineto writes names of kernels as they come: a byte that is no text must not cost the rest of the trace.
        if data.lstrip()[:1] in (b"{", b"["):
            return data.decode("utf-8-sig", errors="replace")
        raise DescriptionError(
            f"{str(file)!r} is neither text nor a trace that is known (byte {error.start}); give a trace in Chakra, "
            "Kineto, PyTorch's execution trace, torch.export (.pt2), ONNX or phases"
        ) from None


_SPACE: Final = re.compile(r"[ \t\n\r]*")


def _skip(text: str, at: int) -> int:
    """The place behind white space."""
    found = _SPACE.match(text, at)
    return at if found is None else found.end()


class JsonObjects:
    """A JSON object whose one long list is handed out entry by entry; all else is kept as it is."""

    def __init__(self, text: str, file: Path, long: str) -> None:
        self._text, self._file, self._long = text, file, long
        self.rest: dict[str, Any] = {}
        """Fields beside the list, known when all its entries were handed out."""

    def __iter__(self) -> Iterator[Any]:
        text = self._text
        at = self._behind(text, 0, "{")
        if text[at : at + 1] == "}":
            return
        while True:
            key, at = self._value(at)
            if not isinstance(key, str):
                raise self._damaged(at, f"{brief(key)} where a name should stand")
            at = self._behind(text, at, ":")
            if key == self._long and text[at : at + 1] == "[":
                at = _skip(text, at + 1)
                while text[at : at + 1] != "]":
                    entry, at = self._value(at)
                    yield entry
                    at = _skip(text, at)
                    if text[at : at + 1] == ",":
                        at = _skip(text, at + 1)
                    elif text[at : at + 1] != "]":
                        raise self._damaged(at, "no comma behind an entry")
                at += 1
            else:
                self.rest[key], at = self._value(at)
            at = _skip(text, at)
            if text[at : at + 1] == "}":
                return
            at = self._behind(text, at, ",")

    def _value(self, at: int) -> tuple[Any, int]:
        try:
            return _DECODER.raw_decode(self._text, at)
        except RecursionError:
            raise self._damaged(at, "values within values without end") from None
        except (json.JSONDecodeError, StopIteration) as error:
            raise self._damaged(getattr(error, "pos", at), "no value") from None
        except ValueError as error:  # a number of more digits than Python reads
            raise self._damaged(at, str(error)) from None

    def _behind(self, text: str, at: int, mark: str) -> int:
        at = _skip(text, at)
        if text[at : at + 1] != mark:
            raise self._damaged(at, f"no {mark!r}")
        return _skip(text, at + 1)

    def _damaged(self, at: int, what: str) -> DescriptionError:
        cut = " (the file ends there)" if at >= len(self._text) else ""
        return DescriptionError(
            f"{str(self._file)!r} is not whole JSON: {what} at character {at}{cut}; copy or record it again"
        )


def refuse_many(count: int, file: Path) -> None:
    """Refuse a trace of too many operations."""
    if count > MOST_OPERATIONS:
        raise DescriptionError(
            f"{str(file)!r} has {count:,} operations, and {MOST_OPERATIONS:,} are read; record fewer steps, or cut the "
            "trace"
        )


def finite(value: object, *, most: float = 1e18) -> float | None:
    """A number that can be worked with; None: it is no number, NaN, or out of all proportion."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if -most <= value <= most else None


def seconds_of(value: object, *, unit: float, where: str) -> float:
    """A duration that a file gives; a negative one, NaN and one without end are refused."""
    found = finite(value)
    if found is None or found < 0.0:
        raise DescriptionError(f"{where}: takes {brief(value)}; write a time of zero or more, or leave it out")
    return found * unit


def whole_of(value: object, what: str, *, where: str) -> int:
    """A whole number of 64 bits that a file gives, as of a node."""
    if isinstance(value, bool) or not isinstance(value, int) or not -(2**63) <= value < 2**64:
        raise DescriptionError(f"{where}: {what} is {brief(value)}; it must be a whole number")
    return value
