"""Kinds of options that several verbs have: counts, and members of an enumeration by their words."""

from enum import Enum
from typing import TYPE_CHECKING, Any

import click

COUNT = click.IntRange(1)
"""How many of something there are."""


if TYPE_CHECKING:
    _Choice = click.Choice[str]
else:
    _Choice = click.Choice  # generic only in newer versions


class Words(_Choice):
    """A choice among an enumeration's members by their words; gives the member."""

    def __init__(self, members: type[Enum]) -> None:
        self._members = {str(getattr(member, "word", member.value)): member for member in members}
        super().__init__(list(self._members))

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The member of that word."""
        return value if isinstance(value, Enum) else self._members[super().convert(value, param, ctx)]
