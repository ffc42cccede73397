"""Limits of a service in words: ``p99 ttft 2 s, p95 tpot 50 ms``, or tokens a second that users get: ``p99 tps 20``."""

import re

from volvelle.errors import DescriptionError, brief
from volvelle.quantities import SECONDS, parse
from volvelle.workload.serving.limits import LATENCIES, LIMITED_PERCENTILE, LIMITED_SECONDS, LatencyLimit

_FORMS = "'p99 ttft 2 s, p95 tpot 50 ms' (p50 … p99.9 or mean, of ttft, tpot, itl or e2el), or 'p99 tps 20'"
_STATISTIC = re.compile(r"p(?P<percentile>\d+(\.\d+)?)$", re.IGNORECASE)
_SPEED = "tps"
"""Tokens a second that a user gets after the first: one over TPOT."""


def read_limits(text: str) -> tuple[LatencyLimit, ...]:
    """The limits that a text describes, in its order."""
    parts = [part.strip() for part in re.split(r"[,;]|\band\b", text)]
    if not text.strip():
        raise DescriptionError(f"there are no limits in {brief(text)}; write {_FORMS}")
    found: dict[tuple[str, str], LatencyLimit] = {}
    for place, part in enumerate(parts, start=1):
        where = f"limit {place} of {len(parts)}, {brief(part)}"
        limit = _limit(part, where)
        key = (limit.statistic, limit.latency)
        if key in found:
            raise DescriptionError(f"{where}: {limit.name} is limited before, to {found[key]}; keep one of them")
        found[key] = limit
    return tuple(found.values())


def _limit(part: str, where: str) -> LatencyLimit:
    words = part.replace("<=", " ").replace("≤", " ").replace("<", " ").split()
    if len(words) < 2:
        raise DescriptionError(f"{where}: it cannot be read; write {_FORMS}")
    if words[0].lower() in (*LATENCIES, _SPEED):
        raise DescriptionError(f"{where}: it does not say of whom; write 'p99 {part}' or 'mean {part}'")
    percentile = _percentile(words[0], where)
    latency, value = words[1].lower(), " ".join(words[2:])
    if not value:
        raise DescriptionError(f"{where}: it says no time; write {_FORMS}")
    if latency == _SPEED:
        return LatencyLimit(latency="tpot", percentile=percentile, seconds=1.0 / _speed(value, where))
    known = next((name for name in LATENCIES if name == latency), None)
    if known is None:
        names = ", ".join((*LATENCIES, _SPEED))
        raise DescriptionError(f"{where}: {brief(words[1])} is nothing that is limited; there are {names}")
    try:
        seconds = parse(value, SECONDS)
    except DescriptionError as error:
        raise type(error)(f"{where}: {error}") from None
    LIMITED_SECONDS.check(seconds, f"{where}: the time")
    return LatencyLimit(latency=known, percentile=percentile, seconds=seconds)


def _percentile(word: str, where: str) -> float | None:
    if word.lower() in ("mean", "avg", "average"):
        return None
    if word.lower() == "median":
        return 50.0
    found = _STATISTIC.match(word)
    if found is None:
        raise DescriptionError(f"{where}: {brief(word)} is neither a percentile like p99 nor mean; write {_FORMS}")
    percentile = float(found["percentile"])
    LIMITED_PERCENTILE.check(percentile, f"{where}: the percentile")
    return percentile


def _speed(value: str, where: str) -> float:
    """Tokens a second of a user."""
    try:
        speed = float(value.removesuffix("/s").removesuffix("tokens").strip())
    except ValueError:
        raise DescriptionError(f"{where}: {brief(value)} is no number of tokens a second") from None
    if not 1.0 / LIMITED_SECONDS.most <= speed <= 1.0 / LIMITED_SECONDS.least:
        raise DescriptionError(f"{where}: {speed:g} tokens a second of a user is nothing that can be asked for")
    return speed
