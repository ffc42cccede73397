"""How a model is served, as a notebook shows it."""

from collections.abc import Mapping, Sequence
from typing import Any

from volvelle.applications.serving.part_bounds import TimedPart
from volvelle.quantities import BYTES, SECONDS, percent, show
from volvelle.report.notebook.shown import Drawing, Presentation, Row, Shown, itself
from volvelle.report.serving.text import (
    figure_lines,
    instance_text,
    latency_rows,
    memory_line,
    question_text,
    title_text,
)
from volvelle.report.sheet import Sheet
from volvelle.report.speculation.pictures import gain_picture
from volvelle.report.speculation.text import gain_sheets
from volvelle.report.violations_text import violation_warnings
from volvelle.verbs.serving.serve import Serving


def _shown(answer: Serving) -> Shown:
    sheets = []
    if answer.load is not None and answer.load.latencies:
        columns = ("latency", "mean", "median", "p90", "p99")
        rows = tuple(
            (name, *(show(value, SECONDS) for value in row)) for name, row in latency_rows(answer.load).items()
        )
        sheets.append(Sheet(title="What clients measure", columns=columns, rows=rows, numbers=frozenset(columns[1:])))
    if answer.static is not None:
        sheets.append(_time("Where the time to the first token goes", answer.static.prefill, answer.static.ttft))
        sheets.append(_time("Where the time of each further token goes", answer.static.decode, answer.static.tpot))
    return Shown(
        title=f"{title_text(answer)}: {question_text(answer)}",
        figures=[instance_text(answer), *figure_lines(answer), memory_line(answer)],
        warnings=[*answer.warnings, *violation_warnings(answer.violations)],
        pictures=_pictures(answer),
        sheets=(*sheets, *(() if answer.speculation is None else gain_sheets(answer.speculation)), _memory(answer)),
        details=(Sheet(title="Notes", columns=("note",), rows=tuple((note,) for note in answer.notes)),),
    )


def _pictures(answer: Serving) -> tuple[Drawing, ...]:
    gain = answer.speculation
    return () if gain is None else (lambda width: gain_picture(gain, width=width),)


def _time(title: str, parts: Sequence[TimedPart], whole: float) -> Sheet:
    return Sheet(
        title=title,
        columns=("part", "time", "share", "bound by"),
        rows=tuple(
            (part.name, show(part.seconds, SECONDS), percent(part.seconds / whole), part.bound) for part in parts
        ),
        numbers=frozenset(("time", "share")),
    )


def _memory(answer: Serving) -> Sheet:
    held = answer.memory
    return Sheet(
        title="What a chip holds",
        columns=("part", "bytes", "of memory"),
        rows=tuple((part.name, show(part.bytes, BYTES), percent(part.bytes / held.capacity)) for part in held.parts),
        numbers=frozenset(("bytes", "of memory")),
    )


def _rows(answer: Serving, document: Mapping[str, Any]) -> Sequence[Row]:
    """Parts of the time of a batch, or latencies of a load; of what cannot run, parts of the memory."""
    if document["static"] is not None:
        phases = ("prefill", "decode")
        return [{"phase": phase, **part} for phase in phases for part in document["static"][phase]]
    if document["load"] is not None:
        found = document["load"]["latencies"]
        return [
            {"latency": name, "mean": row["mean"], "median": row["median"], "std": row["std"], **row["percentiles"]}
            for name, row in found.items()
        ]
    parts: Sequence[Row] = document["serving_memory"]["parts"]
    return parts


SERVING = Presentation(verb="serve", document=itself, rows=_rows, shown=_shown)
