"""Kinds of options that several verbs have: numbers of a domain, and members of an enumeration by their words."""

import os
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from volvelle.domains import NumberDomain
from volvelle.errors import DescriptionError, brief

if TYPE_CHECKING:
    _Choice = click.Choice[str]
    _Type = click.ParamType[Any]
else:  # generic only in newer versions
    _Choice, _Type = click.Choice, click.ParamType


BRIEF = click.option("--brief", is_flag=True, help="The answer on one screen; sources and details are left out.")


class Lower(_Type):
    """A word in small letters, however it is written."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The word."""
        return str(value).lower()


class Within(_Type):
    """A number of a domain; one with a unit stays the text it is written in, for the verb to read and to quote."""

    def __init__(self, domain: NumberDomain) -> None:
        self.domain = domain
        self.name = "integer" if domain.whole else "float" if domain.kind is None else "quantity"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number, or the text of the quantity."""
        number = value
        if isinstance(value, str) and self.domain.kind is None:
            try:
                number = int(value) if self.domain.whole else float(value)
            except ValueError:
                self.fail(f"it is {brief(value)}; it must be {self.domain}", param, ctx)
        try:
            self.domain.read(number, "it")
        except DescriptionError as error:
            self.fail(str(error).removeprefix("it: "), param, ctx)
        return number


class Output(click.Path):
    """A file or a folder to write, refused before anything is computed where it cannot be written."""

    def __init__(self, *, folder: bool = False) -> None:
        super().__init__(file_okay=not folder, dir_okay=folder, writable=True, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path."""
        path: Path = Path(str(super().convert(value, param, ctx)))
        there = path if path.exists() else path.absolute().parent
        while self.dir_okay and not there.exists() and there != there.parent:
            there = there.parent
        if not path.exists() and not (there.is_dir() and os.access(there, os.W_OK)):
            self.fail(f"{brief(str(path))} cannot be written: {str(there)!r} is no folder to write in", param, ctx)
        return path


class Words(_Choice):
    """A choice among an enumeration's members by their words; gives the member."""

    def __init__(self, members: type[Enum]) -> None:
        self._members = {str(getattr(member, "word", member.value)): member for member in members}
        super().__init__(list(self._members))

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The member of that word."""
        return value if isinstance(value, Enum) else self._members[super().convert(value, param, ctx)]
