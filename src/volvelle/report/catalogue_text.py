"""The catalogue as tables."""

from collections.abc import Iterator

from pydantic import BaseModel
from rich.console import Console
from rich.table import Table
from rich.text import Text

from volvelle.catalogue import Catalogue
from volvelle.catalogue.schema import ROOMS, CalibrationFile, ChipFile, ClusterFile, Datum, Entry, LinkFile, ModelFile
from volvelle.quantities import BYTES, BYTES_PER_SECOND, FLOP_PER_SECOND, SECONDS, parse, show
from volvelle.report.terminal import plain_table


def print_rooms(catalogue: Catalogue) -> None:
    """What rooms there are and how much each holds."""
    rows = []
    for room in ROOMS:
        names = catalogue.names(room)
        rows.append((room, str(len(names)), ", ".join(names[:: max(1, len(names) // 4)][:4])))
    console = Console(highlight=False)
    columns = ("room", "entries", "for example")
    console.print(plain_table("", columns, rows, numbers=("entries",), folded=("for example",)))
    console.print("\nvolvelle catalogue chips            one line a chip", style="dim")
    console.print("volvelle catalogue chips h100-sxm   every number with its source", style="dim")


def print_room(catalogue: Catalogue, room: str) -> None:
    """One line an entry."""
    console = Console(highlight=False)
    table = Table(box=None, pad_edge=False)
    entries = [catalogue.entry(room, name) for name in catalogue.names(room)]
    heads = {
        "chips": ("dense bf16", "memory", "rate"),
        "calibrations": ("of peak", "of memory rate", "step error", "runs fitted"),
        "links": ("rate", "one step"),
        "clusters": ("chip", "network, innermost first"),
        "models": ("parameters", "layers", "hidden", "heads", "sequence"),
    }[room]
    table.add_column("name", style="bold", no_wrap=True)
    for head in heads:
        table.add_column(head, justify="left" if room == "clusters" else "right", no_wrap=room != "clusters")
    if room in ("chips", "links"):
        table.add_column("", overflow="ellipsis", no_wrap=True, style="dim", width=max(10, console.width - 58))
    for entry in entries:
        table.add_row(entry.name, *_row(entry))
    console.print(table)


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
    shape = entry.architecture
    count = float(entry.parameters.value) / 1e9
    return (f"{count:.4g} B", str(shape.layers), str(shape.hidden), str(shape.heads), str(shape.sequence))


def _numbers(value: object, path: str = "") -> Iterator[tuple[str, Datum]]:
    """Every datum in an entry, with where it stands."""
    if isinstance(value, Datum):
        yield path, value
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from _numbers(getattr(value, name), f"{path}.{name}" if path else name)
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _numbers(inner, f"{path}.{name}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _numbers(inner, f"{path}.{index}")


def print_entry(catalogue: Catalogue, room: str, name: str) -> None:
    """One entry, every number with its evidence and source."""
    entry = catalogue.entry(room, name)
    console = Console(highlight=False)
    used = set[str]()
    console.print(f"[bold]{entry.name}[/bold]  {entry.title}")
    for field in ("vendor", "family", "launched", "chip", "element", "stack", "default_count", "reduces"):
        value = getattr(entry, field, None)
        if value not in (None, "", False):
            console.print(f"{field.replace('_', ' ')}: {value}")
    if isinstance(entry, ModelFile):
        shape = entry.architecture
        counts = ", ".join(f"{key} {value}" for key, value in shape.model_dump(exclude={"source", "kind"}).items())
        console.print(f"architecture ({shape.kind}, {shape.source}): {counts}")
        used.add(shape.source)
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
    columns = ("number", "value", "spread", "evidence", "source, note")
    table = plain_table("", columns, numbers=("value",), folded=("source, note",))
    for path, datum in _numbers(entry):
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
