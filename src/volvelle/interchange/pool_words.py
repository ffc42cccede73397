"""A pool of workers in words: ``2x tp4``, ``1x tp2 dp8 ep16 on gb200-nvl72/72 weights nvfp4``."""

import re
from dataclasses import dataclass

from volvelle.domains import DEGREE, check_fields, number
from volvelle.errors import DescriptionError, brief

_FORMS = "'2x tp4', '1x dp8 ep8' or '4x tp2 on dgx-h200/8 weights fp8'"
_COUNT = re.compile(r"(?P<count>\d+)[x×*]", re.IGNORECASE)
_DEGREE = re.compile(r"(?P<axis>tp|pp|ep|dp)(?P<degree>\d+)", re.IGNORECASE)
AXES = {"tp": "tensor", "pp": "pipeline", "ep": "expert", "dp": "data"}
"""Word before a degree → the field of a layout."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolWords:
    """The workers of a pool and the layout of each; a degree that no word names is 1."""

    workers: int = number(DEGREE, 1)
    tensor: int = number(DEGREE, 1)
    pipeline: int = number(DEGREE, 1)
    expert: int = number(DEGREE, 1)
    data: int = number(DEGREE, 1)
    on: str | None = None
    """The machine."""
    weights: str | None = None
    """The format of the weights."""

    def __post_init__(self) -> None:
        check_fields(self, "pool")

    def __str__(self) -> str:
        degrees = {word: getattr(self, name) for word, name in AXES.items()}
        named = [f"{word}{size}" for word, size in degrees.items() if size != 1]
        words = [f"{self.workers}x", *(named or ["tp1"])]
        words += ["on", self.on] if self.on else []
        words += ["weights", self.weights] if self.weights else []
        return " ".join(words)


def read_pool(text: str, name: str) -> PoolWords:
    """The pool that a text describes; `name` is the option that it was given to."""
    words = text.split()
    found: dict[str, int | str] = {}
    place = 0
    while place < len(words):
        word = words[place]
        if word.lower() in ("on", "weights"):
            key = word.lower()
            if place + 1 == len(words):
                raise DescriptionError(f"{name} {brief(text)}: nothing follows {word!r}; write {_FORMS}")
            place += 1
            value: int | str = words[place] if key == "on" else words[place].lower()
        elif (count := _COUNT.fullmatch(word)) is not None:
            key, value = "workers", _whole(count["count"], name, text)
        elif (degree := _DEGREE.fullmatch(word)) is not None:
            key, value = AXES[degree["axis"].lower()], _whole(degree["degree"], name, text)
        else:
            raise DescriptionError(f"{name} {brief(text)}: {brief(word)} cannot be read; write {_FORMS}")
        if key in found:
            raise DescriptionError(f"{name} {brief(text)} says {key} twice; keep one")
        found[key] = value
        place += 1
    if "workers" not in found:
        raise DescriptionError(f"{name} {brief(text)} does not say how many workers; write {_FORMS}")
    return PoolWords(**found)  # type: ignore[arg-type]


def _whole(digits: str, name: str, text: str) -> int:
    DEGREE.check(value := int(digits[:20]), f"{name} {brief(text)}: a number")
    return value
