"""Kinds of options: which values an option takes, how text is read as one, and its JSON Schema."""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from numbers import Real
from pathlib import Path
from typing import Any, final

from volvelle.domains import NumberDomain
from volvelle.errors import DescriptionError, UnknownNameError, VolvelleError, brief, nearest_names
from volvelle.input_limits import refuse_remote


def plain(value: Any) -> Any:
    """Return a NumPy scalar, a fraction or a decimal as a Python number; return any other value unchanged."""
    if type(value).__module__ == "numpy" and getattr(value, "ndim", None) == 0:
        return value.item()
    if not isinstance(value, bool | int | float) and isinstance(value, Real | Decimal):
        try:
            return float(value)
        except (OverflowError, ValueError):  # larger than any float, or a signalling NaN
            return value
    return value


class OptionKind(ABC):
    """The values that an option takes."""

    @property
    @abstractmethod
    def says(self) -> str:
        """The values in words, for an error: ``a whole number from 1 to 10``."""

    @property
    def metavar(self) -> str:
        """The placeholder of a value in the help of the command."""
        return "TEXT"

    @abstractmethod
    def read(self, value: Any, where: str) -> Any:
        """Return a Python value as the option keeps it; reject it by the name `where` if it is of another kind."""

    def from_text(self, text: str) -> Any:
        """Return the value that a typed word stands for."""
        return self.read(text, "it")

    def text(self, value: Any) -> str:
        """Return a value as it is typed."""
        return str(value)

    def texts(self, value: Any) -> tuple[str, ...]:
        """Return the texts that give a value when they are typed; none if a command cannot give it."""
        return (self.text(value),)

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of a value."""
        return {"type": "string"}

    def _rejected(self, value: Any, where: str) -> DescriptionError:
        return DescriptionError(f"{where} is {brief(value)}; it must be {self.says}")


@final
@dataclass(frozen=True, slots=True)
class Number(OptionKind):
    """A number of a domain. A quantity stays the text that the user wrote, with its unit."""

    domain: NumberDomain

    @property
    def says(self) -> str:
        """The domain in words."""
        return str(self.domain)

    @property
    def metavar(self) -> str:
        """INTEGER, FLOAT or QUANTITY."""
        return "INTEGER" if self.domain.whole else "FLOAT" if self.domain.kind is None else "QUANTITY"

    def read(self, value: Any, where: str) -> Any:
        """Return the number, or the text of the quantity."""
        number = plain(value)
        if isinstance(number, str):
            refuse_remote(number)
        self.domain.read(number, where)
        return int(number) if self.domain.whole and not isinstance(number, str) else number

    def from_text(self, text: str) -> Any:
        """Return the number that the text states, or the text of the quantity."""
        if self.domain.kind is not None:
            return self.read(text, "it")
        try:
            number = int(text) if self.domain.whole else float(text)
        except ValueError:
            raise self._rejected(text, "it") from None
        return self.read(number, "it")

    def text(self, value: Any) -> str:
        """Return the number as it is typed, a whole number without a decimal point."""
        plainly_whole = self.domain.kind is None and isinstance(value, float) and value.is_integer()
        return str(int(value)) if plainly_whole else str(value)

    def schema(self) -> dict[str, Any]:
        """Return the limits in SI units, and the unit; text with a unit is accepted as well."""
        limits = {"minimum": self.domain.least, "maximum": self.domain.most}
        if self.domain.kind is None:
            return {"type": "integer" if self.domain.whole else "number", **limits}
        unit = next(name for name, size in self.domain.kind.units.items() if size == 1.0)
        return {"anyOf": [{"type": "number", **limits}, {"type": "string"}], "x-unit": unit}


@final
@dataclass(frozen=True, slots=True)
class Text(OptionKind):
    """Text. `lower` folds it to small letters, except the name of a YAML file."""

    lower: bool = False

    @property
    def says(self) -> str:
        """Text."""
        return "text"

    def read(self, value: Any, where: str) -> str:
        """Return the text."""
        text = plain(value)
        if isinstance(text, Path):
            text = str(text)
        if not isinstance(text, str):
            raise self._rejected(value, where)
        refuse_remote(text)
        return text.lower() if self.lower and not text.lower().endswith((".yaml", ".yml")) else text


@final
@dataclass(frozen=True, slots=True)
class Words(OptionKind):
    """One of several words; `members` gives the members of an enumeration that the words stand for."""

    words: tuple[str, ...]
    members: tuple[Enum, ...] = ()

    @classmethod
    def of(cls, enumeration: type[Enum]) -> "Words":
        """Return the kind for an enumeration, by the `word` of each member or else its value."""
        members = tuple(enumeration)
        return cls(tuple(str(getattr(member, "word", member.value)) for member in members), members)

    @property
    def says(self) -> str:
        """The words."""
        *first, last = [repr(word) for word in self.words]
        return f"{', '.join(first)} or {last}" if first else last

    @property
    def metavar(self) -> str:
        """The words, with bars between them."""
        return f"[{'|'.join(self.words)}]"

    def read(self, value: Any, where: str) -> Any:
        """Return the word, or the member that a word or number stands for."""
        word = plain(value)
        if isinstance(word, float) and word.is_integer():
            word = int(word)
        for name, member in zip(self.words, self.members, strict=False):
            if word is member or (type(word) in (str, int) and word in (name, member.value)):
                return member
        if type(word) is int and str(word) in self.words:
            word = str(word)
        if type(word) is str and word not in self.words:
            near = nearest_names(word, self.words)
            meant = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
            raise UnknownNameError(f"{self._rejected(value, where)}{meant}")
        if self.members or type(word) is not str:
            raise self._rejected(value, where)
        return word

    def text(self, value: Any) -> str:
        """Return the word."""
        return self.words[self.members.index(value)] if value in self.members else str(value)

    def schema(self) -> dict[str, Any]:
        """Return the words."""
        return {"enum": list(self.words)}


@final
@dataclass(frozen=True, slots=True)
class Switch(OptionKind):
    """True or false."""

    @property
    def says(self) -> str:
        """True or False."""
        return "True or False"

    def read(self, value: Any, where: str) -> bool:
        """Return the truth value; 0 and 1 are accepted, also as a column of numbers states them."""
        switch = plain(value)
        if not isinstance(switch, bool | int | float) or switch not in (0, 1):
            raise self._rejected(value, where)
        return bool(switch)

    def schema(self) -> dict[str, Any]:
        """Return a boolean."""
        return {"type": "boolean"}


@final
@dataclass(frozen=True, slots=True)
class InputFile(OptionKind):
    """A local file or folder to read. `exists` rejects one that is missing before anything is computed."""

    classes: tuple[str, ...] = ()
    """Names of the classes whose values are accepted in place of a path."""
    exists: bool = False

    @property
    def says(self) -> str:
        """A path."""
        return "a path"

    @property
    def metavar(self) -> str:
        """PATH."""
        return "PATH"

    def read(self, value: Any, where: str) -> Any:
        """Return the path, or the value."""
        if isinstance(value, str | Path):
            refuse_remote(value)
        elif not _is_one_of(value, self.classes):
            raise self._rejected(value, where)
        return value

    def from_text(self, text: str) -> Path:
        """Return the path."""
        refuse_remote(text)
        path = Path(text)
        if self.exists and not path.is_file():
            raise DescriptionError(f"file {text!r} does not exist")
        return path

    def texts(self, value: Any) -> tuple[str, ...]:
        """Return the path; for a catalogue, the folders that it adds to the catalogue of the package."""
        return (str(value),) if isinstance(value, str | Path) else tuple(getattr(value, "own_folders", ()))

    def schema(self) -> dict[str, Any]:
        """Return the path of a file on the machine that answers; other machines may not have it."""
        return {"type": "string", "x-local": "read"}


@final
@dataclass(frozen=True, slots=True)
class OutputFile(OptionKind):
    """A local file, or folder, to write. A place that cannot be written is rejected before anything is computed."""

    folder: bool = False
    new: bool = False
    """Checked only when it is written, because it must not exist yet."""
    endings: tuple[str, ...] = ()
    """Endings that the name may have; empty: any."""

    @property
    def says(self) -> str:
        """A path."""
        return "a path"

    @property
    def metavar(self) -> str:
        """FILE or FOLDER."""
        return "FOLDER" if self.folder else "FILE"

    def read(self, value: Any, where: str) -> Path:
        """Return the path."""
        if not isinstance(value, str | Path):
            raise self._rejected(value, where)
        refuse_remote(value)
        if self.endings and not Path(value).name.endswith(self.endings):
            raise DescriptionError(f"{where} is {brief(str(value))}; its name must end in {' or '.join(self.endings)}")
        return Path(value)

    def from_text(self, text: str) -> Path:
        """Return the path of a place that can be written."""
        path = self.read(text, "it")
        if self.new:
            return path
        if path.is_dir() and not self.folder:
            raise DescriptionError(f"{brief(text)} is a folder; name a file")
        if path.exists() and self.folder and not path.is_dir():
            raise DescriptionError(f"{brief(text)} is a file; name a folder")
        if path.exists() and not os.access(path, os.W_OK):
            raise DescriptionError(f"{brief(text)} is not writable")
        there = path if path.exists() else path.absolute().parent
        while self.folder and not there.exists() and there != there.parent:
            there = there.parent
        if not path.exists() and not (there.is_dir() and os.access(there, os.W_OK)):
            raise DescriptionError(f"{brief(text)} cannot be written: {str(there)!r} is no folder to write in")
        return path

    def schema(self) -> dict[str, Any]:
        """Return the path of a file on the machine that answers; other machines do not get it."""
        return {"type": "string", "x-local": "write"}


@final
@dataclass(frozen=True, slots=True)
class Fields(OptionKind):
    """A table of fields: ``FIELD=VALUE`` for each when typed. `reader` reads the typed texts as the table."""

    reader: Callable[[Sequence[str]], Mapping[Any, Any]]
    example: str
    between: str = "="

    @property
    def says(self) -> str:
        """A dictionary."""
        return "a dictionary"

    @property
    def metavar(self) -> str:
        """The form of one field."""
        return self.example

    def read(self, value: Any, where: str) -> Any:
        """Return the table; texts are read as its fields."""
        if isinstance(value, Mapping):
            return value or None
        texts = tuple(value) if isinstance(value, list | tuple) else ()
        if not texts or not all(isinstance(text, str) for text in texts):
            raise self._rejected(value, where)
        return self.reader(texts)

    def from_text(self, text: str) -> str:
        """Return the text; the texts of all fields are read together."""
        return text

    def schema(self) -> dict[str, Any]:
        """Return an object whose values are numbers or text."""
        return {"type": "object", "additionalProperties": {"anyOf": [{"type": "number"}, {"type": "string"}]}}


@final
@dataclass(frozen=True, slots=True)
class Table(OptionKind):
    """A table of values of a kind, by name; commands have none."""

    item: OptionKind

    @property
    def says(self) -> str:
        """A table of the items."""
        return f"a table, each value {self.item.says}"

    def read(self, value: Any, where: str) -> Mapping[str, Any]:
        """Return the table."""
        if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
            raise self._rejected(value, where)
        return {name: self.item.read(item, f"{where}.{name}") for name, item in value.items()}

    def schema(self) -> dict[str, Any]:
        """Return an object whose values are items."""
        return {"type": "object", "additionalProperties": self.item.schema()}


@final
@dataclass(frozen=True, slots=True)
class Listed(OptionKind):
    """Several values of a kind, with commas between them when typed."""

    item: OptionKind

    @property
    def says(self) -> str:
        """A list of the items."""
        return f"a list, each {self.item.says}"

    @property
    def metavar(self) -> str:
        """LIST."""
        return "LIST"

    def read(self, value: Any, where: str) -> tuple[Any, ...]:
        """Return the items."""
        if isinstance(value, str) and not isinstance(self.item, Number):
            return self.from_text(value)
        return tuple(self.item.read(item, where) for item in items(value))

    def from_text(self, text: str) -> tuple[Any, ...]:
        """Return the items that are typed."""
        words = [word.strip() for word in text.split(",")]
        if not all(words):
            raise DescriptionError(f"it is {text!r}; give values with commas between them, like 2,4")
        return tuple(self.item.from_text(word) for word in words)

    def text(self, value: Any) -> str:
        """Return the items with commas between them."""
        return ",".join(self.item.text(item) for item in value)

    def schema(self) -> dict[str, Any]:
        """Return a list."""
        return {"type": "array", "items": self.item.schema()}


@final
@dataclass(frozen=True, slots=True)
class Joined(OptionKind):
    """One number, or several with a sign between them when typed: ``64``, or ``8x64`` for ``(8, 64)``."""

    item: Number
    between: str = "x"

    @property
    def says(self) -> str:
        """The domain, and the sign."""
        return f"{self.item.says}, or several with {self.between!r} between them"

    def read(self, value: Any, where: str) -> Any:
        """Return the number, or a tuple of several."""
        value = plain(value)
        if isinstance(value, str):
            words = value.lower().replace("×", "x").replace(",", "").split(self.between)
            try:
                parts = tuple(self.item.from_text(word.strip()) for word in words)
            except VolvelleError:
                raise self._rejected(value, where) from None
            return parts[0] if len(parts) == 1 else parts
        several = tuple(items(value))
        if not several:
            raise self._rejected(value, where)
        read = tuple(self.item.read(part, where) for part in several)
        return read[0] if several[0] is value else read

    def text(self, value: Any) -> str:
        """Return the numbers with the sign between them."""
        return self.between.join(self.item.text(part) for part in items(value))

    def schema(self) -> dict[str, Any]:
        """Return a number, a list of numbers, or text."""
        item = self.item.schema()
        return {"anyOf": [item, {"type": "array", "items": item}, {"type": "string"}]}


@final
@dataclass(frozen=True, slots=True)
class Named(OptionKind):
    """A value of Python's, or text that names or states one. `what` are the types in words."""

    what: str
    classes: tuple[str, ...] = ()
    """Names of the classes whose values are accepted as they are."""
    lower: bool = False
    file: bool = False
    """Text may be the path of a local file."""
    domain: NumberDomain | None = None
    """A number of this domain is accepted, too."""

    @property
    def says(self) -> str:
        """The types in words."""
        return self.what

    def read(self, value: Any, where: str) -> Any:
        """Return the text or the value."""
        value = plain(value)
        if isinstance(value, str) or (self.file and isinstance(value, Path)):
            refuse_remote(value)
            return value.lower() if self.lower and isinstance(value, str) else value
        if self.domain is not None and isinstance(value, int | float):
            self.domain.read(value, where)
            return value
        if not _is_one_of(value, self.classes):
            raise self._rejected(value, where)
        return value

    def text(self, value: Any) -> str:
        """Return the text, or the name of a value."""
        return str(getattr(value, "name", value))

    def schema(self) -> dict[str, Any]:
        """Return text, or a number."""
        text = {"type": "string", "x-local": "read"} if self.file else {"type": "string"}
        return text if self.domain is None else {"anyOf": [text, Number(self.domain).schema()]}


@final
@dataclass(frozen=True, slots=True)
class Instance(OptionKind):
    """A value of Python's that has no text. `what` are the types in words."""

    what: str
    classes: tuple[str, ...]
    """Names of the classes; ``callable`` accepts functions."""

    @property
    def says(self) -> str:
        """The types in words."""
        return self.what

    def read(self, value: Any, where: str) -> Any:
        """Return the value."""
        if not _is_one_of(value, self.classes):
            raise self._rejected(value, where)
        return value


@final
@dataclass(frozen=True, slots=True)
class InWords(OptionKind):
    """Text, or a value of Python's that the text stands for. The option keeps the text.

    A value gives its text as ``words``, or else by ``str``.
    """

    what: str
    """The values in words."""
    classes: tuple[str, ...]
    """Names of the classes of the values, or of their bases."""
    several: bool = False
    """Several values are the items of one text, divided by commas."""

    @property
    def says(self) -> str:
        """Text or the values."""
        return f"text or {self.what}"

    def read(self, value: Any, where: str) -> str:
        """Return the text."""
        if isinstance(value, str):
            refuse_remote(value)
            return value
        values = items(value) if self.several else (value,)
        if not values or not all(_is_one_of(one, self.classes) for one in values):
            raise self._rejected(value, where)
        return ", ".join(getattr(one, "words", None) or str(one) for one in values)


def _is_one_of(value: Any, classes: Sequence[str]) -> bool:
    """Whether a value is of one of some classes, by their names; ``callable`` stands for all functions."""
    names = {base.__name__ for base in type(value).__mro__}
    names |= {name for name, holds in (("callable", callable(value)), ("Mapping", isinstance(value, Mapping))) if holds}
    return not names.isdisjoint(classes)


def items(value: Any) -> Sequence[Any]:
    """Return the items of a list, tuple, set, range, iterator or column; a single value is one item.

    The items of a set are sorted, so that answers do not depend on how Python keeps it.
    """
    if isinstance(value, str | bytes) or value is None:
        return (value,)
    if type(value).__module__ == "numpy" and getattr(value, "ndim", 0) == 1:
        return tuple(value.tolist())
    if isinstance(value, Set):
        try:
            return tuple(sorted(value))
        except TypeError:
            return tuple(sorted(value, key=repr))
    if isinstance(value, Sequence | Iterator):
        return tuple(value)
    return (value,)
