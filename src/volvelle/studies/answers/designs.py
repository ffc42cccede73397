"""Designs: points of a study as they are shown, and the condition that a point must meet to count."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from volvelle.quantities import FRACTION, show
from volvelle.studies.design_space.axes import Value
from volvelle.studies.design_space.design_study import DesignStudy
from volvelle.studies.design_space.expressions import Expression
from volvelle.studies.design_space.measures import MEASURES
from volvelle.studies.sweep.query import Query

_MANY = 2_000
"""Points fetched by one query."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """One point of a study."""

    number: int
    fields: Mapping[str, Value]
    """What the axes have there, in the order of the study."""
    measures: Mapping[str, float]
    layout: Mapping[str, int | str]
    """The layout that was found best there, in numbers and words; empty where it was given."""


def quoted(name: str) -> str:
    """A column's name in SQL."""
    return '"' + name.replace('"', '""') + '"'


def where(conditions: Iterable[Expression]) -> str:
    """The points that run and meet conditions, as SQL."""
    given = list(conditions)
    # To DuckDB what is not a number is larger than any number, and would meet every lower limit.
    named = sorted({name for expression in given for name in expression.names if name in MEASURES})
    known = [f"isfinite(TRY_CAST({quoted(name)} AS DOUBLE)) IS NOT FALSE" for name in named]
    return " AND ".join(["feasible", *known, *(expression.sql() for expression in given)])


def designs_of(rows: Iterable[Mapping[str, Any]], study: DesignStudy) -> tuple[Design, ...]:
    """Rows of results as designs."""
    paths = [path for axis in study.axes for path in axis.columns]
    measures = set(study.measures)
    apart = {"point", "feasible", "reason", *paths}
    return tuple(
        Design(
            number=int(row["point"]),
            fields={path: row[path] for path in paths},
            measures={name: float(row[name]) for name in row if name in measures or name.startswith("time.")},
            layout={
                name: value if isinstance(value, str) else int(value)
                for name, value in row.items()
                if name not in apart and name not in measures and not name.startswith("time.") and value is not None
            },
        )
        for row in rows
    )


def fetch(query: Query, study: DesignStudy, numbers: Sequence[int]) -> tuple[Design, ...]:
    """Designs by their numbers, in that order."""
    found: dict[int, Design] = {}
    for start in range(0, len(numbers), _MANY):
        listed = ", ".join(str(int(number)) for number in numbers[start : start + _MANY])
        for design in designs_of(query.rows(f"SELECT * FROM points WHERE point IN ({listed})"), study):
            found[design.number] = design
    return tuple(found[int(number)] for number in numbers)


def field_text(path: str, value: Value, study: DesignStudy) -> str:
    """A value of an axis, as a person reads it."""
    kind = study.kind_of(path)
    if isinstance(value, str | bool):
        return str(value)
    return _plain(float(value)) if kind is None else show(float(value), kind)


def measure_text(name: str, value: float) -> str:
    """A measure, as a person reads it."""
    known = MEASURES.get(name)
    if value != value:  # noqa: PLR0124 - not a number: nobody could say
        return "–"
    if known is None or known.kind is None:
        return f"{_plain(value)} days" if name == "days" else _plain(value)
    if known.kind is FRACTION:
        return f"{100 * value:.1f} %"
    return show(value, known.kind)


def _plain(value: float) -> str:
    if value == int(value) and abs(value) < 1e9:
        return f"{int(value):,}"
    for size, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M")):
        if abs(value) >= size:
            return f"{value / size:#.3g}".rstrip(".") + f" {letter}"
    # Noughts at the end stay, so that columns of such figures line up.
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:#.3g}".rstrip(".")
