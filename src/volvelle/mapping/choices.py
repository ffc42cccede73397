"""What there is to say of a field of a mapping, said once where the field is declared.

Columns of tables, JSON keys, options of commands, fields of studies and spaces of searches are made from it.
"""

from dataclasses import MISSING, Field, dataclass, field, fields
from enum import IntEnum
from functools import cache
from typing import Any

import numpy as np

from volvelle.domains import DEGREE, SWITCH, NumberDomain
from volvelle.errors import MappingError, brief
from volvelle.kinds import NOT_OF_IT, kind_of

_KEY = "choice"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A field of a mapping: what it may be, what commands call it, and what a search looks through."""

    name: str
    default: Any
    flag: str
    """Of commands, like ``--micro-batch``; a switch has its opposite too, like ``--no-overlap``."""
    says: str
    """To people who ask for help."""
    domain: NumberDomain = DEGREE
    """Of numbers; switches are 0 or 1."""
    searched: tuple[Any, ...] = ()
    """What a search considers where nothing is said; empty: every number that divides."""
    usually: str = ""
    """The same in words, where a plan considers other values than that; empty: those."""
    structural: bool = False
    """Changes which operations run, not only how large they are."""
    rare: bool = False
    """Few tables vary it, and much arithmetic falls away where none does."""
    recorded: bool = False
    """Written beside every point of a study whose layout was searched."""
    listed: str = ""
    """The option and JSON key whose list names it where it is on; empty: it has its own."""

    @property
    def kind(self) -> type:
        """``int``, ``bool`` or an enumeration whose members have words."""
        return type(self.default)

    @property
    def words(self) -> dict[str, int]:
        """Word → number of an enumeration's members; none of other fields."""
        return {member.word: int(member) for member in self.kind} if issubclass(self.kind, IntEnum) else {}  # type: ignore[attr-defined]

    @property
    def listed_word(self) -> str:
        """What it is called in the list that names it."""
        return self.name.removeprefix(f"{self.listed}_")

    @property
    def opposite(self) -> str:
        """Of commands: what turns a switch off."""
        return f"--no-{self.flag.removeprefix('--')}"

    def typed(self, value: Any) -> list[str]:
        """A value of it as words of a command."""
        if self.listed:
            return [f"--{self.listed}", self.listed_word] if value else []
        if self.kind is bool:
            return [self.flag if value else self.opposite]
        return [self.flag, str(getattr(value, "word", value))]

    @property
    def column(self) -> type[np.generic]:
        """What a column of it holds."""
        if not self.structural:
            return np.float64
        return np.bool_ if self.kind is bool else np.int8

    def read(self, value: Any) -> Any:
        """A value of it: a number inside its domain, a switch, or a member, which its word or number stands for too."""
        if self.kind is int:
            self.domain.check(value, self.name, error=MappingError)
        kind = kind_of(self.kind)
        assert kind is not None, f"{self.name} may be anything"
        if value.__class__ in kind.taken:
            return value
        read = kind.read(value)
        if read is NOT_OF_IT:
            raise MappingError(f"{self.name} is {brief(value)}; it must be {kind.says}")
        return read

    def read_column(self, values: Any) -> Any:
        """The same of a column, whose words become numbers; all of it lies inside the domain."""
        column = np.asarray(values)
        if column.dtype.kind not in "biuf":
            column = np.array([self.read(value) for value in column.ravel().tolist()]).reshape(column.shape)
        most = max(self.words.values()) if self.words else self.domain.most
        least = 0 if self.words else self.domain.least
        if column.size and not (column.min() >= least and column.max() <= most and self._is_whole(column)):
            for value in column.ravel().tolist():
                self.read(value)
        return column

    @staticmethod
    def _is_whole(column: Any) -> bool:
        return column.dtype.kind != "f" or bool((np.floor(column) == column).all())


def choice(default: Any, **said: Any) -> Any:
    """A field of a mapping, with what a `Choice` says of it; its flag is its name unless said."""
    return field(default=default, metadata={_KEY: said})


@cache
def choices_of(declared: type) -> tuple[Choice, ...]:
    """The choices among the fields of a class, in the order of their declaration."""
    return tuple(_choice(one) for one in fields(declared) if _KEY in one.metadata)


def _choice(declared: "Field[Any]") -> Choice:
    said = declared.metadata[_KEY]
    assert declared.default is not MISSING, f"{declared.name} has no default"
    flag = f"--{declared.name.replace('_', '-')}"
    switch = {"domain": SWITCH} if isinstance(declared.default, bool) else {}
    return Choice(**{"name": declared.name, "default": declared.default, "flag": flag, **switch, **said})
