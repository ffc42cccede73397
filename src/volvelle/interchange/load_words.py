"""A load in words: ``closed 64``, ``poisson 12/s``, ``gamma 12/s 0.5``, ``ramp 1/s 20/s``, ``trace FILE ×1.5``."""

import re
from pathlib import Path

from volvelle.errors import DescriptionError, brief
from volvelle.interchange.request_trace import read_trace
from volvelle.workload.serving.loads import AbstractLoad, AllAtOnce, ClosedLoop, Ramp, Random, Trace

_FORMS = "'closed 64', 'poisson 12/s', 'gamma 12/s 0.5', 'ramp 1/s 20/s', 'trace FILE ×1.5' or 'at once'"
_TIMES = re.compile(r"[×x*]\s*(?P<factor>\S+)$", re.IGNORECASE)


def read_load(text: str) -> AbstractLoad:
    """The load that a text describes."""
    kind, _, rest = text.strip().partition(" ")
    words = rest.split()
    match kind.lower(), words:
        case "closed", [clients]:
            return ClosedLoop(clients=_whole(clients, text))
        case "poisson", [rate] if _endless(rate):
            return AllAtOnce()
        case "poisson", [rate]:
            return Random(rate=_rate(rate, text))
        case "gamma", [rate, burstiness]:
            return Random(rate=_rate(rate, text), burstiness=_number(burstiness, text))
        case "ramp", [start, end]:
            return Ramp(start_rate=_rate(start, text), end_rate=_rate(end, text))
        case "trace", [_, *_]:
            return _trace(rest.strip(), text)
        case ("at", ["once"]) | ("burst", []) | ("all", ["at", "once"]):
            return AllAtOnce()
    raise DescriptionError(f"the load {brief(text)} cannot be read; write {_FORMS}")


def _trace(rest: str, text: str) -> Trace:
    """A file, and how many times as many requests a second as it has."""
    name, _, last = rest.rpartition(" ")
    found = _TIMES.match(last) if name else None
    if found is None:
        return Trace(recorded=read_trace(Path(rest)).requests)
    return Trace(recorded=read_trace(Path(name.strip())).requests, rate_factor=_number(found["factor"], text))


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
