"""Traces with something wrong in them: damaged bytes, absurd numbers, circles, bombs, a million nodes on one line."""

import gzip
import io
import json
import random
import zipfile
from collections.abc import Callable
from typing import Any

from tests.trace_files import MADE, chakra, chakra_attribute, chakra_node, exported, kineto, operator
from volvelle.interchange.traces import wire

ABSURD: tuple[Any, ...] = (
    -1,
    0,
    -(2**63),
    2**63,
    2**64,
    10**400,
    1e308,
    float("nan"),
    float("inf"),
    float("-inf"),
    None,
    True,
    "",
    "x" * 5000,
    "9" * 5000,
    [],
    {},
    [[]],
    [[-1, 10**30]],
    {"a": {"b": []}},
    "\0",
    "ÿ€𝄞",
)
"""What may stand where something else should."""
_MILLION = 1_000_000


def mutated(seed: int) -> tuple[str, bytes]:
    """Name and bytes of a damaged trace."""
    chance = random.Random(seed)
    name = chance.choice(sorted(MADE))
    data = MADE[name]()
    if name.endswith(".gz") and chance.random() < 0.7:
        name, data = name.removesuffix(".gz"), gzip.decompress(data)
    ways: list[Callable[[random.Random, bytes], bytes]] = [_cut, _flipped, _doubled, _spliced, _wrong_magic]
    if data[:1] == b"{":
        ways += [_absurd, _absurd, _absurd, _nested, _renumbered, _emptied]
    elif name.endswith(".pt2"):
        ways += [_absurd_archive, _absurd_archive, _absurd_archive]
    else:
        ways += [_lengths, _flipped]
    for _ in range(chance.choice((1, 1, 2, 3))):
        data = chance.choice(ways)(chance, data)
    return name, data


def _cut(chance: random.Random, data: bytes) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


def _flipped(chance: random.Random, data: bytes) -> bytes:
    found = bytearray(data)
    for _ in range(chance.choice((1, 3, 20))):
        if found:
            found[chance.randrange(len(found))] = chance.randrange(256)
    return bytes(found)


def _doubled(chance: random.Random, data: bytes) -> bytes:
    return data * chance.choice((2, 3))


def _spliced(chance: random.Random, data: bytes) -> bytes:
    other = MADE[chance.choice(sorted(MADE))]()
    return data[: chance.randrange(len(data) + 1)] + other[chance.randrange(len(other) + 1) :]


def _wrong_magic(chance: random.Random, data: bytes) -> bytes:
    return chance.choice((b"PK\x03\x04", b"\x1f\x8b\x08\x00", b"{", b"[", b"\x08\x0a", b"\0\0", b"\xff" * 12)) + data


def _lengths(chance: random.Random, data: bytes) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] + wire.varint(chance.choice((0, 127, 2**20, 2**40, 2**63))) + data[at:]


def _emptied(chance: random.Random, data: bytes) -> bytes:
    return data.replace(
        chance.choice((b'"args"', b'"attrs"', b'"inputs"', b'"data"', b'"name"', b'"Layer"')), b'"gone"'
    )


def _renumbered(chance: random.Random, data: bytes) -> bytes:
    number = str(chance.randrange(6)).encode()
    for key in (b'"id": ', b'"Id": ', b'"ctrl_deps": ', b'"correlation": '):
        for old in range(9):
            if chance.random() < 0.4:
                data = data.replace(key + str(old).encode(), key + number)
    return data


def _nested(chance: random.Random, data: bytes) -> bytes:
    depth = chance.choice((60, 2000, 200_000))
    opened, closed = chance.choice(((b"[", b"]"), (b'{"a":', b"}")))
    deep = opened * depth + (closed if closed == b"]" else b"1" + closed) * depth
    return (
        data.replace(b"[", deep, 1)
        if chance.random() < 0.5
        else data.replace(b'"name": ', b'"name": ' + deep + b', "b": ', 1)
    )


def _absurd(chance: random.Random, data: bytes) -> bytes:
    try:
        told = json.loads(data)
    except (ValueError, RecursionError):
        return _flipped(chance, data)
    for _ in range(chance.choice((1, 1, 4))):
        _replace(chance, told)
    return json.dumps(told).encode()


def _replace(chance: random.Random, told: Any) -> None:
    """Put something absurd at some place of a value."""
    at = told
    for _ in range(12):
        keys = list(at) if isinstance(at, dict) else list(range(len(at))) if isinstance(at, list) else []
        if not keys:
            return
        key = chance.choice(keys)
        inner = at[key]
        if not isinstance(inner, dict | list) or not inner or chance.random() < 0.15:
            at[key] = chance.choice(ABSURD)
            return
        at = inner


def _absurd_archive(chance: random.Random, data: bytes) -> bytes:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            text = archive.read("m/models/model.json")
    except (zipfile.BadZipFile, KeyError, OSError, RuntimeError, NotImplementedError):
        return _flipped(chance, data)
    text = chance.choice((_absurd, _absurd, _nested, _cut))(chance, text)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("m/models/model.json", text)
    return packed.getvalue()


# -- what no mutation by chance finds ----------------------------------------------------------------------------------


def _zip_bomb() -> bytes:
    packed = io.BytesIO()
    with (
        zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("m/models/model.json", "w") as opened,
    ):
        for _ in range(64):
            opened.write(b" " * 2**20)
    return packed.getvalue()


def _gzip_bomb() -> bytes:
    return gzip.compress(b" " * 2**24, mtime=0) * 80


def _million_events() -> bytes:
    one = json.dumps(operator("aten::mul", 0, 1)).encode()
    return b'{"traceEvents":[' + b",".join([one] * _MILLION) + b"]}"


def _million_nodes() -> bytes:
    nodes = (b'{"id":%d,"name":"aten::mul","ctrl_deps":1}' % number for number in range(2, _MILLION))
    return b'{"schema":"1.1.1","nodes":[' + b",".join(nodes) + b"]}"


def _long_chain() -> bytes:
    nodes = (b'{"Id":%d,"Name":"n","NodeType":4,"runtime":1,"data_deps":[%d]}' % (at, at + 1) for at in range(100_000))
    last = b',{"Id":100000,"Name":"n","NodeType":4,"runtime":1}'
    return b'{"workload_graph":[' + b",".join(nodes) + last + b"]}"


def _circle() -> bytes:
    found = [chakra_node(number, 4, (number % 100_000 + 1,)) for number in range(1, 100_001)]
    return wire.behind_length(wire.chunk(1, "1")) + b"".join(found)


def _nested_frames() -> bytes:
    return kineto([operator("aten::mul", at, 200_000 - 2 * at) for at in range(99_000)])


EXTREMES: dict[str, tuple[str, Callable[[], bytes]]] = {
    "zip bomb": ("model.pt2", _zip_bomb),
    "gzip bomb": ("profile.json.gz", _gzip_bomb),
    "a million events on one line": ("profile.json", _million_events),
    "a million nodes on one line": ("recorded.json", _million_nodes),
    "a chain told backwards": ("rank.json", _long_chain),
    "a circle of 100 000": ("rank.et", _circle),
    "frames 99 000 deep": ("profile.json", _nested_frames),
    "brackets": ("profile.json", lambda: b'{"traceEvents":' + b"[" * 10**6),
    "one long number": (
        "profile.json",
        lambda: b'{"traceEvents":[{"ph":"X","cat":"cpu_op","ts":' + b"9" * 10**6 + b"}]}",
    ),
    "an attribute without a value": (
        "rank.et",
        lambda: chakra() + chakra_node(9, 4, attributes=wire.chunk(10, wire.chunk(1, "x"))),
    ),
    "an attribute without a name": (
        "rank.et",
        lambda: chakra() + chakra_node(9, 4, attributes=chakra_attribute("", 9, 1)),
    ),
    "no target": ("model.pt2", lambda: exported([{"inputs": []}])),
}
"""What is wrong, and name and bytes of the file."""
