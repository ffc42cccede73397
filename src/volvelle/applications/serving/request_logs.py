"""Logs of engines: when every request came, when its first and its last token did, and what the engine was told."""

import csv
import io
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from volvelle.applications.measured_table import RowHead, UnreadRow, read_table, shipped_table
from volvelle.applications.serving.number_cells import check_numbers
from volvelle.applications.table_cells import table_text
from volvelle.simulation.batching.metrics import Latency
from volvelle.workload.serving.requests import Real, Requests, Whole

NEEDED = ("log", "input_tokens", "output_tokens", "queued_s", "first_token_s", "last_token_s")
"""Columns of every request; what the engine was told is in further ones, or in the file ``…_engines.csv`` beside."""
TOLD = ("chip", "model", "engine", "tp")
"""What has to be told of the engine."""
FIGURES: Mapping[str, Callable[["RequestLog"], float]] = {
    "ttft": lambda log: Latency.of(log.ttft).mean,
    "tpot": lambda log: Latency.of(log.tpot).mean,
    "ttft_p99": lambda log: Latency.of(log.ttft).percentiles[99.0],
    "tpot_p99": lambda log: Latency.of(log.tpot).percentiles[99.0],
}
"""What is scored of a log."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RequestLog:
    """Every request of one run in the order in which they came, on the clock of the engine."""

    name: str
    requests: Requests
    scheduled: Real
    """When the first of a prompt was computed; when it came, where the log does not say."""
    first_token: Real
    last_token: Real

    @property
    def ttft(self) -> Real:
        """Seconds to the first token, of every request."""
        return self.first_token - self.requests.arrival

    @property
    def tpot(self) -> Real:
        """Seconds for each token after the first, of requests that have more."""
        more = self.requests.output_tokens > 1
        return (self.last_token - self.first_token)[more] / (self.requests.output_tokens[more] - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSecond:
    """What an engine said of itself once a second."""

    time: float
    running: float
    waiting: float
    kv_share: float
    """Part of the KV cache in use; 0 throughout where an engine does not say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    head: RowHead
    cells: Mapping[str, str]
    numbers: tuple[float, ...]
    """Input and output tokens; queued, scheduled, first and last token."""


def read_logs(
    file: Path | None = None,
) -> tuple[tuple[UnreadRow, ...], list[tuple[RowHead, dict[str, str], RequestLog]]]:
    """Requests that could not be read, and all logs: what each states of itself, and its requests."""
    table = read_table(
        "serving_request_logs", _line, needed=("row_id", *NEEDED), measured=("first_token_s",), file=file
    )
    told = _beside(file)
    by_log: dict[str, list[_Line]] = {}
    for line in table.rows:
        by_log.setdefault(line.cells["log"], []).append(line)
    found, unread = [], list(table.unread)
    for name, lines in by_log.items():
        stated = {key: text for key, text in lines[0].cells.items() if text}
        cells = {**_by_name(name), **_of_shipped(name), **told.get(name, {}), **stated}
        lacking = [column for column in TOLD if not cells.get(column)]
        if lacking:
            unread.append(_unknown(lines[0].head, name, lacking, file))
            continue
        group = lines[0].cells.get("group") or f"{cells['chip']}/{cells['engine']}/{cells['model']}"
        head = RowHead(row_id=name, group=group, split=lines[0].head.split, source=lines[0].head.source)
        found.append((head, cells, _log(name, lines)))
    return tuple(unread), found


def log_seconds(name: str) -> tuple[LogSecond, ...]:
    """What the engine of a shipped log said of itself each second; nothing of other logs."""
    text = table_text(shipped_table("serving_request_logs_per_second"))
    return tuple(
        LogSecond(
            time=float(row["t_s"]),
            running=float(row["running"]),
            waiting=float(row["waiting"]),
            kv_share=float(row["kv_cache_pct"]) / 100.0,
        )
        for row in csv.DictReader(io.StringIO(text))
        if row["log"] == name
    )


def _line(head: RowHead, cells: Mapping[str, str]) -> _Line:
    check_numbers(cells)
    numbers = []
    for column in ("input_tokens", "output_tokens", "queued_s", "scheduled_s", "first_token_s", "last_token_s"):
        text = cells.get(column) or (cells["queued_s"] if column == "scheduled_s" else "")
        try:
            number = float(text)
        except ValueError:
            raise ValueError(f"{column} is {text!r}, not a number") from None
        if not 0.0 <= number < 1e12 or (column.endswith("tokens") and (number < 1 or number != int(number))):
            least = "a whole number of at least 1" if column.endswith("tokens") else "a number of at least 0"
            raise ValueError(f"{column} is {text}; it must be {least}")
        numbers.append(number)
    queued, _, first, last = numbers[2:]
    if not queued < first <= last:
        raise ValueError(f"its tokens come before it does: queued at {queued}, first at {first}, last at {last}")
    return _Line(head=head, cells=dict(cells), numbers=tuple(numbers))


def _log(name: str, lines: Iterable[_Line]) -> RequestLog:
    columns = np.array([line.numbers for line in lines])
    inputs, outputs, queued, scheduled, first, last = columns[np.argsort(columns[:, 2], kind="stable")].T
    start = float(queued[0])
    whole: Callable[[Real], Whole] = lambda column: column.astype(np.int64)  # noqa: E731 - three words, used twice
    return RequestLog(
        name=name,
        requests=Requests(arrival=queued - start, input_tokens=whole(inputs), output_tokens=whole(outputs)),
        scheduled=scheduled - start,
        first_token=first - start,
        last_token=last - start,
    )


def _beside(file: Path | None) -> Mapping[str, Mapping[str, str]]:
    """What engines were told, by log, of the file beside a file of requests."""
    if file is None:
        return {}
    name = file.name.removesuffix(".gz").removesuffix(".csv")
    there = file.with_name(f"{name}_engines.csv")
    if not there.is_file():
        return {}
    rows = csv.DictReader(io.StringIO(table_text(there)))
    return {
        row.get("log") or "": {key: (text or "").strip() for key, text in row.items() if isinstance(key, str)}
        for row in rows
    }


def _of_shipped(name: str) -> Mapping[str, str]:
    """What the engine of a shipped log was told; nothing of other logs."""
    rows = csv.DictReader(io.StringIO(table_text(shipped_table("serving_request_logs"))))
    kept = {"row_id", "split", "group", "source", *NEEDED, "scheduled_s"}
    found = next((row for row in rows if row["log"] == name), {})
    return {key: text for key, text in found.items() if key not in kept}


def _by_name(name: str) -> Mapping[str, str]:
    """Chip and model of a log that is named after them, like ``RTX4090__Llama-3.1-8B``; it is taken as vLLM's."""
    chip, apart, model = name.partition("__")
    return {"chip": chip, "model": model, "engine": "vllm", "tp": "1"} if apart else {}


def _unknown(head: RowHead, name: str, lacking: Iterable[str], file: Path | None) -> UnreadRow:
    beside = "" if file is None else f", or in {file.name.removesuffix('.csv')}_engines.csv beside the file"
    reason = f"the log {name} does not say its {', '.join(lacking)}; give them as columns{beside}"
    return UnreadRow(row_id=name, group=head.group, split=head.split, reason=reason)
