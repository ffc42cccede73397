"""Options of commands that are fields of a layout, made from how each field is declared."""

from collections.abc import Iterator
from enum import IntEnum
from typing import Any

import click

from volvelle.cli.options.shared import together
from volvelle.cli.words import Within, Words
from volvelle.mapping.choices import Choice
from volvelle.mapping.parallelism import CHOICES


def values_given(given: dict[str, Any]) -> dict[str, Any]:
    """Options without the fields of a layout that were not given; those that lists name are on where they are named."""
    unsaid = {choice.name: False if choice.listed else None for choice in CHOICES}
    return {name: value for name, value in unlisted(given).items() if name not in unsaid or value is not unsaid[name]}


def unlisted(given: dict[str, Any]) -> dict[str, Any]:
    """Options with the fields that lists name: on where they are named."""
    fields = {choice.name: choice.listed_word in given[choice.listed] for choice in CHOICES if choice.listed}
    return {name: value for name, value in given.items() if name not in _lists_of()} | fields


def _lists_of() -> dict[str, list[str]]:
    """List → what it may name."""
    lists: dict[str, list[str]] = {}
    for choice in CHOICES:
        if choice.listed:
            lists.setdefault(choice.listed, []).append(choice.listed_word)
    return lists


def _lists() -> Iterator[Any]:
    for name, words in _lists_of().items():
        yield click.option(
            f"--{name}",
            multiple=True,
            type=click.Choice(words),
            help="What lives in host memory (may be given several times).",
        )


def _type(choice: Choice) -> Any:
    return Words(choice.kind) if issubclass(choice.kind, IntEnum) else Within(choice.domain)


def _switch(choice: Choice) -> str:
    return f"{choice.flag}/{choice.opposite}"


def _value_or_none(choice: Choice) -> Any:
    if choice.kind is bool:
        return click.option(_switch(choice), choice.name, default=None, help=choice.says)
    return click.option(choice.flag, choice.name, default=None, type=_type(choice), help=choice.says)


_FIELDS = [choice for choice in CHOICES if not choice.listed]
layout_values = together(*map(_value_or_none, _FIELDS), *_lists())
"""Every field of a layout, one value each or none: what is not given is not said."""
