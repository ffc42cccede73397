"""A CSV of MPI events, a row a call: read with every cell looked at, and written.

Lines that begin with # tell of the whole: ``# ranks: 16``, ``# group row0: 0 1 2 3``, ``# not recorded: Iprobe 12``.
Then comes a line with names of columns. Rows of a rank stand in the order of its program; ranks may be mixed.
"""

import csv
import gzip
import io
import re
from array import array
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TextIO, TypeVar

import numpy as np

from volvelle.domains import NumberDomain
from volvelle.errors import DescriptionError, brief
from volvelle.input_limits import other_reader, read_bytes
from volvelle.interchange.mpi_traces.event_columns import (
    RANKS_FROM_ZERO,
    REQUEST,
    EventColumns,
    event_columns,
)
from volvelle.workload.message_passing.calls import FIRST_COLLECTIVE, POSTED, ROOTED, Call, call_of
from volvelle.workload.message_passing.trace import MESSAGE, MOMENT, NONE, RANKS, TAG, WORLD, MessageTrace, RankGroup

LARGEST = 2**28
"""Bytes of a file, and of what a compressed one holds."""
MOST_EVENTS = 3_000_000
_AT_ONCE = 2**21
"""Characters whose rows are read together."""
_LONGEST_LINE = 10_000
_GZIP = b"\x1f\x8b"
_NEEDED = ("rank", "call", "partner", "bytes", "start", "end")
_COLUMNS = ("rank", "call", "partner", "bytes", "tag", "group", "request", "start", "end", "compute")
_TOLD = re.compile(r"#\s*(ranks|not recorded|group)\b\s*([^:]*):\s*(.*)", re.IGNORECASE)
_OVERLAP = 1e-9
"""Seconds by which a call may begin before the one above it ended: times are written with so many digits."""
_WHOLE = ("rank", "call", "partner", "size", "tag", "group", "waited", "line")
_REAL = ("start", "end", "compute")
Kind = TypeVar("Kind", int, float)


def read_events(file: Path) -> MessageTrace:
    """The events of a CSV file, compressed by gzip or not."""
    return _Reading(file).trace(_lines(file))


def _lines(file: Path) -> TextIO:
    try:
        found = read_bytes(file, most=LARGEST)
    except FileNotFoundError:
        raise DescriptionError(f"there is no trace {str(file)!r}; give a CSV of events") from None
    if found[:2] == _GZIP:
        found = _unpacked(found, file)
    other = other_reader(str(file), found[:64])
    if other and not other.endswith(f"volvelle mpi {file}"):
        raise DescriptionError(f"{str(file)!r} is no CSV of events: {other}")
    if not found.strip():
        raise DescriptionError(f"the trace {str(file)!r} is empty; give a row for every call")
    return io.TextIOWrapper(io.BytesIO(found), encoding="utf-8-sig", newline=None)


def _unpacked(found: bytes, file: Path) -> bytes:
    try:
        with gzip.open(io.BytesIO(found)) as opened:
            plain = opened.read(LARGEST + 1)
    except (OSError, EOFError, ValueError) as error:
        raise DescriptionError(f"{str(file)!r} cannot be unpacked: {error}; compress it again") from None
    if len(plain) > LARGEST:
        raise DescriptionError(f"{str(file)!r} holds more than {LARGEST // 2**20} MiB; take a part of the run")
    return plain


class _Reading:
    """What is known of a file while its rows are read."""

    def __init__(self, file: Path) -> None:
        self.file = str(file)
        self.number = 0
        self.read = 0
        """Lines before those that are looked at."""
        self.ranks = 0
        self.groups: dict[str, tuple[int, ...]] = {}
        self.left_out: dict[str, int] = {}
        self.whole_rows, self.real_rows = array("q"), array("d")
        """Cells of all rows, one row after the other, in the order of `_WHOLE` and `_REAL`."""
        self.names: dict[str, int] = {WORLD: 0}
        """Groups that rows name."""
        self.open: dict[tuple[int, int], int] = {}
        """Row of every request that nothing waited for."""
        self.ended: dict[int, float] = {}
        """End of the last call of every rank."""

    @property
    def rows(self) -> int:
        """That were read."""
        return len(self.real_rows) // len(_REAL)

    def wrong(self, found: str, cure: str) -> DescriptionError:
        return DescriptionError(f"{self.file!r}, line {self.number}: {found}; {cure}")

    def trace(self, lines: TextIO) -> MessageTrace:
        columns: list[str] = []
        while block := self._block(lines, whole=bool(columns)):
            numbers, text = self._without_heads(block)
            if text and columns:
                self._rows(columns, numbers, text)
            elif text:
                self.number = numbers[0]
                columns = self._columns(self._cells(text))
            self.read += block.count("\n")
        if not self.rows:
            raise DescriptionError(f"the trace {self.file!r} has no events; give a row for every call")
        if self.open:
            (rank, request), row = min(self.open.items(), key=lambda item: item[1])
            self.number = self.whole_rows[row * len(_WHOLE) + _WHOLE.index("line")]
            raise self.wrong(
                f"request {request} of rank {rank} is never waited for",
                f"add its row {rank},wait,… with request {request}",
            )
        return self._gathered()

    def _cells(self, line: str) -> list[str]:
        if len(line) > _LONGEST_LINE:
            raise self.wrong(f"it has {len(line):,} characters", "write a row a call")
        if '"' not in line:
            return line.split(",")  # a fifth of the time
        try:
            return next(csv.reader([line], strict=True))
        except (csv.Error, StopIteration) as error:
            raise self.wrong(f"it is no row of a CSV ({error})", "mend it") from None

    def _columns(self, cells: list[str]) -> list[str]:
        names = [cell.strip().lower() for cell in cells]
        missing = [name for name in _NEEDED if name not in names]
        if missing:
            raise self.wrong(
                f"columns are {brief(', '.join(names))}, without {', '.join(missing)}",
                f"name them {','.join(_COLUMNS)}",
            )
        unknown = [name for name in names if name not in _COLUMNS]
        if unknown or len(set(names)) < len(names):
            told = f"columns {brief(', '.join(unknown))} are not known" if unknown else "a column stands there twice"
            raise self.wrong(told, f"columns are {','.join(_COLUMNS)}")
        return names

    def _head(self, line: str) -> None:
        told = _TOLD.match(line)
        if told is None:
            return
        what, name, rest = told.group(1).lower(), told.group(2).strip(), told.group(3).strip()
        if what == "ranks":
            self.ranks = self._number(rest, int, RANKS, "ranks")
        elif what == "group":
            members = tuple(self._number(word, int, RANKS_FROM_ZERO, "a member") for word in rest.split())
            if not members or len(set(members)) < len(members):
                raise self.wrong(f"group {brief(name)} has members {brief(rest)}", "name each rank of it once")
            if name in self.groups or name == WORLD:
                raise self.wrong(f"group {brief(name)} is there twice", "give every group a name of its own")
            self.groups[name] = members
        else:
            word, _, count = rest.rpartition(" ")
            self.left_out[word or rest] = self._number(count, int, MESSAGE, "a count of calls") if word else 1

    def _block(self, lines: TextIO, *, whole: bool) -> str:
        """The next lines."""
        try:
            return (lines.read(_AT_ONCE) if whole else "") + lines.readline()
        except UnicodeDecodeError:
            raise DescriptionError(
                f"{self.file!r} cannot be read as text in UTF-8 (below line {self.read}); give a CSV of events"
            ) from None

    def _without_heads(self, block: str) -> tuple[Sequence[int], str]:
        """Numbers of lines that are rows, and these rows; what lines with # tell is kept."""
        first = self.read + 1
        if "#" not in block and "\n\n" not in block and not block[0].isspace():
            rows = block.removesuffix("\n")
            return range(first, first + rows.count("\n") + 1), rows
        numbers, kept = [], []
        for self.number, line in enumerate(block.split("\n"), first):
            if line.startswith("#"):
                self._head(line.strip())
            elif line.strip():
                numbers.append(self.number)
                kept.append(line)
        return numbers, "\n".join(kept)

    def _rows(self, columns: list[str], numbers: Sequence[int], text: str) -> None:
        """All at once, and one by one where one of them may be wrong, which then says how."""
        found = event_columns(text, columns, self._group)
        if found is None or self.rows + len(numbers) > MOST_EVENTS or not self._taken(found, numbers):
            for self.number, line in zip(numbers, text.split("\n"), strict=True):
                if line.strip():
                    self._row(columns, self._cells(line))

    def _taken(self, found: EventColumns, numbers: Sequence[int]) -> bool:
        """Whether no rank starts a call before its last ended; if so, the rows are kept."""
        order = np.argsort(found.rank, kind="stable")
        rank, start, end = found.rank[order], found.start[order], found.end[order]
        first = np.flatnonzero(np.diff(rank, prepend=-1))
        before = np.roll(end, 1)
        before[first] = [self.ended.get(number, 0.0) for number in rank[first].tolist()]
        if (start < before - _OVERLAP).any():
            return False
        compute = np.empty_like(found.compute)
        compute[order] = np.where(found.compute[order] < 0.0, np.maximum(start - before, 0.0), found.compute[order])
        waited = np.full(len(numbers), NONE, dtype=np.int64)
        asked = np.flatnonzero(found.request != NONE)
        waits, row = (found.call[asked] == Call.WAIT).tolist(), self.rows
        keys = zip(found.rank[asked].tolist(), found.request[asked].tolist(), strict=True)
        ended = []
        for place, key, wait in zip(asked.tolist(), keys, waits, strict=True):
            if wait is not (key in self.open):
                self.number = numbers[place]
                raise self._not_in_order(key, waits=wait)
            if wait:
                ended.append(self.open.pop(key))
            else:
                self.open[key] = row + place
        waited[found.call == Call.WAIT] = ended
        self.ended.update(zip(rank[first].tolist(), np.append(end[first[1:] - 1], end[-1]).tolist(), strict=True))
        whole = (found.rank, found.call, found.partner, found.size, found.tag, found.group, waited, numbers)
        self.whole_rows.frombytes(np.column_stack(whole).astype(np.int64).tobytes())
        self.real_rows.frombytes(np.column_stack((found.start, found.end, compute)).tobytes())
        return True

    def _group(self, name: str) -> int:
        return self.names.setdefault(name or WORLD, len(self.names))

    def _not_in_order(self, key: tuple[int, int], *, waits: bool) -> DescriptionError:
        rank, request = key
        if waits:
            return self.wrong(
                f"rank {rank} waits for request {request}, which is not open", "post it above, by isend or irecv"
            )
        return self.wrong(f"request {request} of rank {rank} is still open", "wait for it first, or number it anew")

    def _row(self, columns: list[str], cells: list[str]) -> None:
        if len(cells) != len(columns):
            raise self.wrong(f"it has {len(cells)} cells, and there are {len(columns)} columns", "mend the row")
        row = dict(zip(columns, map(str.strip, cells), strict=True))
        if self.rows >= MOST_EVENTS:
            raise self.wrong(f"there are more than {MOST_EVENTS:,} events", "take a part of the run, or fewer ranks")
        call = call_of(row["call"])
        if call is None:
            cure = (
                "write isend, irecv and a wait for each"
                if "sendrecv" in row["call"].lower()
                else (
                    "leave it out and say '# not recorded: CALL COUNT' above, or write one of "
                    + ", ".join(c.word for c in Call)
                )
            )
            raise self.wrong(f"the call {brief(row['call'])} is not known", cure)
        rank = self._number(row["rank"], int, RANKS_FROM_ZERO, "rank")
        partner, tag, waited = NONE, 0, NONE
        if call < FIRST_COLLECTIVE and call is not Call.WAIT:
            partner = self._number(row["partner"], int, RANKS_FROM_ZERO, f"partner of {call.word}")
            tag = self._number(row.get("tag") or "0", int, TAG, "tag")
        elif call in ROOTED:
            partner = self._number(row["partner"], int, RANKS_FROM_ZERO, f"partner (the root) of {call.word}")
        group = self._group(row.get("group", ""))
        if call in POSTED or call is Call.WAIT:
            key = rank, self._number(row.get("request", ""), int, REQUEST, f"request of {call.word}")
            if (call is Call.WAIT) is not (key in self.open):
                raise self._not_in_order(key, waits=call is Call.WAIT)
            if call is Call.WAIT:
                waited = self.open.pop(key)
            else:
                self.open[key] = self.rows
        size = 0 if call is Call.WAIT else self._number(row["bytes"] or "0", int, MESSAGE, "bytes")
        start = self._number(row["start"], float, MOMENT, "start")
        end = self._number(row["end"], float, MOMENT, "end")
        before = self.ended.get(rank, 0.0)
        if end < start:
            raise self.wrong(f"the call ends at {end} s and starts at {start} s", "mend its times")
        if start < before - _OVERLAP:
            raise self.wrong(
                f"rank {rank} starts it at {start} s, before its row above ended ({before} s)",
                "write the rows of a rank in the order of its program",
            )
        told = row.get("compute", "")
        compute = self._number(told, float, MOMENT, "compute") if told else max(start - before, 0.0)
        self.ended[rank] = end
        self.whole_rows.extend((rank, call, partner, size, tag, group, waited, self.number))
        self.real_rows.extend((start, end, compute))

    def _number(self, text: str, kind: Callable[[str], Kind], domain: NumberDomain, what: str) -> Kind:
        try:
            found: Kind | None = kind(text)
        except ValueError:
            found = None
        if found is None or not domain.least <= found <= domain.most:  # NaN is in no order
            raise self.wrong(f"{what} is {brief(text)}", f"write {domain}")
        return found

    def _gathered(self) -> MessageTrace:
        table = np.frombuffer(self.whole_rows, dtype=np.int64).reshape(-1, len(_WHOLE))
        times = np.frombuffer(self.real_rows, dtype=np.float64).reshape(-1, len(_REAL))
        whole: dict[str, Any] = {name: table[:, place] for place, name in enumerate(_WHOLE)}
        real: dict[str, Any] = {name: times[:, place] for place, name in enumerate(_REAL)}
        highest = int(max(whole["rank"].max(), whole["partner"].max()))
        ranks = self.ranks or highest + 1
        beyond = np.flatnonzero((whole["rank"] >= ranks) | (whole["partner"] >= ranks))
        if len(beyond):
            self.number = int(whole["line"][beyond[0]])
            bad = max(int(whole["rank"][beyond[0]]), int(whole["partner"][beyond[0]]))
            raise self.wrong(f"there is no rank {bad}", f"there are {ranks}, from 0: mend it, or the line '# ranks:'")
        order = np.argsort(whole["rank"], kind="stable")
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        whole = {name: column[order] for name, column in whole.items()}
        waits = whole["waited"] >= 0
        whole["waited"][waits] = place[whole["waited"][waits]]
        trace = MessageTrace(
            name=self.file,
            ranks=ranks,
            groups=self._all_groups(ranks),
            **whole,
            **{name: column[order] for name, column in real.items()},
            left_out=self.left_out,
        )
        self._check_members(trace)
        return trace

    def _all_groups(self, ranks: int) -> tuple[RankGroup, ...]:
        found = []
        for name in self.names:
            members = tuple(range(ranks)) if name == WORLD else self.groups.get(name)
            if members is None:
                raise DescriptionError(
                    f"{self.file!r} has rows of group {brief(name)} and does not say who is in it; add a line "
                    f"'# group {name[:40]}: 0 1 2' above the columns"
                )
            if max(members) >= ranks:
                raise DescriptionError(
                    f"{self.file!r}: group {brief(name)} has rank {max(members)}; there are {ranks}, from 0: mend it"
                )
            found.append(RankGroup(name, members))
        return tuple(found)

    def _check_members(self, trace: MessageTrace) -> None:
        for number, group in enumerate(trace.groups[1:], 1):
            own = trace.group == number
            inside = np.isin(trace.rank, group.members) & (
                (trace.partner == NONE) | np.isin(trace.partner, group.members)
            )
            bad = np.flatnonzero(own & ~inside)
            if len(bad):
                raise DescriptionError(
                    f"{trace.where(int(bad[0]))}: it or its partner is not in group {group.name!r}; add the rank to "
                    f"its line '# group {group.name}:'"
                )


# -- out ---------------------------------------------------------------------------------------------------------------


def write_events(trace: MessageTrace, file: Path) -> None:
    """A trace as it can be read back; its name ends in .csv or .csv.gz."""
    with gzip.open(file, "wt", compresslevel=3) if file.suffix == ".gz" else file.open("w", encoding="utf-8") as opened:
        opened.writelines(event_lines(trace))


def event_lines(trace: MessageTrace) -> Iterable[str]:
    """Its lines."""
    yield f"# ranks: {trace.ranks}\n"
    for group in trace.groups[1:]:
        yield f"# group {group.name}: {' '.join(map(str, group.members))}\n"
    for name, count in trace.left_out.items():
        yield f"# not recorded: {name} {count}\n"
    yield ",".join(_COLUMNS) + "\n"
    posted = np.isin(trace.call, POSTED)
    request = np.where(trace.call == Call.WAIT, trace.waited, np.where(posted, np.arange(len(trace)), NONE))
    words = [call.word for call in Call]
    names = [group.name for group in trace.groups]
    columns = (trace.rank, trace.call, trace.partner, trace.size, trace.tag, trace.group, request)
    times = (trace.start, trace.end, trace.compute)
    for rank, call, partner, size, tag, group, asked, start, end, compute in zip(
        *(column.tolist() for column in (*columns, *times)), strict=True
    ):
        told = "" if partner < 0 else partner
        tagged = tag if call < Call.WAIT else ""
        wanted = "" if asked < 0 else asked
        yield (
            f"{rank},{words[call]},{told},{size},{tagged},{names[group]},{wanted},{start:.9f},{end:.9f},{compute:.9f}\n"
        )
