"""Options of a parallel layout, made from the declarations of its fields in `mapping`."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Any, TypeVar

from volvelle.base.option_kinds import Instance, Number, OptionKind, Switch, Words
from volvelle.base.question import Option, as_field
from volvelle.mapping.axes import DATA
from volvelle.mapping.choices import Choice
from volvelle.mapping.parallelism import CHOICES, Choices, Graphs, Recompute, Schedule

Layout = TypeVar("Layout")
MAPPING = Option(
    "",
    "Layout as one value, in place of its fields.",
    kind=Instance("a ParallelMapping", ("ParallelMapping",)),
    group="Layout",
)
SHARDING = Option(
    "",
    "How operations are split over the tensor-parallel GPUs.",
    kind=Instance("a TensorSharding", ("TensorSharding",)),
    group="Layout",
    default=None,
)


def layout_option(choice: Choice) -> Option:
    """Return the option of a field of a layout."""
    if choice.listed:
        text = f"Keep {choice.listed_word} in host memory. May be given several times."
        return Option(f"--{choice.listed}", text, kind=Switch(), group="Layout", listed=choice.listed_word)
    return Option(choice.flag, choice.says, kind=_kind(choice), group="Layout", opposite=choice.kind is bool)


def _kind(choice: Choice) -> OptionKind:
    if choice.kind is bool:
        return Switch()
    return Words.of(choice.kind) if issubclass(choice.kind, IntEnum) else Number(choice.domain)


LAYOUT: dict[str, Option] = {choice.name: layout_option(choice) for choice in CHOICES}
"""Field of a layout → its option."""


def _with_options(stated: Callable[[Choice, Option], Option]) -> Callable[[type[Layout]], type[Layout]]:
    """Make every field of a layout an option of the class, as a function states it."""

    def declared(layout: type[Layout]) -> type[Layout]:
        for choice in CHOICES:
            layout.__annotations__[choice.name] = Any
            setattr(layout, choice.name, as_field(stated(choice, LAYOUT[choice.name])))
        layout.__annotations__["sharding"] = Any
        layout.sharding = as_field(SHARDING)  # type: ignore[attr-defined]
        return layout

    return declared


def _one(choice: Choice, part: Option) -> Option:
    if choice.name == DATA.name:
        return replace(part, default=None, usually="the GPUs that are left")
    return replace(part, default=choice.default, opposite=part.opposite and choice.default)


@dataclass(frozen=True, kw_only=True)
@_with_options(_one)
class OneLayout(Choices[int, bool, bool, Schedule | str, Recompute | str, Graphs | str]):
    """One layout. Without `data`, replicas take the GPUs that are left."""

    if TYPE_CHECKING:  # the names of the command, which are turned into names of fields before a question is made
        tp: int = 1
        pp: int = 1
        dp: int = 1
        cp: int = 1
        ep: int = 1

    @property
    def layout(self) -> dict[str, Any]:
        """Fields with their values; without `data` and `sharding` where they are not stated."""
        return {name: value for name, value in _values(self).items() if value is not None}

    @property
    def stated_fields(self) -> tuple[str, ...]:
        """Names of the fields that are off their defaults."""
        return tuple(name for name, value in _values(self).items() if value is not None and value != UNSTATED[name])


def _unstated(choice: Choice, part: Option) -> Option:
    return replace(part, default=None)


@dataclass(frozen=True, kw_only=True)
@_with_options(_unstated)
class StatedLayout(Choices[int | None, bool | None, bool | None, Schedule | str, Recompute | str, Graphs | str]):
    """The fields of a layout that are stated, and no others."""

    if TYPE_CHECKING:  # the names of the command, which are turned into names of fields before a question is made
        tp: int | None = None
        pp: int | None = None
        dp: int | None = None
        cp: int | None = None
        ep: int | None = None

    @property
    def layout(self) -> dict[str, Any]:
        """Fields that are stated, with their values."""
        return {name: value for name, value in _values(self).items() if value is not None}


def _several(choice: Choice, part: Option) -> Option:
    values = choice.searched
    usual = ", ".join(str(getattr(value, "word", value)) for value in values) or "all that divide"
    if choice.kind is bool:
        usual = "both" if len(values) > 1 else ("with" if values[0] else "without")
    text = f"{part.help} Several may be given." if choice.kind is not bool else f"With or without only: {part.help}"
    flag = "" if choice.listed else part.flag
    return replace(part, flag=flag, listed="", default=(), several=True, help=text, usually=choice.usually or usual)


@dataclass(frozen=True, kw_only=True)
@_with_options(_several)
class ConsideredLayouts(
    Choices[
        int | tuple[int, ...],
        bool | tuple[bool, ...],
        bool | tuple[bool, ...],
        Schedule | str | tuple[Schedule | str, ...],
        Recompute | str | tuple[Recompute | str, ...],
        Graphs | str | tuple[Graphs | str, ...],
    ]
):
    """Of every field of a layout the values to consider; the usual ones where none are stated."""

    if TYPE_CHECKING:  # the names of the command, which are turned into names of fields before a question is made
        tp: int | tuple[int, ...] = ()
        pp: int | tuple[int, ...] = ()
        dp: int | tuple[int, ...] = ()
        cp: int | tuple[int, ...] = ()
        ep: int | tuple[int, ...] = ()

    @property
    def considered(self) -> dict[str, Any]:
        """Fields that are restricted, with the values to consider."""
        return {name: values for name, values in _values(self).items() if values not in ((), None)}


UNSTATED: dict[str, Any] = {choice.name: choice.default for choice in CHOICES} | {DATA.name: None, "sharding": None}
"""Field of a layout → its value in a question that states none."""


def _values(layout: Any) -> dict[str, Any]:
    return {name: getattr(layout, name) for name in UNSTATED}
