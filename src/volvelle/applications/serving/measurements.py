"""Reads measured serving: steps, batches, phases, closed loops and saturated engines, of the package or of a file.

What every column means and where each row comes from is said in ``data/measurements/README.md``. A row that states
several figures (time to the first token and time a token) is several measurements.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from volvelle.applications.measured_table import MeasuredTable, RowHead, Split, joined, read_table
from volvelle.applications.serving.number_cells import check_numbers
from volvelle.applications.serving.request_logs import FIGURES, NEEDED, RequestLog, read_logs
from volvelle.applications.table_cells import number, table_text
from volvelle.errors import DescriptionError, UnknownNameError


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredKind:
    """A kind of table: by which columns it is known, and what it states."""

    name: str
    needed: tuple[str, ...]
    measures: Mapping[str, tuple[str, float]]
    """Measure → its column, and the factor to seconds or tokens a second."""


KINDS = {
    kind.name: kind
    for kind in (
        MeasuredKind(
            name="closed_loop",
            needed=("engine", "model", "chip", "tp", "isl", "osl", "concurrency"),
            measures={"ttft": ("ttft_ms", 1e-3), "tpot": ("tpot_ms", 1e-3)},
        ),
        MeasuredKind(
            name="static_latency",
            needed=("engine", "model", "chip", "tp", "isl", "osl", "batch", "latency_s"),
            measures={"latency": ("latency_s", 1.0)},
        ),
        MeasuredKind(
            name="static_phases",
            needed=("engine", "model", "chip", "tp", "isl", "osl", "batch", "prefill_ms"),
            measures={"ttft": ("prefill_ms", 1e-3), "tpot": ("decode_step_ms", 1e-3)},
        ),
        MeasuredKind(
            name="saturated_throughput",
            needed=("engine", "model", "chip", "isl", "osl", "output_tok_s"),
            measures={"throughput": ("output_tok_s", 1.0)},
        ),
        MeasuredKind(
            name="disaggregated",
            needed=("engine", "model", "chip", "isl", "osl", "prefill_tp", "decode_tp", "decode_workers"),
            measures={"ttft": ("ttft_ms", 1e-3), "tpot": ("tpot_ms", 1e-3)},
        ),
        MeasuredKind(
            name="iterations",
            needed=("engine", "model", "chip", "tp", "prefill_tokens", "decode_requests", "decode_context_tokens"),
            measures={"latency": ("latency_ms", 1e-3)},
        ),
        MeasuredKind(
            name="mlperf",
            needed=(
                "model",
                "chip",
                "chips",
                "scenario",
                "framework",
                "tokens_per_s",
                "mean_osl_derived",
                "target_qps",
            ),
            measures={
                "throughput": ("tokens_per_s", 1.0),
                "ttft": ("ttft_mean_ms", 1e-3),
                "tpot": ("tpot_mean_ms", 1e-3),
                "ttft_p99": ("ttft_p99_ms", 1e-3),
                "tpot_p99": ("tpot_p99_ms", 1e-3),
            },
        ),
        MeasuredKind(
            name="request_logs",
            needed=NEEDED,
            measures={"ttft": ("first_token_s", 1.0), "tpot": ("last_token_s", 1.0)},
        ),
    )
}
"""Kinds of tables, the more particular first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingMeasurement:
    """One figure of one measured run."""

    head: RowHead
    kind: str
    measure: str
    """``ttft``, ``tpot``, ``latency`` or ``throughput``; the first two also as ``_p99``."""
    value: float
    """Seconds, or tokens a second."""
    cells: tuple[tuple[str, str], ...]
    """All that the row states, by column."""
    log: RequestLog | None = None
    """Of a row that is a whole log: its requests."""

    @property
    def stated(self) -> Mapping[str, str]:
        """The cells of the row by column."""
        return dict(self.cells)


_APART: Mapping[str, Split] = {
    "given": "heldout_secondary",
    "heldout": "heldout_secondary",
    "calibration": "calibration_noisy",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    head: RowHead
    cells: Mapping[str, str]


def serving_measurements(file: Path | None = None, *, kind: str = "") -> MeasuredTable[ServingMeasurement]:
    """All measurements: those of the package, or those of one file, whose kind its columns tell."""
    if kind and kind not in KINDS:
        raise UnknownNameError.among("kind of serving table", kind, KINDS)
    if file is None:
        return joined(*(_read(one, None) for one in KINDS.values() if not kind or one.name == kind))
    return _read(KINDS[kind] if kind else kind_of(file), file)


def kind_of(file: Path) -> MeasuredKind:
    """The kind of a table, by its columns."""
    header = [name.strip() for name in table_text(file).partition("\n")[0].split(",")]
    for kind in KINDS.values():
        if set(kind.needed) <= set(header) and any(column in header for column, _ in kind.measures.values()):
            return kind
    raise DescriptionError(
        f"{file.name} is no table of serving that is known: its columns are {', '.join(header[:12])}; give one of "
        + "; ".join(f"{kind.name} ({', '.join(kind.needed)})" for kind in KINDS.values())
    )


def states_layout(stated: Mapping[str, str]) -> bool:
    """Whether a result of MLPerf says how its instances were laid out."""
    return bool(stated.get("tp") and stated.get("max_batch_per_engine"))


def _read(kind: MeasuredKind, file: Path | None) -> MeasuredTable[ServingMeasurement]:
    if kind.name == "request_logs":
        return _logs(file)
    table = read_table(
        f"serving_{kind.name}",
        lambda head, cells: _line(kind, head, cells),
        needed=("row_id", *kind.needed),
        measured=[column for column, _ in kind.measures.values()],
        file=file,
    )
    rows = tuple(one for line in table.rows for one in _figures(kind, line))
    return MeasuredTable(rows=rows, unread=table.unread)


def _line(kind: MeasuredKind, head: RowHead, cells: Mapping[str, str]) -> _Line:
    check_numbers(cells, kind.needed)
    for column, _ in kind.measures.values():
        number(cells, column)
    return _Line(head=head, cells=dict(cells))


def _logs(file: Path | None) -> MeasuredTable[ServingMeasurement]:
    """Every log, as one row of several figures."""
    unread, logs = read_logs(file)
    rows = tuple(
        ServingMeasurement(
            head=replace(head, row_id=f"{head.row_id} {measure}", group=f"request_logs {head.group}"),
            kind="request_logs",
            measure=measure,
            value=figure(log),
            cells=tuple(cells.items()),
            log=log,
        )
        for head, cells, log in logs
        for measure, figure in FIGURES.items()
    )
    return MeasuredTable(rows=rows, unread=unread)


def _figures(kind: MeasuredKind, line: _Line) -> list[ServingMeasurement]:
    found = []
    cells = tuple(line.cells.items())
    for measure, (column, scale) in kind.measures.items():
        value = number(line.cells, column)
        if value is not None:
            head = replace(line.head, row_id=f"{line.head.row_id} {measure}", group=f"{kind.name} {line.head.group}")
            if line.cells.get("flag") or (kind.name == "mlperf" and not states_layout(line.cells)):
                # What a source doubts, or does not state, is scored apart.
                head = replace(head, split=_APART.get(head.split, head.split), flags=line.cells.get("flag", ""))
            found.append(
                ServingMeasurement(head=head, kind=kind.name, measure=measure, value=value * scale, cells=cells)
            )
    return found
