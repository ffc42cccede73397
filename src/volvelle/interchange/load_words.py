"""A load in words: ``closed 64``, ``poisson 12/s``, ``gamma 12/s 0.5``, ``ramp 1/s 20/s``, ``trace FILE ×1.5``.

:func:`load_value` is the inverse of ``str``: the text of a value is read as an equal value.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import final

from volvelle.domains import check_fields, number
from volvelle.errors import DescriptionError, brief
from volvelle.interchange.request_trace import read_trace
from volvelle.quantities import plain_number
from volvelle.workload.serving.loads import (
    RATE_FACTOR,
    AbstractLoad,
    AtOnce,
    Closed,
    Gamma,
    Load,
    Poisson,
    Ramp,
    Recorded,
)

_FORMS = "'closed 64', 'poisson 12/s', 'gamma 12/s 0.5', 'ramp 1/s 20/s', 'trace FILE ×1.5' or 'at once'"
_TIMES = re.compile(r"[×x*]\s*(?P<factor>\S+)$", re.IGNORECASE)


@final
@dataclass(frozen=True, slots=True)
class Trace(Load):
    """Requests of a recorded trace: times and lengths from a file, which is read when an answer needs it.

    The file is a CSV file with columns for arrival time, input tokens and output tokens (such as Azure's or
    BurstGPT's), or JSON lines like Mooncake's.

    Parameters
    ----------
    file
        Path of the trace.
    scale
        Times as many requests per second as the trace has.

    Examples
    --------
    >>> from volvelle import Trace
    >>> load = Trace("requests.csv", scale=1.5)
    >>> str(load)
    'trace requests.csv ×1.5'
    """

    file: Path | str
    scale: float = number(RATE_FACTOR, 1.0)

    def __post_init__(self) -> None:
        check_fields(self, "load")
        object.__setattr__(self, "file", Path(self.file))
        if str(self.file) != str(self.file).strip():
            raise DescriptionError(f"load: the trace {str(self.file)!r} begins or ends with a blank; rename the file")

    def __str__(self) -> str:
        # A name that ends like a scale, "week x2", is only told from one by the scale behind it.
        scaled = self.scale != 1.0 or _scale_in(str(self.file)) is not None
        return f"trace {self.file} ×{plain_number(self.scale)}" if scaled else f"trace {self.file}"


def read_load(load: Load | str) -> AbstractLoad:
    """Return a load as requests can be drawn from it; the file of a trace is read."""
    value = load_value(str(load))
    if isinstance(value, Trace):
        return Recorded(recorded=read_trace(Path(value.file)).requests, rate_factor=value.scale)
    assert isinstance(value, AbstractLoad), "requests of other loads are drawn"
    return value


def load_value(text: str) -> Load:
    """Return the load that a text describes."""
    kind, _, rest = text.strip().partition(" ")
    words = rest.split()
    match kind.lower(), words:
        case "closed", [clients]:
            return Closed(_whole(clients, text))
        case "poisson", [rate] if _endless(rate):
            return AtOnce()
        case "poisson", [rate]:
            return Poisson(_rate(rate, text))
        case "gamma", [rate, burstiness]:
            return Gamma(_rate(rate, text), _number(burstiness, text))
        case "ramp", [start, end]:
            return Ramp(_rate(start, text), _rate(end, text))
        case "trace", [_, *_]:
            return _trace(rest.strip(), text)
        case ("at", ["once"]) | ("burst", []) | ("all", ["at", "once"]):
            return AtOnce()
    raise DescriptionError(f"the load {brief(text)} cannot be read; write {_FORMS}")


def _scale_in(rest: str) -> tuple[str, str] | None:
    """Return the file and the scale behind it, if the words of a trace end with a scale."""
    name, _, last = rest.rpartition(" ")
    found = _TIMES.match(last) if name else None
    return None if found is None else (name.strip(), found["factor"])


def _trace(rest: str, text: str) -> Trace:
    """Return a file, and how many times as many requests per second as it has."""
    scaled = _scale_in(rest)
    return Trace(rest) if scaled is None else Trace(scaled[0], _number(scaled[1], text))


def _endless(word: str) -> bool:
    return word.lower().removesuffix("/s") in ("inf", "infinity", "∞")


def _number(word: str, text: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise DescriptionError(f"the load {brief(text)}: {brief(word)} is no number; write {_FORMS}") from None


def _whole(word: str, text: str) -> int:
    if not word.isdecimal():
        raise DescriptionError(f"the load {brief(text)}: {brief(word)} is no number of clients; write 'closed 64'")
    return int(word)


def _rate(word: str, text: str) -> float:
    """Requests a second, with or without saying so."""
    rate = _number(word.lower().removesuffix("/s"), text)
    if rate == 0:
        raise DescriptionError(
            f"the load {brief(text)}: at a rate of 0 no request ever comes; write one above, or 'closed 1'"
        )
    return rate
