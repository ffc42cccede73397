"""Requests from a trace: Azure's, BurstGPT's or a plain CSV, or Mooncake's JSON lines with hashed blocks.

What is done with rows that are not ordinary:

- a length or time that is no number, NaN, negative or too large, and a length of 0, is refused with its line;
- a row that comes before the row above it is refused with its line: a trace is in the order of time;
- rows that are alike are as many requests: people do ask the same at once;
- BurstGPT's rows of 0 response tokens are failures; they are left out and counted.

Times count from the first row.
"""

import csv
import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from volvelle.errors import DescriptionError, brief
from volvelle.input_limits import read_text
from volvelle.workload.serving.requests import ARRIVAL, REQUEST_TOKENS, Requests

_LARGEST = 2**30
"""Bytes of a trace."""
_ARRIVAL = ("arrival_s", "arrival", "timestamp")
_INPUT = ("input_tokens", "contexttokens", "request tokens", "input_length")
_OUTPUT = ("output_tokens", "generatedtokens", "response tokens", "output_length")
_FAILURES = "response tokens"
_HASHED_TOKENS = 512
"""Of a block of Mooncake's."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RecordedTrace:
    """The requests of a file, and how many of its rows were failures and are not among them."""

    requests: Requests
    left_out: int


@dataclass(frozen=True, slots=True)
class _Row:
    line: int
    arrival: float
    input: float
    output: float
    hashes: tuple[int, ...] = ()


def read_trace(file: Path) -> RecordedTrace:
    """The requests of a trace, by what its first line looks like."""
    try:
        text = read_text(file, most=_LARGEST)
    except FileNotFoundError:
        raise DescriptionError(f"there is no trace {str(file)!r}; give a CSV file or JSON lines") from None
    lines = text.splitlines()
    head = next((line.strip() for line in lines if line.strip()), "")
    if not head:
        raise DescriptionError(f"the trace {str(file)!r} is empty; give at least one request")
    failures = _FAILURES in head.lower()
    rows = _json_rows(lines, file) if head.startswith("{") else _csv_rows(lines, head, file)
    return _gathered(rows, file, failures=failures)


def _gathered(rows: Iterator[_Row], file: Path, *, failures: bool) -> RecordedTrace:
    """Rows as arrays, each looked at."""
    arrivals: list[float] = []
    inputs: list[int] = []
    outputs: list[int] = []
    hashes: list[int] = []
    starts = [0]
    left_out, last, first = 0, -math.inf, math.nan
    for row in rows:
        where = f"{str(file)!r}, line {row.line}"
        if not math.isfinite(row.arrival):
            raise DescriptionError(f"{where}: the time of arrival is {row.arrival}; write a number of seconds")
        if math.isnan(first):
            first = row.arrival
        if row.arrival < last:
            raise DescriptionError(f"{where}: the request comes before the one above it; sort the trace by time")
        last = row.arrival
        if failures and row.output == 0:
            left_out += 1
            continue
        ARRIVAL.check(row.arrival - first, f"{where}: seconds since the first request")
        for name, value in (("input tokens", row.input), ("output tokens", row.output)):
            if not REQUEST_TOKENS.holds(value):
                cure = "leave the row out" if value == 0 else "mend the row or leave it out"
                raise DescriptionError(f"{where}: {name} are {value:g}; they must be {REQUEST_TOKENS}: {cure}")
        arrivals.append(row.arrival - first)
        inputs.append(int(row.input))
        outputs.append(int(row.output))
        hashes.extend(row.hashes)
        starts.append(len(hashes))
    if not arrivals:
        raise DescriptionError(f"the trace {str(file)!r} has no requests; give at least one")
    return RecordedTrace(
        requests=Requests(
            arrival=np.array(arrivals) - arrivals[0],
            input_tokens=np.array(inputs, np.int64),
            output_tokens=np.array(outputs, np.int64),
            hash_ids=np.array(hashes, np.int64),
            hash_starts=np.array(starts, np.int64),
            hash_tokens=_HASHED_TOKENS,
        ),
        left_out=left_out,
    )


# -- CSV ---------------------------------------------------------------------------------------------------------------


def _csv_rows(lines: list[str], head: str, file: Path) -> Iterator[_Row]:
    """Rows by the names of columns; where the first line has none, arrival, input and output in this order."""
    names = [name.strip().strip('"').lower() for name in head.split(",")]
    named = any(name in (*_ARRIVAL, *_INPUT, *_OUTPUT) for name in names)
    if named:
        columns = [_column(names, known, file) for known in (_ARRIVAL, _INPUT, _OUTPUT)]
    elif len(names) == 3:
        columns = [0, 1, 2]
    else:
        raise DescriptionError(
            f"the trace {str(file)!r} starts with {brief(head)}; name its columns arrival_s,input_tokens,output_tokens"
        )
    reading = csv.reader(lines)
    header = named
    for cells in reading:
        if not any(cell.strip() for cell in cells):
            continue
        if header:
            header = False
            continue
        where = f"{str(file)!r}, line {reading.line_num}"
        if len(cells) <= max(columns):
            raise DescriptionError(f"{where} has {len(cells)} columns; it needs {max(columns) + 1}")
        arrival, prompt, answer = (cells[column].strip() for column in columns)
        yield _Row(
            reading.line_num,
            _cell(arrival, _moment, f"{where}: the time of arrival"),
            _cell(prompt, float, f"{where}: input tokens"),
            _cell(answer, float, f"{where}: output tokens"),
        )


def _column(names: list[str], known: tuple[str, ...], file: Path) -> int:
    found = [name for name in known if name in names]
    if not found:
        raise DescriptionError(f"the trace {str(file)!r} has no column {' or '.join(known)}; add one")
    return names.index(found[0])


def _cell(text: str, kind: Callable[[str], float], what: str) -> float:
    try:
        return kind(text)
    except ValueError:
        raise DescriptionError(f"{what} is {brief(text)}, no number; mend the row or leave it out") from None


def _moment(text: str) -> float:
    """Seconds, or a date with a time of day."""
    try:
        return float(text)
    except ValueError:
        found = datetime.fromisoformat(text)
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


# -- JSON lines --------------------------------------------------------------------------------------------------------


def _json_rows(lines: list[str], file: Path) -> Iterator[_Row]:
    """Mooncake's rows: milliseconds, lengths, and a number for each block of 512 tokens of the prompt."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{str(file)!r}, line {number}"
        try:
            row = json.loads(line)
            arrival, prompt, answer = (float(row[name]) for name in ("timestamp", "input_length", "output_length"))
        except (ValueError, TypeError, KeyError, RecursionError):
            raise DescriptionError(
                f"{where} is {brief(line)}; write an object with timestamp [ms], input_length and output_length"
            ) from None
        hashes = row.get("hash_ids", [])
        if not isinstance(hashes, list) or not all(type(block) is int and abs(block) < 2**62 for block in hashes):
            raise DescriptionError(f"{where}: hash_ids is {brief(hashes)}; it must be a list of whole numbers")
        if len(hashes) > math.ceil(prompt / _HASHED_TOKENS if math.isfinite(prompt) else 0):
            raise DescriptionError(
                f"{where}: a prompt of {prompt:g} tokens has no {len(hashes)} blocks of {_HASHED_TOKENS}; mend hash_ids"
            )
        yield _Row(number, arrival / 1e3, prompt, answer, tuple(hashes))
