"""Sections that several answers have: where time goes, what memory holds, laws, sources."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from volvelle.catalogue.schema import Reference
from volvelle.estimators.result import Contribution, Estimate, Violation
from volvelle.laws.citations import LAWS, Law
from volvelle.quantities import BYTES, SECONDS, Bytes, show
from volvelle.report.estimate_pictures import line_words, memory_picture, time_picture
from volvelle.report.estimate_text import bound_words
from volvelle.report.page.builder import source_link
from volvelle.report.page.parts import Bullets, Cell, Grid, Part, Picture, Row, Section, Words


def laws_of(timed: Estimate[Any, Any]) -> list[Law]:
    """The laws of an estimate, in order of appearance."""
    names = [line.law for line in timed.contributions] + [part.law for part in timed.memory]
    return [LAWS[name] for name in dict.fromkeys(names) if name in LAWS]


def violation_parts(violations: Sequence[Violation]) -> tuple[Part, ...]:
    """Problems, each with its cures."""
    return tuple(part for found in violations for part in (Words(found.problem), Bullets(found.cures)))


def time_section(timed: Estimate[Any, Any]) -> Section:
    """Where the time goes: a picture, and a line for every contribution."""
    drawn = Picture(draw=lambda width: time_picture(timed, width=width))
    return Section(title="Where the time goes", anchor="time", parts=(drawn, _time(timed)))


def memory_section(timed: Estimate[Any, Any], *, rank: str = "", host: Bytes | None = None) -> Section:
    """What the fullest rank holds, against what a chip has."""
    drawn = Picture(draw=lambda width: memory_picture(timed, rank=rank, host=host, width=width))
    parts: tuple[Part, ...] = (drawn, _memory(timed)) if timed.memory else ()
    return Section(title="What memory holds", anchor="memory", parts=parts)


def _numbers(timed: Estimate[Any, Any]) -> Mapping[str, int]:
    return {law.name: number for number, law in enumerate(laws_of(timed), start=1)}


def _law_cell(name: str, law: Mapping[str, int]) -> Cell | str:
    return Cell(text=f"[{law[name]}] {name}", link=f"#law-{law[name]}") if name in law else name


def _time(timed: Estimate[Any, Any]) -> Grid:
    law = _numbers(timed)

    def row(line: Contribution) -> Row:
        share = 100 * line.time / timed.time
        return Row(
            cells=(
                line.part,
                line_words(line) if line.exposed else f"{line_words(line)}, hidden",
                Cell(text=show(line.time, SECONDS), value=line.time),
                Cell(text=f"{share:.1f} %", value=share) if line.exposed else "–",
                bound_words(line.resource),
                _law_cell(line.law, law),
            ),
            marks=f"{line_words(line)}: {show(line.time, SECONDS)}",
            faint=not line.exposed,
        )

    order = {part: place for place, part in enumerate(timed.parts())}
    lines = sorted(
        timed.contributions, key=lambda line: (not line.exposed, order.get(line.part, len(order)), -line.time)
    )
    return Grid(
        title="Contributions to the time of a step",
        columns=("part", "line", "time", "share", "bound by", "law"),
        rows=tuple(map(row, lines)),
        numbers=frozenset({"time", "share"}),
        note="Shares are of the step; hidden lines run behind other work and have none.",
    )


def _memory(timed: Estimate[Any, Any]) -> Grid:
    law, capacity = _numbers(timed), timed.capacity
    parts = sorted(timed.memory, key=lambda part: -part.bytes)
    return Grid(
        title="What the fullest rank holds",
        columns=("part", "bytes", "of memory", "law"),
        rows=tuple(
            Row(
                cells=(
                    part.name,
                    Cell(text=show(part.bytes, BYTES), value=part.bytes),
                    Cell(text=f"{100 * part.bytes / capacity:.1f} %", value=part.bytes),
                    _law_cell(part.law, law),
                ),
                marks=f"{part.name}: ",
            )
            for part in parts
        ),
        numbers=frozenset({"bytes", "of memory"}),
    )


def cite(key: str, references: Mapping[str, Reference]) -> Cell:
    """A short citation that leads to the list of sources."""
    known = references.get(key)
    if known is None:
        return Cell(text=key)
    first = known.authors.split(",")[0].split(" et al")[0].strip()
    return Cell(text=f"{first} {known.year}", link=f"#source-{key}")


def laws_section(timed: Estimate[Any, Any], references: Mapping[str, Reference]) -> Section:
    """The laws, each with its paper."""
    grid = Grid(
        title="Laws",
        columns=("number", "law", "paper", "where it stands"),
        rows=tuple(
            Row(
                cells=(f"[{number}]", law.name, cite(law.paper, references), law.place),
                anchor=f"law-{number}",
            )
            for number, law in enumerate(laws_of(timed), start=1)
        ),
    )
    return Section(title="Laws", anchor="laws", parts=(grid,) if grid.rows else ())


def sources_section(keys: Iterable[str], references: Mapping[str, Reference]) -> Section:
    """Publications in full, each with its address where one is known."""
    known = [(key, references[key]) for key in dict.fromkeys(keys) if key in references]
    grid = Grid(
        title="Sources",
        columns=("authors", "year", "title", "place"),
        rows=tuple(
            Row(
                cells=(found.authors, str(found.year), found.title, source_cell(found)),
                anchor=f"source-{key}",
            )
            for key, found in sorted(known, key=lambda pair: (pair[1].authors, pair[1].year))
        ),
    )
    return Section(title="Sources", anchor="sources", parts=(grid,) if known else ())


def source_cell(found: Reference) -> Cell:
    """Where a publication is, with its address where one is known."""
    return Cell(text=found.place, link=source_link(found.place))
