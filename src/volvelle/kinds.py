"""Kinds: what a field or an argument may hold, by its annotation; domains say which numbers of a kind there are.

A value of the kind is taken as it is. One that plainly means such a value is read as that: the word or the number of a
member of an enumeration, 0 and 1 of a switch, a number of NumPy's or a fraction, a list, a set or an iterator for a
tuple. Anything else is refused where it is given, so that nothing is taken for what it is not: ``True`` for a member,
``"no"`` for a switch that is on.
"""

import sys
from collections.abc import Callable, Iterator, KeysView, Mapping, Sequence, Set, ValuesView
from dataclasses import Field, fields
from decimal import Decimal
from enum import Enum
from functools import cache
from inspect import isclass
from io import IOBase
from numbers import Real
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import numpy as np

NOT_OF_IT: Any = object()
"""What reading gives of a value that is of another kind."""


class Kind(NamedTuple):
    """What may be held: in words, and how a value is read as that."""

    says: str
    read: Callable[[Any], Any]
    taken: frozenset[type] = frozenset()
    """Classes whose values are of the kind as they are, without a further look."""
    several: bool = False
    """Whether it holds several values, which an iterator may give."""


@cache
def kind_of(hint: Any) -> Kind | None:
    """The kind that an annotation stands for; None: it may be anything."""
    origin = get_origin(hint)
    if origin is Annotated:
        return kind_of(get_args(hint)[0])
    if origin in (Union, UnionType):
        return _any_of([kind_of(part) for part in get_args(hint)])
    if origin is Literal:
        return _one_of(get_args(hint))
    if origin is tuple:
        return _tuple(get_args(hint))
    if hint in _PLAIN:
        return _PLAIN[hint]
    if not isclass(origin or hint) or getattr(hint, "_is_protocol", False) or hint in (Any, object):
        return None
    if origin is not None:
        return _holding(origin, get_args(hint))
    return _member(hint) if issubclass(hint, Enum) else _instance(hint)


def field_hints(declared: Any) -> Mapping[str, Any]:
    """What fields of a dataclass are annotated with; Any, where type checkers or a function alone know the name."""
    try:
        return get_type_hints(declared)
    except _UNRESOLVED:
        return {part.name: _field_hint(declared, part) for part in fields(declared)}


_UNRESOLVED = (NameError, AttributeError, TypeError, SyntaxError)
"""What an annotation raises that is there for type checkers alone."""


def _field_hint(declared: type, part: Field[Any]) -> Any:
    """The annotation of one field, in the names of the module that its class is from."""
    owner = [one for one in declared.__mro__ if vars(one).get("__dataclass_fields__", {}).get(part.name) is part][-1]
    alone = type(owner.__name__, (), {"__annotations__": {part.name: part.type}})
    try:
        return get_type_hints(alone, dict(vars(owner)), vars(sys.modules[owner.__module__]))[part.name]
    except (*_UNRESOLVED, KeyError):  # a module that is not kept
        return Any


def word_of(member: Enum) -> str:
    """What people call a member of an enumeration."""
    named = getattr(member, "word", member.value)
    return named if isinstance(named, str) else member.name.lower()


def listed(words: Sequence[str]) -> str:
    """Words as a sentence has them."""
    *first, last = words
    return f"{', '.join(first)} or {last}" if first else last


# -- plain values ----------------------------------------------------------------------------------------------------


def _plain(value: Any) -> Any:
    """A number, word or switch of NumPy's as Python's."""
    return value.item() if isinstance(value, np.generic) or (type(value) is np.ndarray and not value.ndim) else value


def _switch(value: Any) -> Any:
    value = _plain(value)
    return bool(value) if isinstance(value, bool | int) and value in (0, 1) else NOT_OF_IT


def _whole(value: Any) -> Any:
    value = _plain(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else NOT_OF_IT


def _number(value: Any) -> Any:
    value = _plain(value)
    if not isinstance(value, int | float) and isinstance(value, Real | Decimal):
        try:
            value = float(value)
        except (OverflowError, ValueError):  # beyond any float, or a signalling NaN
            return NOT_OF_IT
    is_one = isinstance(value, int | float) and not isinstance(value, bool) and value == value  # noqa: PLR0124 - NaN
    return value if is_one else NOT_OF_IT


def _column(value: Any) -> Any:
    """A column, or a number that stands for all of it."""
    if isinstance(value, np.ndarray) and value.ndim:
        return value if value.dtype.kind in "biuf" else NOT_OF_IT
    return _number(value)


def _text(value: Any) -> Any:
    value = _plain(value)
    return value if isinstance(value, str) else NOT_OF_IT


def _nothing(value: Any) -> Any:
    return None if value is None else NOT_OF_IT


_PLAIN = {
    bool: Kind("True or False", _switch, frozenset({bool})),
    int: Kind("a whole number", _whole, frozenset({int})),
    float: Kind("a number", _number, frozenset({int})),
    str: Kind("text", _text, frozenset({str})),
    NoneType: Kind("None", _nothing, frozenset({NoneType})),
}


def _one_of(values: tuple[Any, ...]) -> Kind:
    known = {(type(value), value): value for value in values}

    def read(value: Any) -> Any:
        value = _plain(value)
        return known.get((type(value), value), NOT_OF_IT) if isinstance(value, str | int) else NOT_OF_IT

    return Kind(listed([repr(value) for value in values]), read)


def _member(enumeration: type[Enum]) -> Kind:
    known: dict[Any, Enum] = {}
    for member in enumeration:
        known |= {(str, word_of(member)): member, (type(member.value), member.value): member}

    def read(value: Any) -> Any:
        if isinstance(value, enumeration):
            return value
        value = _whole(value) if isinstance(value, float | np.floating) else _plain(value)
        if isinstance(value, Enum) or not isinstance(value, str | int):
            return NOT_OF_IT
        return known.get((type(value), value), NOT_OF_IT)

    return Kind(listed([repr(word_of(member)) for member in enumeration]), read, frozenset({enumeration}))


def _instance(declared: type) -> Kind:
    def read(value: Any) -> Any:
        return value if isinstance(value, declared) else NOT_OF_IT

    name = "path" if declared is Path else declared.__name__.removeprefix("Abstract")
    return Kind(f"{'an' if name[0] in 'AEIOaeio' else 'a'} {name}", read, frozenset({declared}))


# -- several ---------------------------------------------------------------------------------------------------------


def _any_of(kinds: Sequence[Kind | None]) -> Kind | None:
    """The first of several kinds that a value is of as it is, or else that it can be read as."""
    known = [kind for kind in kinds if kind is not None]
    if len(known) < len(kinds):
        return None

    def read(value: Any) -> Any:
        found = NOT_OF_IT
        if isinstance(value, Iterator):  # it can be gone through once, and more than one kind may look
            if any(kind.read(value) is value for kind in known if not kind.several):
                return value
            value = _sequence(value)
        for kind in known:
            as_read = kind.read(value)
            if as_read is value:
                return value
            found = as_read if found is NOT_OF_IT else found
        return found

    shown = dict.fromkeys(kind.says for kind in known)
    shown.pop(_COLUMN.says if _PLAIN[float].says in shown else "", None)
    taken = frozenset[type]().union(*(kind.taken for kind in known))
    return Kind(listed(list(shown)), read, taken, several=any(kind.several for kind in known))


_COLUMN = Kind("a column of numbers", _column)


def _each(values: Sequence[Any], kinds: Sequence[Kind | None]) -> Any:
    """Every value read by its kind; the same, where all stay as they are."""
    other = False
    found = []
    for value, kind in zip(values, kinds, strict=True):
        read = value if kind is None or value.__class__ in kind.taken else kind.read(value)
        if read is NOT_OF_IT:
            return NOT_OF_IT
        other = other or read is not value
        found.append(read)
    return (tuple(found) if isinstance(values, tuple) else found) if other else values


def _sequence(value: Any) -> Any:
    """Several values as a list or tuple of them; text and a file are one value.

    Of a set they are in order, so that answers do not depend on how it is kept.
    """
    if isinstance(value, list | tuple):
        return value
    if isinstance(value, np.ndarray):
        return tuple(value.tolist()) if value.ndim == 1 else NOT_OF_IT
    if isinstance(value, Set) and not isinstance(value, KeysView):
        try:
            return tuple(sorted(value))
        except TypeError:
            return tuple(sorted(value, key=repr))
    one = isinstance(value, str | bytes | bytearray | memoryview | IOBase)
    return NOT_OF_IT if one or not isinstance(value, Sequence | Iterator | KeysView | ValuesView) else tuple(value)


def _tuple(parts: tuple[Any, ...]) -> Kind:
    of_any_length = len(parts) == 2 and parts[1] is Ellipsis
    kinds = [kind_of(part) for part in parts if part is not Ellipsis]

    def read(value: Any) -> Any:
        several = _sequence(value)
        if several is NOT_OF_IT or not (of_any_length or len(several) == len(kinds)):
            return NOT_OF_IT
        several = several if isinstance(several, tuple) else tuple(several)
        return _each(several, kinds * len(several) if of_any_length else kinds)

    if of_any_length:
        return Kind(f"a tuple, each {kinds[0].says}" if kinds[0] else "a tuple", read, several=True)
    says = f"a tuple of {' and '.join(kind.says if kind else 'anything' for kind in kinds)}"
    return Kind(says, read, several=True)


def _holding(origin: Any, parts: tuple[Any, ...]) -> Kind:
    """A table, several values, or whatever else holds some."""
    if issubclass(origin, np.ndarray):
        return _COLUMN
    if issubclass(origin, Mapping):
        return _table(*parts)
    if issubclass(origin, Sequence):
        return _several(kind_of(parts[0]))
    if origin is Callable:
        return Kind("a function", lambda value: value if callable(value) else NOT_OF_IT)
    return _instance(origin)


def _table(key: Any, part: Any) -> Kind:
    of_keys, of_parts = kind_of(key), kind_of(part)

    def read(value: Any) -> Any:
        if not isinstance(value, Mapping):
            return NOT_OF_IT
        held = tuple(value), tuple(value.values())
        keys, parts = (_each(some, [kind] * len(value)) for some, kind in zip(held, (of_keys, of_parts), strict=True))
        if keys is NOT_OF_IT or parts is NOT_OF_IT:
            return NOT_OF_IT
        return value if keys is held[0] and parts is held[1] else dict(zip(keys, parts, strict=True))

    of_what = f", each {of_parts.says}" if of_parts else ""
    return Kind(f"a dictionary{of_what}", read)


def _several(kind: Kind | None) -> Kind:
    def read(value: Any) -> Any:
        several = _sequence(value)
        return NOT_OF_IT if several is NOT_OF_IT else _each(several, [kind] * len(several))

    return Kind(f"a list, each {kind.says}" if kind else "a list", read, several=True)
