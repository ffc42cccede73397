"""Limits of what is read: files too large, nested, aliased or binary are refused before anybody works on them.

What a file describes is small: a model has some hundred numbers, a study some thousand. Ten lines of YAML that refer to
each other can stand for a thousand million values, and a file of brackets can exhaust the stack; both are told in one
line.
"""

from collections.abc import Iterable, Mapping
from importlib.resources.abc import Traversable
from pathlib import Path

from volvelle.errors import DescriptionError

LARGEST = 16 * 2**20
"""Bytes of a file."""
_PIECE = 2**20
"""Bytes that are read at once."""
DEEPEST = 50
"""Levels of values within values."""
MOST = 500_000
"""Values, those counted again that are referred to again."""


def read_bytes(file: Path | Traversable, *, most: int = LARGEST) -> bytes:
    """What a file holds, if it is not too large; that it is not there is for the caller to say."""
    if file.is_dir():
        raise DescriptionError(f"{str(file)!r} is a folder; give a file")
    try:
        with file.open("rb") as opened:
            found = bytearray()
            # Piece by piece: to read up to a gibibyte at once takes a gibibyte, however short the file is.
            while len(found) <= most and (piece := opened.read(min(_PIECE, most + 1 - len(found)))):
                found += piece
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:
        raise DescriptionError(f"{str(file)!r} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(found) > most:
        raise DescriptionError(f"{str(file)!r} is larger than {most // 2**20} MiB; it is no file of this kind")
    return bytes(found)


def read_text(file: Path | Traversable) -> str:
    """The text of a file in UTF-8, if it is text and not too large."""
    found = read_bytes(file)
    try:
        text = found.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DescriptionError(
            f"{str(file)!r} cannot be read as text in UTF-8 (byte {error.start}); save it so"
        ) from None
    if "\0" in text:
        raise DescriptionError(f"{str(file)!r} is binary, not text")
    return text


def refuse_overgrown(value: object, where: str) -> None:
    """Refuse a value of values that is nested too deeply, refers to itself, or stands for too many."""
    seen = 0
    level: list[object] = [value]
    for _ in range(DEEPEST):
        below: list[object] = []
        for one in level:
            inside: Iterable[object] = one.values() if isinstance(one, Mapping) else ()
            if isinstance(one, list | tuple | set):
                inside = one
            below.extend(inside)
            if seen + len(below) > MOST:
                raise DescriptionError(f"{where} stands for more than {MOST:,} values; it is no file of this kind")
        seen += len(below)
        if not below:
            return
        level = below
    raise DescriptionError(f"{where} is nested more than {DEEPEST} levels deep; it is no file of this kind")
