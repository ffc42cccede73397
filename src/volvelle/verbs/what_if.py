"""What if a machine had other numbers: as it is typed, and beside the machine as it is."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

from volvelle.errors import DescriptionError, brief

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")
Changes = Mapping[str, str | float]
"""Field → ``2x``, ``+10%``, a quantity with its unit, or of what is no number, like ``chip``, a name."""


def beside_baseline(verb: Callable[Arguments, Answer]) -> Callable[Arguments, Answer]:
    """A verb that asks about the machine as it is too, where its argument `set` says what were another.

    The answer has that of the machine as it is as its `baseline`.
    """

    @wraps(verb)
    def asked(*given: Arguments.args, **named: Arguments.kwargs) -> Answer:
        answer = verb(*given, **named)
        if not named.get("set"):
            return answer
        as_it_is = cast("Any", verb)(*given, **{**named, "set": None})
        return cast("Answer", replace(cast("Any", answer), baseline=as_it_is))

    return asked


def read_changes(texts: tuple[str, ...]) -> dict[str, str]:
    """Changes as they are typed, ``FIELD=VALUE`` each."""
    found: dict[str, str] = {}
    for text in texts:
        field, equals, value = text.partition("=")
        if not equals or not field.strip() or not value.strip():
            raise DescriptionError(f"--set is {brief(text)}; write FIELD=VALUE, like scale_up.rate=2x")
        if field.strip() in found:
            raise DescriptionError(f"--set names {brief(field.strip())} twice; keep one")
        found[field.strip()] = value.strip()
    return found
