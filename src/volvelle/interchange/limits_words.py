"""Limits of a service in words: ``p99 ttft 2 s, p95 tpot 50 ms``."""

import re

from volvelle.errors import DescriptionError, brief
from volvelle.workload.serving.limits import LATENCIES, LIMIT_TIME, STATISTICS, PercentileLimit

_FORM = f"'p99 ttft 2 s, p95 tpot 50 ms': {', '.join(STATISTICS)} of {', '.join(LATENCIES)}, in ms or s"
_LIMIT = re.compile(r"(?P<statistic>[a-z]+\d*)\s+(?P<latency>[a-z0-9]+)\s*(?:<=|<|≤)?\s*(?P<time>\S.*)")


def read_limits(text: str) -> tuple[PercentileLimit, ...]:
    """The limits that a text states, each once."""
    pieces = [piece.strip() for piece in re.split(r"[,;]|\band\b", text.lower()) if piece.strip()]
    if not pieces:
        raise DescriptionError(f"the limits {brief(text)} say nothing; write {_FORM}")
    found = tuple(_limit(piece) for piece in pieces)
    names = [limit.name for limit in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise DescriptionError(f"the limits {brief(text)} have {twice} twice; give it once")
    return found


def _limit(piece: str) -> PercentileLimit:
    match = _LIMIT.fullmatch(piece)
    if match is None or match["statistic"] not in STATISTICS or match["latency"] not in LATENCIES:
        raise DescriptionError(f"the limit {brief(piece)} cannot be read; write {_FORM}")
    seconds = LIMIT_TIME.read(match["time"], f"the limit {brief(piece)}")
    return PercentileLimit(latency=match["latency"], percentile=STATISTICS[match["statistic"]], seconds=seconds)
