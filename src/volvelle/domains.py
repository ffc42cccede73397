"""Domains: the values that a number may have, declared where the number itself is declared.

A field of a frozen value, a field of a file, an axis of a study, an option of a command and an argument of a verb each
have one. It is looked at once, at the edge; outside of it one line names the field, shows what was found and says the
domain. Laws never look: they may trust what they are given.

Both ends are finite, wide enough for any machine or model that anybody means, and narrow enough that no law
overflows: so NaN and infinity lie outside every domain.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from functools import cache, wraps
from typing import Annotated, Any, ParamSpec, TypeVar, get_args, get_origin, get_type_hints

import numpy as np

from volvelle.errors import DescriptionError, VolvelleError, brief
from volvelle.input_limits import refuse_remote
from volvelle.kinds import NOT_OF_IT, Kind, field_hints, kind_of
from volvelle.quantities import (
    BYTES,
    BYTES_PER_SECOND,
    DAY,
    DOLLARS,
    DOLLARS_PER_BYTE,
    DOLLARS_PER_HOUR,
    DOLLARS_PER_JOULE,
    DOLLARS_PER_RATE,
    DOLLARS_PER_WATT,
    EVENTS_PER_SECOND,
    FLOP_PER_SECOND,
    FRACTION,
    HERTZ,
    JOULES_PER_BYTE,
    JULIAN_YEAR,
    SECONDS,
    TOKEN_COUNT,
    WATTS,
    Quantity,
    format,  # noqa: A004 - the inverse of parse
    parse,
    show,
)

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")
_KEY = "domain"


@dataclass(frozen=True, slots=True)
class NumberDomain:
    """Numbers from `least` to `most`, both included."""

    least: float
    most: float
    kind: Quantity | None = field(default=None, hash=False)
    """What text with a unit is read as; None: a plain number."""
    whole: bool = False

    def __str__(self) -> str:
        what = "whole number" if self.whole else "number" if self.kind is None else self.kind.name
        what = "amount of money" if self.kind is DOLLARS else what
        return f"{'an' if what[0] in 'aeio' else 'a'} {what} from {self._shown(self.least)} to {self._shown(self.most)}"

    def _shown(self, value: float) -> str:
        if self.kind is SECONDS and value >= DAY:
            return f"{value / JULIAN_YEAR:,.0f} years" if value >= JULIAN_YEAR else f"{value / DAY:,.0f} days"
        if self.kind is FRACTION:
            return f"{100 * value:g} %"
        if self.kind is not None:
            return format(value, self.kind)
        return f"{value:,.0f}" if float(value).is_integer() and abs(value) < 1e15 else f"{value:g}"

    def holds(self, value: object) -> bool:
        """Whether a number, or every number of a column, lies inside."""
        if isinstance(value, np.ndarray):
            return bool(np.all((value >= self.least) & (value <= self.most)))
        if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
            return False
        return bool(self.least <= value <= self.most) and not (self.whole and value != int(value))

    def check(self, value: object, where: str, *, error: type[VolvelleError] = DescriptionError) -> None:
        """Refuse what lies outside, by the name of the field."""
        if not self.holds(value):
            raise error(f"{where} is {self._found(value)}; it must be {self}")

    def read(self, given: object, where: str) -> float:
        """The number that text with a unit stands for, or that is given in SI units, if it lies inside."""
        value = given
        if isinstance(given, str) and self.kind is not None:
            try:
                value = parse(given, self.kind)
            except DescriptionError as error:
                raise type(error)(f"{where}: {error}") from None
        if not self.holds(value):
            raise DescriptionError(f"{where} is {given if value is not given else brief(given)}; it must be {self}")
        return float(value)  # type: ignore[arg-type]

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> dict[str, Any]:
        """As an annotation of a file's field: numbers, and text that stands for one, are looked at when it is read."""

        def inside(value: Any) -> Any:
            if isinstance(value, str) and self.kind is not None:
                try:
                    self.read(value, "it")
                except DescriptionError as error:
                    raise ValueError(str(error)) from None
            if isinstance(value, int | float) and not self.holds(value):
                raise ValueError(f"it is {brief(value)}; it must be {self}")
            return value

        after = {"type": "no-info", "function": inside}
        return {"type": "function-after", "function": after, "schema": handler(source)}

    def clipped(self, column: Any) -> Any:
        """A column with its ends moved inside."""
        return np.clip(column, self.least, self.most)

    def _found(self, value: object) -> str:
        if isinstance(value, np.ndarray):
            bad = value[~((value >= self.least) & (value <= self.most))]
            value = float(bad.flat[0])
        if self.kind is not None and isinstance(value, int | float) and not isinstance(value, bool):
            return show(float(value), self.kind)
        return brief(value)


# -- fields of frozen values -----------------------------------------------------------------------------------------


def number(domain: NumberDomain, default: Any = MISSING) -> Any:
    """A field of a frozen value that is a number, or a table of numbers, of some domain."""
    return field(default=default, metadata={_KEY: domain})


@cache
def domains_of(declared: Any) -> Mapping[str, NumberDomain]:
    """The domain of every field of a frozen value that is a number, by the field's name."""
    return {part.name: part.metadata[_KEY] for part in fields(declared) if _KEY in part.metadata}


@cache
def _fields_checked(declared: Any) -> tuple[tuple[str, Kind, NumberDomain | None], ...]:
    """Fields of a frozen value with their kinds and domains; those that may be anything are left out."""
    hints, domains = field_hints(declared), domains_of(declared)
    kinds = ((part.name, kind_of(hints[part.name])) for part in fields(declared))
    return tuple((name, kind, domains.get(name)) for name, kind in kinds if kind is not None)


def check_fields(value: Any, where: str, *, error: type[VolvelleError] = DescriptionError) -> None:
    """Refuse a frozen value with a field of another kind, or a number outside its domain.

    What plainly means a value of the kind is put in its place. Columns were looked at where they were made.
    """
    for name, kind, domain in _fields_checked(value.__class__):
        held = getattr(value, name)
        if held.__class__ in kind.taken and (domain is None or held is None or domain.holds(held)):
            continue  # most are: nothing to read or to say
        read = kind.read(held)
        if domain is not None:
            _check_numbers(held if read is NOT_OF_IT else read, domain, f"{where}: {name}", error)
        if read is NOT_OF_IT:
            raise error(f"{where}: {name} is {brief(held)}; it must be {kind.says}")
        if read is not held:
            object.__setattr__(value, name, read)


def _check_numbers(stated: Any, domain: NumberDomain, where: str, error: type[VolvelleError]) -> None:
    """Refuse a number, or one of several, outside a domain."""
    if isinstance(stated, Mapping | tuple):
        for key, part in stated.items() if isinstance(stated, Mapping) else enumerate(stated):
            _check_numbers(part, domain, f"{where}.{key}", error)
    elif isinstance(stated, int | float | np.generic | str | list) and not domain.holds(stated):
        domain.check(stated, where, error=error)


# -- arguments of functions ------------------------------------------------------------------------------------------


@cache
def argument_domains(function: Callable[..., Any]) -> Mapping[str, NumberDomain]:
    """The domain of every argument of a function that has one in its annotation."""
    return {
        name: part
        for name, hint in get_type_hints(function, include_extras=True).items()
        if get_origin(hint) is Annotated
        for part in get_args(hint)[1:]
        if isinstance(part, NumberDomain)
    }


@cache
def _argument_kinds(function: Callable[..., Any]) -> Mapping[str, Kind]:
    """The kind of every argument of a function that may not be anything; of those it gathers, of each."""
    hints = get_type_hints(function, include_extras=True)
    kinds = ((name, kind_of(hints[name])) for name in inspect.signature(function).parameters if name in hints)
    return {name: kind for name, kind in kinds if kind is not None}


def within_domains(function: Callable[Arguments, Answer]) -> Callable[Arguments, Answer]:
    """The function, which refuses arguments of another kind than their annotations, or outside the domains of these.

    What plainly means a value of the kind is handed on as that.
    """
    signature = inspect.signature(function)
    listed = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    order = tuple(name for name, part in signature.parameters.items() if part.kind in listed)
    gathered = next((name for name, part in signature.parameters.items() if part.kind is part.VAR_POSITIONAL), "")

    @wraps(function)
    def checked(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Answer:
        names = (*order[: len(args)], *(gathered for _ in args[len(order) :]))
        given = (*zip(names, args, strict=True), *kwargs.items())
        read = [_read_argument(function, name, stated) for name, stated in given]  # once: an iterator gives all at once
        for (name, stated), found in zip(given, read, strict=True):
            _check_argument(function, name, stated if found is NOT_OF_IT else found)
        for (name, stated), found in zip(given, read, strict=True):
            if found is NOT_OF_IT:
                raise DescriptionError(f"{name} is {brief(stated)}; it must be {_argument_kinds(function)[name].says}")
        return function(*read[: len(args)], **dict(zip(kwargs, read[len(args) :], strict=True)))

    return checked


def _check_argument(function: Callable[..., Any], name: str, stated: Any) -> None:
    """Refuse a number, or one of several, outside the domain of its argument."""
    domain = argument_domains(function).get(name)
    if domain is not None:
        for one in stated if isinstance(stated, Sequence) and not isinstance(stated, str) else (stated,):
            if one is not None:
                domain.read(one, name)


def _read_argument(function: Callable[..., Any], name: str, stated: Any) -> Any:
    """An argument as its annotation has it, or `NOT_OF_IT`."""
    for value in stated if isinstance(stated, list | tuple) else (stated,):
        refuse_remote(value)
    kind = _argument_kinds(function).get(name)
    return stated if kind is None else kind.read(stated)


# -- the domains themselves ------------------------------------------------------------------------------------------


def _whole(least: int, most: int) -> NumberDomain:
    return NumberDomain(least, most, whole=True)


ACCELERATORS = _whole(1, 10**8)
DEGREE = ACCELERATORS
"""Of parallelism: it takes so many accelerators."""
SEQUENCES = _whole(1, 10**9)
STAGE = _whole(0, 10**6)
"""Of a pipeline, counted from 0."""
LAYERS = _whole(1, 10**6)
NO_LAYERS = _whole(0, 10**6)
WIDTH = _whole(1, 10**9)
"""Of a dimension of tensors: tokens of a sequence, heads, channels, words."""
NO_WIDTH = _whole(0, 10**9)
RANK = _whole(1, 65_536)
"""Of an adapter beside a matrix."""
NO_RANK = _whole(0, 65_536)
TABLE_ROWS = _whole(1, 10**12)
TABLES = _whole(1, 10**5)
DENSE_LAYERS = _whole(1, 1000)
"""Of a recommendation model."""
GRAPH_SIZE = NumberDomain(1e-6, 1e12)
"""Of a dimension of a graph; on average it need not be whole."""
NO_GRAPH_SIZE = NumberDomain(0.0, 1e12)
"""The same, of what there may be none of."""
REQUEST_LENGTH = _whole(1, 10**7)
"""Tokens of a prompt or of an answer."""
SERVED_BATCH = _whole(1, 10**7)
"""Sequences that are served at once."""
ENGINE_SEQUENCES = _whole(1, 65_536)
"""That an engine runs at once on one rank."""
STEP_BUDGET = _whole(1, 2**20)
"""Tokens of one step of an engine."""
STEP_INTERVAL = _whole(1, 10_000)
"""Steps, or tokens, from one look for requests, or piece of an answer, to the next."""
WAITED_STEPS = _whole(0, 10_000)
"""That prompts wait for a fuller one."""
SERVED_REQUESTS = _whole(1, 10**6)
"""Of one run of a load."""
SPARES = _whole(0, 10**6)
"""Replicas that may fail without anybody noticing."""
SWITCH = _whole(0, 1)
ZERO_STAGE = _whole(0, 3)
NO_DEGREE = _whole(0, 10**8)
SEED = _whole(0, 2**63 - 1)
RESULTS = _whole(1, 100)
"""Results to show."""
DRAWS = NumberDomain(1, 10_000, whole=True)
"""Times that something is drawn."""
SAMPLES = _whole(2, 65_536)
"""Of what is in doubt."""
REPLAYS = _whole(0, 64)
"""Sampled machines that are replayed too."""
ROWS = _whole(0, 10**9)
PROCESSES = _whole(1, 4096)
SOCKETS = _whole(1, 64)
POINTS = _whole(2, 10**6)
"""Of one axis."""
FFT_SIDE = _whole(2, 10**6)
"""Points along one side of a transform."""
ORDER = _whole(8, 10**10)
"""Rows of a matrix."""
NO_SPREAD = NumberDomain(0.0, 1.0)
"""Deviation of a logarithm."""
BLOCK = _whole(8, 2**20)
"""Columns of a panel of Linpack."""
YEAR = _whole(1600, 2200)

FLOP_RATE = NumberDomain(1.0, 1e21, FLOP_PER_SECOND)
BYTE_RATE = NumberDomain(1.0, 1e18, BYTES_PER_SECOND)
CLOCK = NumberDomain(1.0, 1e13, HERTZ)
"""Cycles a second."""
SIZE = NumberDomain(1.0, 1e18, BYTES)
NO_SIZE = NumberDomain(0.0, 1e18, BYTES)
DELAY = NumberDomain(0.0, 3600.0, SECONDS)
"""A latency, or what starting something takes."""
WAIT = NumberDomain(0.0, 7 * DAY, SECONDS)
"""That a policy looks back or waits, or that starting a replica takes."""
HAZARD = NumberDomain(0.0, 1.0, EVENTS_PER_SECOND)
"""Events of one part."""
RECOVERY = NumberDomain(0.0, 365 * DAY, SECONDS)
"""Stopping, restarting or repairing something."""
GAP = NumberDomain(1.0, 365 * DAY, SECONDS)
"""Between two of the same."""
EVENTS = NumberDomain(0.0, 1e9)
PART_DAYS = NumberDomain(1e-3, 1e12)
"""Days that parts were watched, all parts together."""
"""Years."""
STEP_TIME = NumberDomain(1e-9, 1e12, SECONDS)
LIMIT = NumberDomain(0.0, 1e7)
"""Seconds that a search may take."""
DAYS = NumberDomain(1e-3, 1e5)
LIFE = NumberDomain(DAY, 100 * JULIAN_YEAR, SECONDS)
POWER = NumberDomain(1e-3, 1e9, WATTS)
NO_POWER = NumberDomain(0.0, 1e9, WATTS)
PRICE = NumberDomain(0.01, 1e12, DOLLARS)
RENT = NumberDomain(0.0, 1e6, DOLLARS_PER_HOUR)
"""Of one accelerator."""
ENERGY_PRICE = NumberDomain(0.0, 1e3 / 3.6e6, DOLLARS_PER_JOULE)
CAPACITY_PRICE = NumberDomain(0.0, 1.0, DOLLARS_PER_BYTE)
RATE_PRICE = NumberDomain(0.0, 1.0, DOLLARS_PER_RATE)
POWER_PRICE = NumberDomain(0.0, 1e6, DOLLARS_PER_WATT)
BYTE_ENERGY = NumberDomain(0.0, 1.0, JOULES_PER_BYTE)
SHARE = NumberDomain(1e-6, 1.0, FRACTION)
"""Of something that there is no more of: a sustained part of a peak."""
DOCUMENT_SHARE = NumberDomain(1e-9, 1e12)
"""Of documents of one length among all: a part of them, or their count."""
PLAIN_SHARE = NumberDomain(1e-6, 1.0)
"""The same, written without a unit."""
NO_SHARE = NumberDomain(0.0, 1.0, FRACTION)
LOST_SHARE = NumberDomain(0.0, 0.99, FRACTION)
"""Of time that goes elsewhere: some is left."""
MARGIN = NumberDomain(0.0, 0.9, FRACTION)
"""Of memory that is left free."""
SM_SHARE = NumberDomain(0.0, 0.99, FRACTION)
"""Of units that something else takes: some are left."""
ATTENTION_SHARE = NumberDomain(1e-6, 1.25, FRACTION)
"""Of fused attention in the rate of large products: the fastest that was timed is a tenth faster."""
MULTIPLE = NumberDomain(1e-6, 100.0, FRACTION)
"""Of a whole that several make up, such as links of one chip in a dimension."""
EXPONENT = NumberDomain(0.0, 10.0, FRACTION)
"""By which a price or a power grows with what it is for."""
EXTRA = NumberDomain(0.0, 100.0, FRACTION)
"""What comes on top of a price."""
PUE = NumberDomain(1.0, 1000.0)
OVERSUBSCRIPTION = NumberDomain(1.0, 1e3)
UNITS = NumberDomain(1.0, 1e9)
HALF = NumberDomain(0.0, 1e7)
"""Steps that the start of a kernel is worth."""
TIMES_DISPATCH = NumberDomain(0.0, 1e4)
TIMES_NETWORK = NumberDomain(0.01, 100.0)
ERROR_FACTOR = NumberDomain(1.0, 10.0)
"""One standard deviation, as a factor."""
EXPERT_LOAD = NumberDomain(1.0, 1e6)
STATE_BYTES = NumberDomain(0.0, 1024.0)
"""Of an optimiser, for one parameter."""
LOGIT_BYTES = NumberDomain(0.0, 64.0)
"""Beside a logit, while a loss runs."""
STATE_WORK = NumberDomain(0.0, 1e12)
"""FLOP of an optimiser's step, for one parameter."""
POINT_WORK = NumberDomain(0.0, 1e12)
"""FLOP of an operation, for one point of it."""
TOKENS = NumberDomain(1.0, 1e20, TOKEN_COUNT)
PACE = NumberDomain(1e-6, 1e9)
"""Tokens a second of one accelerator."""
PACE_EXPONENT = NumberDomain(-1.0, 1.0)
"""By which that changes with their number."""
PARAMETERS = NumberDomain(1.0, 1e20)
WEIGHT = NumberDomain(1e-9, 1e9)
FACTOR = NumberDomain(0.0, 1e12)
"""Of a number that is varied."""
