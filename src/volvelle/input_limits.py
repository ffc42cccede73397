"""Limits of what is read: files too large, nested, aliased or binary are refused before anybody works on them.

What a file describes is small: a model has some hundred numbers, a study some thousand. Ten lines of YAML that refer to
each other can stand for a thousand million values, and a file of brackets can exhaust the stack; both are told in one
line.
"""

import re
from collections.abc import Iterable, Mapping
from importlib.resources.abc import Traversable
from pathlib import Path

from volvelle.errors import DescriptionError

LARGEST = 16 * 2**20
"""Bytes of a file."""
_HEAD = 64
"""Bytes by which the kind of a file is recognised."""
_PIECE = 2**20
"""Bytes that are read at once."""
DEEPEST = 50
"""Levels of values within values."""
MOST = 500_000
"""Values, those counted again that are referred to again."""


_ONNX = re.compile(rb"\x08[\x01-\x1f][\x12\x1a\x3a\x42]")
"""The start of an ONNX file: its version, then the tag of its producer, graph or operators."""
_WEIGHTS = (".safetensors", ".bin", ".pt", ".pth", ".ckpt", ".gguf")


_REMOTE = re.compile(r"(?:^|[\s=,])(?P<place>(?P<scheme>[A-Za-z][A-Za-z0-9+.-]+):/{1,3}[^/\s]\S*)")
"""A place with a scheme, like s3://bucket/file. A path object has one slash left; one letter is a drive of Windows."""
_NAMES = re.compile(r"(https?://)?(www\.)?huggingface\.co/|ray://")
"""Addresses that are names of models or of a cluster, not places to read or write."""


def refuse_remote(value: object) -> None:
    """Reject a path with a scheme, like ``s3://bucket/file``: only local files and folders are supported."""
    if not isinstance(value, str | Path):
        return
    found = _REMOTE.search(str(value))
    if found is not None and not _NAMES.match(found["place"]):
        raise DescriptionError(
            f"{found['place']!r} is not a local path; give a local file or folder. Places with {found['scheme']}:// "
            "are not supported: copy the file, or mount the storage as a folder"
        )


def other_reader(name: str, head: bytes) -> str:
    """Return what a binary file is and which command reads it, as a sentence; empty if it is unknown.

    `name` is the file, `head` its first bytes.
    """
    word = name.rsplit("/", maxsplit=1)[-1].lower()
    replay = f"volvelle replay {name} --on SYSTEM"
    if word.endswith(".onnx") or _ONNX.match(head):
        return f"it is an ONNX model, which replay reads: {replay}"
    if word.endswith(".pt2"):
        return f"it is a program of torch.export, which replay reads: {replay}"
    if word.endswith(".et"):
        return f"it is a Chakra trace, which replay reads: {replay}"
    if word.endswith(".json.gz"):
        return f"it is a compressed profile, which replay reads: {replay}"
    if word.endswith(".otf2") or head.startswith(b"OTF2"):
        return f"it is an OTF2 trace, which mpi reads: volvelle mpi {name}"
    if word.endswith(".csv.gz"):
        return f"it is a compressed table; MPI traces are read by: volvelle mpi {name}"
    if word.endswith(_WEIGHTS):
        return "it holds weights; give the config.json of the model"
    return ""


def unreadable(name: str, head: bytes, why: str) -> DescriptionError:
    """Return the error for a file that is not text, with `why` if no command is known to read it."""
    other = other_reader(name, head)
    return DescriptionError(f"{name!r} is not text: {other}" if other else f"{name!r} {why}")


def read_bytes(file: Path | Traversable, *, most: int = LARGEST) -> bytes:
    """What a file holds, if it is not too large; that it is not there is for the caller to say."""
    if file.is_dir():
        raise DescriptionError(f"{str(file)!r} is a folder; give a file")
    if not file.is_file():
        refuse_remote(file)
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
        other = other_reader(str(file), bytes(found[:_HEAD]))
        if other:
            raise DescriptionError(f"{str(file)!r} is not text: {other}")
        raise DescriptionError(f"{str(file)!r} is larger than {most // 2**20} MiB; it is no file of this kind")
    return bytes(found)


def read_text(file: Path | Traversable, *, most: int = LARGEST) -> str:
    """The text of a file in UTF-8, if it is text and not too large."""
    found = read_bytes(file, most=most)
    try:
        text = found.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        why = f"cannot be read as text in UTF-8 (byte {error.start}); save it so"
        raise unreadable(str(file), found[:_HEAD], why) from None
    if "\0" in text:
        raise unreadable(str(file), found[:_HEAD], "is binary, not text")
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
