"""The catalogue as tables."""

from collections.abc import Iterator, Sequence

from rich.text import Text

from volvelle.catalogue import Catalogue
from volvelle.catalogue.exact import ExactNumber, numbers_of
from volvelle.catalogue.schema import (
    CalibrationFile,
    ChipFile,
    ClusterFile,
    Entry,
    LinkFile,
    ModelFile,
    ReliabilityFile,
)
from volvelle.catalogue.search import KINDS, STACKS, Match
from volvelle.catalogue.stacks import runs_of_stack, stack_entries
from volvelle.quantities import (
    BYTES,
    BYTES_PER_SECOND,
    DAY,
    EVENTS_PER_SECOND,
    FLOP_PER_SECOND,
    SECONDS,
    parse,
    show,
)
from volvelle.report.terminal import plain_table, wide_console

_WIDE = 80
"""Columns from which on titles have room beside numbers."""
_SHOWN = {
    "chips": ("name", "dense bf16", "memory", "rate", "what it is"),
    "calibrations": ("name", "of peak", "of memory rate", "step error", "runs fitted"),
    "links": ("name", "rate", "one step", "what it is"),
    "clusters": ("name", "chip", "network, innermost first"),
    "models": ("name", "parameters", "layers", "hidden", "heads", "context"),
    "reliability": ("name", "faults a 1000 node-days", "restart", "what counts"),
    STACKS: ("name", "usual for", "timed on (runs)", "what it is"),
}
_WORDS = ("name", "chip", "network, innermost first", "usual for", "timed on (runs)", "what counts", "what it is")


def names(catalogue: Catalogue, room: str) -> tuple[str, ...]:
    """Names of a room, software too."""
    return tuple(stack_entries()) if room == STACKS else catalogue.names(room)


def print_rooms(catalogue: Catalogue) -> None:
    """What kinds of entries there are and how many of each."""
    rows = []
    for room in KINDS:
        known = names(catalogue, room)
        rows.append((room, str(len(known)), ", ".join(known[:: max(1, len(known) // 4)][:4])))
    console = wide_console()
    columns = ("kind", "entries", "for example")
    console.print(plain_table("", columns, rows, numbers=("entries",), folded=("for example",)))
    told = {
        "chips": "one line a chip",
        "h100": "all that has to do with it",
        "h100-sxm": "every number with its source",
    }
    hints = ((f"volvelle catalogue {word}", said) for word, said in told.items())
    console.print(plain_table("", ("", ""), hints, folded=("",)), style="dim")


def print_room(catalogue: Catalogue, room: str) -> None:
    """One line an entry."""
    console = wide_console()
    columns = _SHOWN[room]
    if console.width < _WIDE and room in ("chips", "links"):
        columns = columns[:-1]
    table = plain_table("", columns, numbers=[name for name in columns if name not in _WORDS])
    rows = map(_stack_row, stack_entries()) if room == STACKS else _rows(catalogue, room)
    for row in rows:
        table.add_row(*row[: len(columns)])
    console.print(table)


def print_matches(matches: Sequence[Match]) -> None:
    """Entries that were looked for."""
    rows = [(match.room, match.name, match.title) for match in matches]
    console = wide_console()
    console.print(plain_table("", ("kind", "name", "what it is"), rows, folded=("what it is",)))
    first = matches[0]
    console.print(f"\nvolvelle catalogue {first.room} {first.name}: every number of it, with its source", style="dim")


def print_exact(found: Sequence[ExactNumber]) -> None:
    """Numbers that enter as exact."""
    rows = [(one.room, one.name, one.number, one.value, one.evidence) for one in found]
    console = wide_console()
    console.print(plain_table("", ("kind", "name", "number", "value", "evidence"), rows, numbers=("value",)))
    console.print(f"\n{len(rows)} numbers are taken as exact: their sources state no spread", style="dim")


def _rows(catalogue: Catalogue, room: str) -> Iterator[tuple[str, ...]]:
    for name in catalogue.names(room):
        entry = catalogue.entry(room, name)
        yield entry.name, *_row(entry)


def _stack_row(name: str) -> tuple[str, ...]:
    entry = stack_entries()[name]
    timed = ", ".join(f"{family} {runs}" for family, runs in runs_of_stack(name).items())
    return name, ", ".join(entry.usual_for) or "–", timed or "none", entry.title


def _row(entry: Entry) -> tuple[str, ...]:
    if isinstance(entry, ChipFile):
        rate = entry.matrix_rate.get("bf16") or entry.matrix_rate.get("fp16")
        return (
            "–" if rate is None else show(parse(rate.value, FLOP_PER_SECOND), FLOP_PER_SECOND),
            show(parse(entry.memories[0].capacity.value, BYTES), BYTES),
            show(parse(entry.memories[0].rate.value, BYTES_PER_SECOND), BYTES_PER_SECOND),
            entry.title,
        )
    if isinstance(entry, CalibrationFile):
        stated = (entry.constants.get(name) for name in ("matrix_efficiency", "memory_efficiency", "step_error"))
        runs = str(entry.domain.runs) if entry.domain else "–"
        return (*("–" if datum is None else str(datum.value) for datum in stated), runs)
    if isinstance(entry, LinkFile):
        return (
            show(parse(entry.rate.value, BYTES_PER_SECOND), BYTES_PER_SECOND),
            show(parse(entry.latency.value, SECONDS), SECONDS),
            entry.title,
        )
    if isinstance(entry, ClusterFile):
        network = " × ".join(f"{d.name} ({d.topology}, {d.size})" for d in entry.dimensions)
        return (entry.chip, network)
    if isinstance(entry, ReliabilityFile):
        node = next((hazard for hazard in entry.hazards if hazard.part == "node"), None)
        restart = next((time.time.value for time in entry.times if time.phase == "restart"), "–")
        often = "–" if node is None else f"{1000.0 * DAY * parse(node.rate.value, EVENTS_PER_SECOND):.3g}"
        return often, str(restart), entry.title if node is None else f"{entry.title}: {node.what_counts}"
    shape = entry.architecture
    count = float(entry.parameters.value) / 1e9
    context = "unknown" if entry.context is None else str(entry.context.value)
    return (f"{count:.4g} B", str(shape.layers), str(shape.hidden), str(shape.heads), context)


def print_entry(catalogue: Catalogue, room: str, name: str) -> None:
    """One entry, every number with its evidence and source."""
    console = wide_console()
    if room == STACKS:
        for head, cell in zip(_SHOWN[STACKS], _stack_row(name), strict=True):
            console.print(f"{head}: {cell}")
        return
    entry = catalogue.entry(room, name)
    used = set[str]()
    console.print(f"[bold]{entry.name}[/bold]  {entry.title}")
    for field in ("vendor", "family", "launched", "chip", "element", "stack", "default_count", "reduces"):
        value = getattr(entry, field, None)
        if value not in (None, "", False):
            console.print(f"{field.replace('_', ' ')}: {value}")
    if isinstance(entry, ModelFile):
        shape = entry.architecture
        stated = shape.model_dump(exclude={"source", "kind"}).items()
        counts = ", ".join(f"{key} {value}" for key, value in stated if value not in (None, "", False, 0, {}))
        console.print(f"architecture ({shape.kind}, {shape.source}): {counts}")
        used.add(shape.source)
        if entry.published_weights is not None:
            weights = entry.published_weights
            console.print(f"published weights ({weights.kind}, {weights.source}): {weights.value}")
            used.add(weights.source)
    if isinstance(entry, ChipFile):
        console.print(f"what runs on it taught: volvelle catalogue calibrations {entry.name}", style="dim")
    if isinstance(entry, CalibrationFile) and entry.domain:
        runs = entry.domain
        console.print(
            f"fitted to {runs.runs} runs on {runs.chips[0]} to {runs.chips[1]} chips in {', '.join(runs.elements)}: "
            f"{', '.join(runs.publications)}"
        )
    if isinstance(entry, ClusterFile):
        for index, d in enumerate(entry.dimensions):
            size = f"size {d.size}" + (f" ({d.size_source})" if d.size_source else "")
            console.print(f"dimension {index}: {d.name}, {d.topology}, {size}, link {d.link}")
    if isinstance(entry, ReliabilityFile):
        for index, hazard in enumerate(entry.hazards):
            console.print(f"hazard {index}: of a {hazard.part}; what counts: {hazard.what_counts}")
        for index, phase in enumerate(entry.times):
            console.print(f"time {index}: {phase.phase}, {phase.way}")
    columns = ("number", "value", "spread", "evidence", "source, note")
    table = plain_table("", columns, numbers=("value",), folded=("source, note",))
    for path, datum in numbers_of(entry):
        spread = datum.spread
        if spread is None:
            around = ""
        elif spread.interval:
            around = " … ".join(str(end) for end in spread.interval)
        else:
            around = f"×/÷ {spread.lognormal}" if spread.lognormal else f"± {spread.normal}"
        used.add(datum.source)
        note = f": {datum.note}" if datum.note else ""
        table.add_row(path, str(datum.value), around, datum.kind, Text(datum.source + note, style="dim"))
    console.print(table)
    if entry.notes:
        console.print(entry.notes)
    console.print("\n[bold]sources[/bold]")
    references = catalogue.references
    for key in sorted(used):
        reference = references[key]
        console.print(
            f"  {key}: {reference.authors} ({reference.year}), {reference.title}. {reference.place}",
            style="dim",
        )
