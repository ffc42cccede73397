"""Files that went wrong: values replaced, fields lost, renamed and doubled, text cut, bytes changed."""

import json
import random
from collections.abc import Callable
from typing import Any

HOSTILE: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    1,
    7,
    0.5,
    -2.5,
    1e30,
    -1e300,
    1e-300,
    float("nan"),
    float("inf"),
    10**25,
    2**63,
    "",
    "abc",
    "-1 GB/s",
    "nan s",
    "inf USD",
    "0 %",
    "µ" * 50,
    [],
    {},
    [1, "two", None],
    {"value": -1},
)
"""Values that nobody means."""
_LEAVES = (int, float, str, bool, type(None))


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where values are within a value of values."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, part in inside for place in places(part, (*path, key)))]


def mutated(value: Any, chance: random.Random, *, times: int = 1) -> Any:
    """The value with something amiss."""
    for _ in range(times):
        where = [place for place in places(value) if place]
        if not where:
            return chance.choice(HOSTILE)
        value = _at(value, chance.choice(where), chance.choice(_WAYS), chance)
    return value


def _at(value: Any, place: tuple[Any, ...], way: Callable[..., None], chance: random.Random) -> Any:
    copy = json.loads(json.dumps(value, default=str))
    holder = copy
    for key in place[:-1]:
        holder = holder[key]
    way(holder, place[-1], chance)
    return copy


def _replace(holder: Any, key: Any, chance: random.Random) -> None:
    holder[key] = chance.choice(HOSTILE)


def _scale(holder: Any, key: Any, chance: random.Random) -> None:
    if isinstance(holder[key], int | float) and not isinstance(holder[key], bool):
        holder[key] = chance.choice((-1, 0, 2, 0.5, 3, 1000, 1e9, 1e-9)) * holder[key]
        holder[key] = int(holder[key]) if chance.random() < 0.7 and abs(holder[key]) < 1e300 else holder[key]
    else:
        holder[key] = chance.choice(HOSTILE)


def _lose(holder: Any, key: Any, chance: random.Random) -> None:
    del holder[key]


def _rename(holder: Any, key: Any, chance: random.Random) -> None:
    if isinstance(holder, dict):
        holder[chance.choice(("", "x", f"{key}s", str(key)[::-1]))] = holder.pop(key)
    else:
        holder.append(holder[key])


def _swap(holder: Any, key: Any, chance: random.Random) -> None:
    other = chance.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
    holder[key], holder[other] = holder[other], holder[key]


def _bury(holder: Any, key: Any, chance: random.Random) -> None:
    for _ in range(chance.choice((1, 5, 60))):
        holder[key] = [holder[key]]


_WAYS = (_replace, _replace, _scale, _scale, _scale, _lose, _rename, _swap, _bury)


def mangled(text: str, chance: random.Random) -> bytes:
    """Text with something amiss that no value has: cut, doubled, nested, aliased, in another encoding."""
    raw = text.encode()
    at = chance.randrange(len(raw) + 1)
    ways: tuple[Callable[[], bytes], ...] = (
        lambda: raw[:at],
        lambda: raw[:at] + bytes(chance.randrange(256) for _ in range(chance.randrange(1, 9))) + raw[at:],
        lambda: raw[:at] + raw[at // 2 :],
        lambda: text.encode("utf-16"),
        lambda: b"",
        lambda: b"\x00" * 40,
        lambda: b"[" * chance.choice((60, 5000, 50_000)),
        lambda: b'{"a":' * 3000,
        lambda: b"- " * 3000,
        bomb,
        lambda: b"a: &a [*a, *a]\n" + raw,
        lambda: raw.replace(b":", b"", 1),
        lambda: raw.replace(b"1", b"9" * 5000, 1),
        lambda: raw.replace(b"1", b"-1", chance.randrange(1, 4)),
        lambda: raw.replace(b"\n", b"\n\t", 1),
    )
    return chance.choice(ways)()


def bomb() -> bytes:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]" for level in range(1, 10)]
    return "\n".join([*lines, "name: *a9", "sizes: *a9", "axes: *a9"]).encode()
