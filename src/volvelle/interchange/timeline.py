"""A followed load as a trace in Chrome's JSON form, which ui.perfetto.dev opens: steps, requests and counters.

Times are in microseconds. Steps that were alike are one slice; requests are asynchronous slices with what they waited
for inside. A trace of a long load is cut: browsers open some hundred megabytes at most.
"""

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from volvelle.errors import DescriptionError
from volvelle.simulation.batching.served import Served

MOST_SPANS = 60_000
"""Slices of steps that a trace has at most."""
MOST_REQUESTS = 20_000
_ENGINE, _REQUESTS = 1, 2
"""Processes of the trace."""
_MICRO = 1e6
_PHASES = ("waiting", "prefill", "decode")
Event = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenTimeline:
    """What a file has of a load."""

    file: str
    spans: int
    """Slices of steps."""
    requests: int
    cut: str
    """What was left out; empty: nothing."""


def write_timeline(served: Served, file: Path) -> WrittenTimeline:
    """Write the trace of a run; compressed where the name ends in ``.gz``."""
    spans, requests, cut = _kept(served)
    fields = {
        "displayTimeUnit": "ms",
        "otherData": {"requests": int(served.sent.size), "spans": int(served.spans.begin.size), "cut": cut},
        "traceEvents": [*_names(), *_steps(served, spans), *_counters(served, spans), *_requests(served, requests)],
    }
    text = json.dumps(fields, separators=(",", ":"), allow_nan=False).encode()
    try:
        # Without a time in its head, the same load is the same file.
        file.write_bytes(gzip.compress(text, mtime=0) if file.name.endswith(".gz") else text)
    except OSError as error:
        raise DescriptionError(f"{str(file)!r} cannot be written: {error.strerror}; name a file elsewhere") from None
    return WrittenTimeline(file=str(file), spans=spans, requests=requests, cut=cut)


def _kept(served: Served) -> tuple[int, int, str]:
    """Spans from the beginning, requests that were sent before they end, and what is left out."""
    all_spans, all_requests = int(served.spans.begin.size), int(served.sent.size)
    spans = min(all_spans, MOST_SPANS)
    until = float(served.spans.end[spans - 1]) if spans < all_spans else float("inf")
    sent = np.sort(served.sent)
    requests = min(int(np.searchsorted(sent, until, side="right")), MOST_REQUESTS)
    if requests < all_requests and requests == MOST_REQUESTS:
        until = float(sent[requests])
        spans = max(1, int(np.searchsorted(served.spans.begin, until, side="left")))
    if spans == all_spans and requests == all_requests:
        return spans, requests, ""
    end = float(served.spans.end[spans - 1])
    return (
        spans,
        requests,
        f"the first {end:.6g} s of {served.duration:.6g} s: {spans:,} of {all_spans:,} spans of steps and "
        f"{requests:,} of {all_requests:,} requests",
    )


def _names() -> Iterator[Event]:
    for process, name in ((_ENGINE, "engine, one rank"), (_REQUESTS, "requests")):
        yield {"ph": "M", "pid": process, "tid": 0, "name": "process_name", "args": {"name": name}}
        yield {"ph": "M", "pid": process, "tid": 0, "name": "process_sort_index", "args": {"sort_index": process}}
    yield {"ph": "M", "pid": _ENGINE, "tid": 1, "name": "thread_name", "args": {"name": "steps"}}


def _steps(served: Served, most: int) -> Iterator[Event]:
    spans = served.spans
    ends = spans.end
    for place in range(most):
        decoding, tokens, steps = int(spans.decoding[place]), int(spans.prompt_tokens[place]), int(spans.steps[place])
        kind = ("mixed" if decoding else "prefill") if tokens else "decode"
        begin, end = float(spans.begin[place]), float(ends[place])
        yield {
            "ph": "X",
            "pid": _ENGINE,
            "tid": 1,
            "cat": "step",
            "name": kind if steps == 1 else f"{kind} ×{steps}",
            "ts": _MICRO * begin,
            "dur": _MICRO * (end - begin),
            "args": {
                "steps": steps,
                "decoding": decoding,
                "prompts": int(spans.prompts[place]),
                "prompt_tokens": tokens,
                "first_step_ms": 1e3 * float(spans.first[place]),
            },
        }


def _counters(served: Served, most: int) -> Iterator[Event]:
    begins = served.spans.begin[:most]
    running, waiting, _ = served.curve(begins)
    columns = {"running": running, "waiting": waiting, "KV blocks": served.spans.used_blocks[:most]}
    for name, values in columns.items():
        changed = np.concatenate(([True], np.diff(values) != 0)) if values.size else np.zeros(0, np.bool_)
        for place in np.flatnonzero(changed):
            yield {
                "ph": "C",
                "pid": _ENGINE,
                "name": name,
                "ts": _MICRO * float(begins[place]),
                "args": {name: int(values[place])},
            }


def _requests(served: Served, most: int) -> Iterator[Event]:
    """Each from when it was sent to its last token; inside, until it was admitted, its first token, and its last."""
    for row in np.argsort(served.sent, kind="stable")[:most]:
        times = [float(column[row]) for column in (served.sent, served.admitted, served.first_token, served.end)]
        shared = {"pid": _REQUESTS, "tid": 1, "cat": "request", "id": int(row)}
        told = {
            "input_tokens": int(served.input_tokens[row]),
            "output_tokens": int(served.output_tokens[row]),
            "preempted": int(served.preempted[row]),
            "ttft_ms": 1e3 * (times[2] - times[0]),
        }
        name = f"request {row}"
        yield {"ph": "b", "name": name, "ts": _MICRO * times[0], "args": told, **shared}
        for phase, begin, end in zip(_PHASES, times[:-1], times[1:], strict=True):
            yield {"ph": "b", "name": phase, "ts": _MICRO * begin, **shared}
            yield {"ph": "e", "name": phase, "ts": _MICRO * end, **shared}
        yield {"ph": "e", "name": name, "ts": _MICRO * times[3], **shared}
