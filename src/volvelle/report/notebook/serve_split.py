"""How a model is served by two pools, as a notebook shows it."""

from collections.abc import Mapping, Sequence
from typing import Any

from volvelle.report.documents.serve_split import ServeSplitDocument
from volvelle.report.notebook.shown import Presentation, Row, Shown
from volvelle.report.serving.split_text import (
    POOLS,
    figure_lines,
    latency_rows,
    link_text,
    pool_rows,
    pool_text,
    question_text,
    title_text,
)
from volvelle.report.sheet import Sheet
from volvelle.verbs.serving.split import SplitServing

_LATENCY = ("latency", "mean", "median", "p90", "p99")


def _shown(answer: SplitServing) -> Shown:
    pools = [f"{pool.name}: {pool_text(pool)}" for pool in (answer.prefill, answer.decode)]
    sheets = (
        ("What clients measure", _LATENCY, tuple(latency_rows(answer)), frozenset(_LATENCY[1:])),
        ("Pools", POOLS, tuple(pool_rows(answer)), frozenset(POOLS[1:6])),
    )
    problems = [f"cannot run: {found.problem}; {' or '.join(found.cures[:2])}" for found in answer.violations]
    return Shown(
        title=f"{title_text(answer)}: {question_text(answer)}",
        figures=[*pools, link_text(answer), *figure_lines(answer)],
        warnings=[*answer.warnings, *problems],
        sheets=tuple(
            Sheet(title=title, columns=columns, rows=rows, numbers=numbers)
            for title, columns, rows, numbers in sheets
            if rows
        ),
        details=(Sheet(title="Notes", columns=("note",), rows=tuple((note,) for note in answer.notes)),),
    )


def _rows(answer: SplitServing, document: Mapping[str, Any]) -> Sequence[Row]:
    """Latencies of the load; of what cannot run, parts of the memory of both pools."""
    if document["load"] is not None:
        return [
            {"latency": name, "mean": row["mean"], "median": row["median"], "std": row["std"], **row["percentiles"]}
            for name, row in document["load"]["latencies"].items()
        ]
    names = ("prefill", "decode")
    return [{"pool": name, **part} for name in names for part in document[name]["serving_memory"]["parts"]]


SPLIT = Presentation(verb="serve", document=ServeSplitDocument.model_validate, rows=_rows, shown=_shown)
