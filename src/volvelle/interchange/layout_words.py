"""A layout in a few words, as a plan prints it: ``tp4 pp4 dp2, mb1, zero1, 1f1b/2, recompute none, sp``."""

import re
from typing import Any

from volvelle.errors import MappingError, UnknownNameError, brief
from volvelle.mapping.axes import AXES
from volvelle.mapping.parallelism import CHOICES, Schedule

_NUMBERED = {
    **{axis.word: axis.name for axis in AXES},
    "mb": "micro_batch",
    "zero": "zero",
}
"""Word before a number → the field."""
_SWITCHED = {"sp": "sequence_parallel", "etp": "expert_tensor_parallel"}
_FIELDS = {choice.name: choice for choice in CHOICES if not choice.listed}
_SCHEDULES = {schedule.word: schedule for schedule in Schedule}
_WORD = re.compile(r"(?P<word>[a-z]+)(?P<number>\d+)(?:/(?P<how>heads|etp1))?")


def looks_like_layout(text: str) -> bool:
    """Whether a text is a layout: its first word has the degree of an axis, a schedule, or a field of a layout."""
    first = re.split(r"[\s,;]+", text.strip().lower(), maxsplit=1)[0]
    found = _WORD.fullmatch(first)
    return (found is not None and found["word"] in _NUMBERED) or first.partition("=")[0] in _FIELDS


def read_layout_words(text: str) -> dict[str, Any]:
    """The fields of a layout that a text names; others are not said."""
    words = re.split(
        r"[\s,;]+", re.sub(r"recompute\s+(\w+)(?:\s+every\s+(\d+))?", r"recompute=\1 every\2", text.strip())
    )
    fields: dict[str, Any] = {}
    for word in filter(None, words):
        for name, value in _fields_of(word.lower()).items():
            if fields.get(name, value) != value:
                raise MappingError(f"the layout {brief(text)} says {name} twice; keep one")
            fields[name] = value
    if not fields:
        raise MappingError(f"the layout {brief(text)} says nothing; write it like 'tp4 pp4 zero1 recompute full'")
    return fields


def _fields_of(word: str) -> dict[str, Any]:
    if word in _SWITCHED:
        return {_SWITCHED[word]: True}
    if word.removeprefix("no-") in _SWITCHED:
        return {_SWITCHED[word.removeprefix("no-")]: False}
    if word.startswith("every"):
        return {"recompute_every": int(word.removeprefix("every") or 1)}
    schedule, _, pieces = word.partition("/")
    if schedule in _SCHEDULES and (pieces.isdigit() or not pieces):
        return {"schedule": _SCHEDULES[schedule], **({"interleave": int(pieces)} if pieces else {})}
    name, equals, value = word.partition("=")
    if equals:
        return {name: _value(name, value)}
    found = _WORD.fullmatch(word)
    if found is None or found["word"] not in _NUMBERED:
        known = (*_NUMBERED, *_SWITCHED, *_SCHEDULES, *_FIELDS)
        raise UnknownNameError.among("word of a layout", word, known)
    how = {"heads": {"ulysses": True}, "etp1": {"expert_tensor_parallel": False}}.get(found["how"] or "", {})
    return {_NUMBERED[found["word"]]: int(found["number"]), **how}


def _value(name: str, text: str) -> Any:
    if name not in _FIELDS:
        raise UnknownNameError.among("field of a layout", name, _FIELDS)
    choice = _FIELDS[name]
    if choice.words:
        if text not in choice.words:
            raise UnknownNameError.among(f"value of {name}", text, choice.words)
        return choice.kind(choice.words[text])
    if choice.kind is bool:
        if text not in ("yes", "no", "true", "false"):
            raise MappingError(f"{name} is {brief(text)}; it must be yes or no")
        return text in ("yes", "true")
    if not text.isdigit():
        raise MappingError(f"{name} is {brief(text)}; it must be {choice.domain}")
    return int(text)
