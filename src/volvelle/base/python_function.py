"""Python functions of questions: the signature, the documentation and errors in the words of Python."""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import update_wrapper, wraps
from textwrap import fill
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast, overload

from volvelle.base.option_kinds import (
    InputFile,
    Instance,
    InWords,
    Joined,
    Listed,
    Named,
    Number,
    OptionKind,
    OutputFile,
    Switch,
    Words,
)
from volvelle.base.question import Option, Question
from volvelle.errors import VolvelleError

Arguments = ParamSpec("Arguments")
Asked = TypeVar("Asked")
Answer = TypeVar("Answer")
Others = ParamSpec("Others")
One = TypeVar("One", covariant=True)  # noqa: PLC0105
Other = TypeVar("Other", covariant=True)  # noqa: PLC0105
_surface: ContextVar[str] = ContextVar("surface", default="")
"""The surface on which the user asks: empty, ``command`` or ``python``."""


@contextmanager
def asked_on(surface: str) -> Iterator[None]:
    """Name the surface on which the user asks, until it is left; errors are written in its words."""
    token = _surface.set(surface)
    try:
        yield
    finally:
        _surface.reset(token)


def asks(question: Callable[Arguments, Asked]) -> Callable[[Callable[[Asked], Answer]], Callable[Arguments, Answer]]:
    """Make a function of keyword arguments from a function that answers a question.

    The arguments are the fields of the question; the names of the command, like ``tp`` for ``tensor``, work as well.
    The question class is the attribute ``question`` of the function, the answering function ``__wrapped__``.
    """
    asked = cast("type[Question]", question)

    def decorated(answer: Callable[[Asked], Answer]) -> Callable[Arguments, Answer]:
        @wraps(answer)
        def function(*args: Arguments.args, **given: Arguments.kwargs) -> Answer:
            with _in_words_of(asked):
                return answer(question(*args, **given))

        made: Any = function
        made.question = asked
        made.__signature__ = signature_of(asked, answer)
        made.__doc__ = documentation(asked, answer)
        return function

    return decorated


class Either(Protocol[Arguments, One, Others, Other]):
    """A function whose answer has one of two types, by its arguments."""

    @overload
    def __call__(self, *args: Arguments.args, **given: Arguments.kwargs) -> One: ...
    @overload
    def __call__(self, *args: Others.args, **given: Others.kwargs) -> Other: ...


def asks_either(
    first: Callable[Arguments, Asked], one: type[One], second: Callable[Others, Asked], other: type[Other]
) -> Callable[[Callable[[Asked], One | Other]], Either[Arguments, One, Others, Other]]:
    """Make a function like `asks`, whose answer is `one` type for the first question, the `other` for the second."""

    def decorated(answer: Callable[[Asked], One | Other]) -> Either[Arguments, One, Others, Other]:
        return cast("Either[Arguments, One, Others, Other]", asks(first)(answer))

    return decorated


Item = TypeVar("Item")
Item_contra = TypeVar("Item_contra", contravariant=True)
Answer_co = TypeVar("Answer_co", covariant=True)


class OfSeveral(Protocol[Item_contra, Arguments, Answer_co]):
    """A function of two or more values by position; a type checker accepts eight, or any number as ``*values``."""

    def __call__(
        self,
        a: Item_contra,
        b: Item_contra,
        c: Item_contra = ...,
        d: Item_contra = ...,
        e: Item_contra = ...,
        f: Item_contra = ...,
        g: Item_contra = ...,
        h: Item_contra = ...,
        /,
        *args: Arguments.args,
        **given: Arguments.kwargs,
    ) -> Answer_co:
        """Return the answer."""


def of_several(
    function: Callable[Concatenate[tuple[Item, ...], Arguments], Answer],
) -> OfSeveral[Item, Arguments, Answer]:
    """Make a function that takes the values of its first argument one by one from a function that takes a tuple."""

    def spread(*several: Any, **given: Any) -> Answer:
        return cast("Callable[..., Answer]", function)(several, **given)

    made: Any = update_wrapper(spread, function)
    made.__wrapped__ = cast("Any", function).__wrapped__
    first, *others = made.__signature__.parameters.values()
    made.__signature__ = made.__signature__.replace(
        parameters=[first.replace(kind=inspect.Parameter.VAR_POSITIONAL), *others]
    )
    return cast("OfSeveral[Item, Arguments, Answer]", made)


@contextmanager
def _in_words_of(question: type[Question]) -> Iterator[None]:
    """Write errors in the words of Python, unless another surface asks."""
    if _surface.get():
        yield
        return
    try:
        with asked_on("python"):
            yield
    except VolvelleError as error:
        error.args = (in_python_words(str(error), question), *error.args[1:])
        raise


def answered(question: type[Asked], answer: Callable[[Asked], Answer], given: Mapping[str, Any]) -> Answer:
    """Answer a question made from Python arguments, where the arguments decide which class of question it is."""
    with _in_words_of(cast("type[Question]", question)):
        return answer(question(**given))


def ask(function: Callable[..., Answer], question: Question) -> Answer:
    """Answer a question that is made already, by the function that answers such questions."""
    answer: Answer = cast("Any", function).__wrapped__(question)
    return answer


def signature_of(question: type[Question], answer: Callable[..., Any]) -> inspect.Signature:
    """Return the signature that Python shows: the required fields first, then the others by group."""
    types = {name: part.type for name, part in question.__dataclass_fields__.items()}  # type: ignore[attr-defined]
    keyword_only = {name: part.kw_only for name, part in question.__dataclass_fields__.items()}  # type: ignore[attr-defined]
    parameters = [
        inspect.Parameter(
            part.name,
            inspect.Parameter.KEYWORD_ONLY if keyword_only[part.name] else inspect.Parameter.POSITIONAL_OR_KEYWORD,
            default=inspect.Parameter.empty if part.required else _Shown(_default(part)),
            annotation=_Shown(_type(part, types[part.name])),
        )
        for part in question.options()
    ]
    parameters.sort(key=lambda each: (each.kind, each.default is not inspect.Parameter.empty))
    returned = answer.__annotations__.get("return", inspect.Signature.empty)
    return inspect.Signature(parameters, return_annotation=_Shown(getattr(returned, "__name__", str(returned))))


def documentation(question: type[Question], answer: Callable[..., Any]) -> str:
    """Return the docstring of the function: what it returns, then every parameter with its unit, by group."""
    parts = [inspect.cleandoc(answer.__doc__ or question.__doc__ or ""), "Parameters\n----------"]
    group = ""
    for part in question.options():
        if part.group != group:
            group = part.group
            parts.append(f"\n*{group}*\n")
        names = " or ".join(part.words)
        default = "" if part.required else f", default {_default(part)}"
        unit = f", {part.kind.says}" if isinstance(part.kind, Number) else ""
        text = fill(part.help, 100, initial_indent="    ", subsequent_indent="    ")
        parts.append(f"{names} : {_type(part, '')}{unit}{default}\n{text}")
    return "\n\n".join(parts[:2]) + "\n".join(parts[2:]) + "\n"


class _Shown(str):
    """Text that a signature shows without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _default(part: Option) -> str:
    if isinstance(part.default, bool | int | float | tuple) and not hasattr(part.default, "word"):
        return repr(part.default)
    return "None" if part.default is None else repr(part.kind.text(part.default))


def _type(part: Option, declared: Any) -> str:
    """Return the type of an option as its class declares it, or as its kind has it."""
    if isinstance(declared, str) and declared:
        return declared
    item = _item_type(part.kind)
    several = f"{item} | Sequence[{item}]" if part.several else item
    return f"{several} | None" if part.default is None else several


def _item_type(kind: OptionKind) -> str:
    if isinstance(kind, Number):
        return "int" if kind.domain.whole else "float" if kind.domain.kind is None else "str | float"
    if isinstance(kind, Switch):
        return "bool"
    if isinstance(kind, Words):
        return f"Literal[{', '.join(map(repr, kind.words))}]"
    if isinstance(kind, Listed):
        return f"Sequence[{_item_type(kind.item)}]"
    if isinstance(kind, Joined):
        return f"{_item_type(kind.item)} | Sequence[{_item_type(kind.item)}] | str"
    if isinstance(kind, Instance):
        return " | ".join("Callable" if name == "callable" else name for name in kind.classes)
    path = isinstance(kind, InputFile | OutputFile) or (isinstance(kind, Named) and kind.file)
    classes = kind.classes if isinstance(kind, InputFile | InWords | Named) else ()
    return " | ".join(["str", *(["Path"] if path else []), *classes])


# -- errors ----------------------------------------------------------------------------------------------------------

_COMMAND = re.compile(r"volvelle [a-z][^;]*")
_FLAG = re.compile(
    r"(?<![\w-])(?P<flag>--?[a-z][\w-]*)(?:[ =](?P<value>'[^']*'|[\w.%/+-]*\w%?)(?P<last>(?=[;,)]|\.?$))?)?"
)
_NO_VALUES = ("away", "out", "too", "instead", "alone", "twice", "first")
"""Words that may end a clause behind an option without being its value."""


def in_python_words(message: str, question: type[Question]) -> str:
    """Return a message with options as arguments: ``--tp 8`` is ``tensor=8``; commands in it stay as they are typed."""
    kept, translated = 0, ""
    for command in _COMMAND.finditer(message):
        translated += _translated(message[kept : command.start()], question) + command[0]
        kept = command.end()
    return translated + _translated(message[kept:], question)


def _translated(text: str, question: type[Question]) -> str:
    flags = _flags(question)

    def argument(match: re.Match[str]) -> str:
        if match["flag"] not in flags:
            return match[0]
        part, switched = flags[match["flag"]]
        value = match["value"] or ""
        if isinstance(part.kind, Switch) and not part.listed:
            return f"{part.name}={switched}" + (match[0][len(match["flag"]) :])
        if part.listed and value:
            return f"{part.name.rpartition('_')[0]}_{value}=True"
        if not (
            _is_value(value, part)
            or (value and match["last"] is not None and value not in _NO_VALUES and value.islower())
        ):
            return part.name + match[0][len(match["flag"]) :]
        return f"{part.name}={value if value[0] == chr(39) or _is_number(value) else repr(value)}"

    return _FLAG.sub(argument, text)


def _flags(question: type[Question]) -> dict[str, tuple[Option, bool]]:
    flags: dict[str, tuple[Option, bool]] = {}
    for part in question.options():
        if part.flag.startswith("-"):
            flags[part.flag] = part, True
            flags.setdefault(part.opposite_flag, (part, False))
    return flags


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True


def _is_value(value: str, part: Option) -> bool:
    """Whether a word behind a flag is its value, rather than the next word of the sentence."""
    if not value:
        return False
    return value[0].isdigit() or value[0] == "'" or (isinstance(part.kind, Words) and value in part.kind.words)
