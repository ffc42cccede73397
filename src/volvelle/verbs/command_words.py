"""Arguments of verbs by the words of the command: ``tp=8`` is ``tensor=8``, ``seq=4096`` is ``sequence=4096``."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from volvelle.errors import DescriptionError, removed
from volvelle.mapping.parallelism import CHOICES

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")

_NAMES = {choice.flag.removeprefix("--").replace("-", "_"): choice.name for choice in CHOICES} | {"seq": "sequence"}
"""Word of an option → the argument."""
_MEMBERS = {
    choice.name: {word: choice.kind(number) for word, number in choice.words.items()}
    for choice in CHOICES
    if choice.words
}
"""Argument → what words stand for in it."""


def in_command_words(function: Callable[Arguments, Answer]) -> Callable[Arguments, Answer]:
    """The verb, which also understands the words of the command: ``tp=8``, ``recompute="full"``."""

    @wraps(function)
    def asked(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Answer:
        said: dict[str, object] = {}
        for word, value in kwargs.items():
            if gone := removed(function.__name__, f"--{word.replace('_', '-')}"):
                raise DescriptionError(gone)
            name = _NAMES.get(word, word)
            if name in said:
                raise DescriptionError(f"{name} is given twice, as {word} too; give it once")
            said[name] = _member(name, value)
        return function(*args, **said)  # type: ignore[arg-type]

    return asked


def _member(name: str, value: object) -> object:
    """A member of an enumeration for its word, or several for several."""
    members = _MEMBERS.get(name)
    if members is None:
        return value
    if isinstance(value, str):
        if value not in members:
            raise DescriptionError(f"{name} is {value!r}; it may be {', '.join(members)}")
        return members[value]
    return tuple(_member(name, one) for one in value) if isinstance(value, list | tuple) else value
