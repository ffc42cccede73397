"""Questions: a command asks one, its fields are declared once, and every surface is made from the declaration.

A question is a frozen dataclass. Its fields are options: each carries its kind with domain and unit, its flag, help,
group and default. From a question class follow the command line with its help, the Python function, the JSON Schema,
keys of studies, the typed command that asks the same again, and the reference page.
"""

from collections.abc import Collection, Iterator, Mapping
from copy import copy
from dataclasses import KW_ONLY, MISSING, dataclass, field, fields, replace
from functools import cache, wraps
from shlex import join
from typing import Any, ClassVar, Self, TypeVar, dataclass_transform

from volvelle.base.option_kinds import Fields, InputFile, Number, OptionKind, OutputFile, Switch, Text, items
from volvelle.errors import DescriptionError, UnknownNameError, removed

Asked = TypeVar("Asked", bound="Question")
_KEY = "option"
REQUIRED: Any = object()
"""The default of an option that every question must state."""
GROUPS = (
    "Work",
    "Requests",
    "Machine",
    "Software",
    "Layout",
    "Engine",
    "Pools",
    "Fine-tuning",
    "Search",
    "Limits",
    "Failures",
    "Money and energy",
    "Method",
    "Files",
    "Output",
)
"""Groups of options, in the order in which help lists them."""


@dataclass(frozen=True, slots=True)
class Option:
    """A field of a question, as every surface needs to know it.

    `flag` is the option of the command, like ``--tp``; without hyphens it is an argument, like ``MODEL``; empty, the
    option exists in Python alone. `help` is a sentence that makes sense when it is listed alone.
    """

    flag: str
    help: str
    _: KW_ONLY
    kind: OptionKind = Text()  # noqa: RUF009 - frozen
    group: str = "Work"
    usually: str = ""
    """The default in words, where the field's default is None or empty."""
    also: tuple[str, ...] = ()
    """Other names that Python accepts, in addition to the name of the flag."""
    values: int = 1
    """Values that the option takes at once, like two in ``--step-range LOW HIGH``; the field is then a tuple."""
    several: bool = False
    """The option may be given several times; the field is a tuple."""
    metavar: str = ""
    opposite: bool | str = False
    """A switch has a flag that turns it off, too: ``--no-overlap``, or the flag that is stated."""
    listed: str = ""
    """The word that stands for this switch in the list that `flag` gives, like ``weights`` in ``--offload``."""
    alone: Any = None
    """The value of the flag where it is given without a value, like ``--ray``."""
    word_flags: bool = False
    """Each word is a flag of its own, like ``--strong`` and ``--weak``; `flag` is the first of them."""
    configured: str = ""
    """The key by which a configuration file may set the default, like ``stack`` or ``prices.energy``."""
    name: str = ""
    default: Any = REQUIRED

    @property
    def required(self) -> bool:
        """Whether a question needs it."""
        return self.default is REQUIRED

    @property
    def is_argument(self) -> bool:
        """Whether the command takes it as an argument, without a flag."""
        return bool(self.flag) and not self.flag.startswith("-")

    @property
    def in_command(self) -> bool:
        """Whether the command has it."""
        return bool(self.flag)

    @property
    def opposite_flag(self) -> str:
        """The flag that turns a switch off, like ``--no-overlap``."""
        return self.opposite if isinstance(self.opposite, str) else f"--no-{self.flag.removeprefix('--')}"

    @property
    def words(self) -> tuple[str, ...]:
        """Every name that Python accepts: the field, the flag's name and others."""
        named = self.flag.startswith("--") and not self.listed and not self.word_flags
        flag = self.flag.lstrip("-").replace("-", "_") if named else ""
        return tuple(dict.fromkeys(word for word in (self.name, flag, *self.also) if word))

    @property
    def writes(self) -> bool:
        """Whether it names a file to write."""
        return isinstance(self.kind, OutputFile)

    @property
    def reads_file(self) -> bool:
        """Whether it names a local file to read."""
        return isinstance(self.kind, InputFile)

    @property
    def holds_tuple(self) -> bool:
        """Whether the field is a tuple of values."""
        return self.values > 1 or (self.several and not isinstance(self.kind, Fields))

    def read(self, value: Any) -> Any:
        """Return a value as the field keeps it, or reject it by the name of the field."""
        if value is None and not self.required and (self.default is None or self.several):
            return () if self.several and self.default == () else None
        if self.holds_tuple:
            return tuple(self.kind.read(item, self.name) for item in items(value))
        return self.kind.read(value, self.name)

    def typed(self, value: Any) -> list[str]:
        """Return the words of a command that give the value; none where the command has no such option."""
        if not self.in_command or value is None:
            return []
        if self.is_argument:
            return [self.kind.text(item) for item in (value if self.several else (value,))]
        if self.word_flags:
            return [f"--{self.kind.text(value)}"]
        if self.values > 1:
            return [self.flag, *(self.kind.text(item) for item in value)]
        if isinstance(self.kind, Switch):
            if self.listed:
                return [self.flag, self.listed] if value else []
            if self.several:  # both values of a switch are what a search does anyway
                return [] if len(value) != 1 else [self.flag if value[0] else self.opposite_flag]
            return [self.flag] if value else [self.opposite_flag]
        if self.alone is not None and value == self.alone:
            return [self.flag]
        if isinstance(self.kind, Fields):
            return [word for name, item in value.items() for word in (self.flag, f"{name}{self.kind.between}{item}")]
        texts = [text for item in (value if self.several else (value,)) for text in self.kind.texts(item)]
        return [word for text in texts for word in (self.flag, text)]

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the field: kind, limits, unit, default and help."""
        schema = self.kind.schema()
        if self.holds_tuple:
            schema = {"type": "array", "items": schema}
        if self.default is None:
            schema = {"anyOf": [schema, {"type": "null"}]}
        default = {} if self.required else {"default": _plain_json(self.default, self.kind)}
        return {"description": self.help, **schema, **default, "x-group": self.group, "x-flag": self.flag}


def _plain_json(value: Any, kind: OptionKind) -> Any:
    if isinstance(value, tuple):
        return [_plain_json(item, kind) for item in value]
    if value is None or isinstance(value, bool | int | float):
        return value if not hasattr(value, "word") else kind.text(value)
    return kind.text(value)


def option(declared: Option, *, default: Any = REQUIRED, kw_only: bool = True, **changes: Any) -> Any:
    """Return a field of a question that is the declared option.

    `default` is the value of a question that does not state it; without one the option is required. `changes` replace
    parts of the declaration in this question, such as its help.
    """
    return as_field(replace(declared, default=default, **changes), kw_only=kw_only)


def as_field(stated: Option, *, kw_only: bool = True) -> Any:
    """Return the field of a dataclass that is an option, with the default that the option states."""
    default = MISSING if stated.required else stated.default
    return field(default=default, kw_only=kw_only, metadata={_KEY: stated})


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(option, field))
class Question:
    """What a command asks. A subclass declares its fields with `option`, and becomes a frozen dataclass by itself."""

    subcommand: ClassVar[str] = ""
    """The name of the command, like ``scale``."""
    summary: ClassVar[str] = ""
    """The command in one line."""
    examples: ClassVar[tuple[str, ...]] = ()
    """Arguments of commands that ask such a question, for its help."""
    any_size: ClassVar[bool] = False
    """The machine is a kind of machine, without a GPU count."""

    def __init_subclass__(cls, **extra: Any) -> None:
        super().__init_subclass__(**extra)
        dataclass(frozen=True, kw_only=True, repr=False)(cls)
        made: Any = cls.__init__

        @wraps(made)
        def with_any_names(self: Any, *positional: Any, **given: Any) -> None:
            made(self, *positional, **cls.named(given))

        cls.__init__ = with_any_names  # type: ignore[method-assign]

    def __post_init__(self) -> None:
        for part in type(self).options():
            value = getattr(self, part.name)
            read = part.read(value)
            if read is not value:
                object.__setattr__(self, part.name, read)

    def __repr__(self) -> str:
        words = (
            f"{part.name}={getattr(self, part.name)!r}"
            for part in type(self).options()
            if part.required or getattr(self, part.name) != part.default
        )
        return f"{type(self).__name__}({', '.join(words)})"

    @classmethod
    @cache
    def options(cls) -> tuple[Option, ...]:
        """Return the options by group, those that are required first, then in the order of their declaration."""
        declared = [replace(part.metadata[_KEY], name=part.name) for part in fields(cls) if _KEY in part.metadata]  # type: ignore[arg-type]
        return tuple(sorted(declared, key=lambda part: (GROUPS.index(part.group), not part.required)))

    @classmethod
    @cache
    def option_named(cls, word: str) -> Option:
        """Return the option that a name of the field, or another name that Python accepts, stands for."""
        for part in cls.options():
            if word == part.name:
                return part
        for part in cls.options():
            if word in part.words:
                return part
        if gone := removed(cls.subcommand, f"--{word.replace('_', '-')}"):
            raise DescriptionError(gone)
        known = [part.name for part in cls.options()]
        raise UnknownNameError.among(f"argument of {cls.subcommand}", word, known)

    @classmethod
    def named(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return arguments by the names of their fields; an argument that is given twice is rejected."""
        arguments: dict[str, Any] = {}
        for word, value in given.items():
            name = cls.option_named(word).name
            if name in arguments:
                raise DescriptionError(f"{name} is given twice, as {word} too; give it once")
            arguments[name] = value
        return arguments

    def si(self, name: str) -> float | None:
        """Return a number that is stated, possibly as text with a unit, in SI units; None if it is not stated."""
        part, value = type(self).option_named(name), getattr(self, name)
        assert isinstance(part.kind, Number), f"{name} is no number"
        return None if value is None else part.kind.domain.read(value, name)

    def changed(self, **changes: Any) -> Self:
        """Return the question with other values."""
        other = copy(self)
        for word, value in changes.items():
            part = type(self).option_named(word)
            object.__setattr__(other, part.name, part.read(value))
        return other

    def as_question(self, other: type[Asked], **stated: Any) -> Asked:
        """Return another question with the fields that both have, and those that are stated.

        A field that is None here keeps its default there.
        """
        own = {part.name: getattr(self, part.name) for part in type(self).options()}
        common = [part for part in other.options() if part.name in own]
        kept = {part.name: own[part.name] for part in common if part.required or own[part.name] is not None}
        return other(**kept | stated)

    def given(self) -> Iterator[tuple[Option, Any]]:
        """Yield the options that differ from their defaults, with their values."""
        for part in type(self).options():
            value = getattr(self, part.name)
            if part.required or _differs(value, part.default):
                yield part, value

    def typed(self, *, without: Collection[str] = ()) -> list[str]:
        """Return the words of the command that asks this question: arguments first, then options off their default.

        Fields of the names in `without` are left out.
        """
        stated = [(part, value) for part, value in self.given() if part.name not in without]
        given = sorted(stated, key=lambda pair: not pair[0].is_argument)
        return [
            "volvelle",
            *type(self).subcommand.split(),
            *(word for part, value in given for word in part.typed(value)),
        ]

    @property
    def command(self) -> str:
        """The command that asks this question, as it is typed."""
        return join(self.typed())

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """Return the JSON Schema of a question."""
        parts = [part for part in cls.options() if part.in_command]
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": cls.subcommand,
            "description": " ".join((cls.__doc__ or "").split()),
            "type": "object",
            "properties": {part.name: part.schema() for part in parts},
            "required": [part.name for part in parts if part.required],
            "additionalProperties": False,
        }


def _differs(value: Any, default: Any) -> bool:
    return value is not default and not (type(value) is type(default) and bool(value == default))
