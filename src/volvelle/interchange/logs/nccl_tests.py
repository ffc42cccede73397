"""nccl-tests and rccl-tests as they print: a row a size, out of place and in place side by side."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from volvelle.interchange.logs.lines import Line, RefusedError
from volvelle.interchange.logs.logged import LoggedCollective, Refused
from volvelle.interchange.logs.nccl_rows import ELEMENTS, PROGRAMS, Setting, Timed, believed

_LOOKS = re.compile(rf"^\s*[\d.,]+\s+[\d.,]+\s+(?:{'|'.join(ELEMENTS)})\s")
_PROGRAM = re.compile(r"(?<![a-z_])([a-z_]+)_perf(?:_mpi)?\b")
_RANK = re.compile(
    r"^\s*#?\s*Rank\s+(\d+)\s+(?:Group\s+(\d+)\s+)?Pid\s+\d+ on\s+(\S+) device\s+\d+ \[[^\]]*\] (.+?)\s*$"
)
_STAMP = re.compile(r"\s+\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\s*$")
_CHOICE = re.compile(r"\s+[A-Za-z_]+\s+(?:LL|LL128|SIMPLE|Simple|simple|N/A)\s+\d+\s*$")
"""What RCCL chose: algorithm, protocol, channels."""
_SIDE = 4


def is_row(text: str) -> bool:
    """Whether a line is a row."""
    return _LOOKS.match(text) is not None


def read_nccl_tests(lines: Iterable[Line]) -> tuple[tuple[LoggedCollective, ...], list[Refused]]:
    """All rows of a file, each with the setting of its own test."""
    found: list[LoggedCollective] = []
    refused: list[Refused] = []
    tests = _Tests()
    for line in lines:
        if not is_row(line.text):
            # Where a file begins within a name, all_reduce would be a reduce.
            tests.hear(line.text if line.number > 1 or not line.text.startswith("reduce_") else "")
            continue
        try:
            sides = tuple(_sides(line))
        except RefusedError as why:
            refused.append(Refused(line.number, str(why)))
            continue
        setting = tests.setting()
        for side in sides:
            try:
                found.append(believed(line.number, side, setting))
            except RefusedError as why:
                where = "in place" if side.in_place else "out of place"
                refused.append(Refused(line.number, f"{where}: {why}"))
    return tuple(found), refused


class _Tests:
    """What lines between rows say of the test that is running."""

    def __init__(self) -> None:
        self._setting = Setting()
        self._named: str | None = None
        self._group: str | None = None
        self._ranks: dict[int, str] = {}
        self._chips: set[str] = set()
        self._rows = False

    def hear(self, text: str) -> None:
        rank = _RANK.match(text)
        if rank is not None:
            self._begin()
            # Where ranks are split into groups, each runs a test of its own, and rows are those of the first.
            self._group = rank[2] if self._group is None else self._group
            if rank[2] == self._group:
                self._ranks[int(rank[1])] = rank[3]
                self._chips.add(rank[4])
            return
        if "nThread" in text and "minBytes" in text:
            self._begin()
            return
        if "test concluded" in text:
            return
        program = _PROGRAM.search(text)
        if program is not None:
            self._begin()
            self._named = program[1]
        if "busbw" in text and "time" in text:
            self._setting = replace(self._setting, counts_errors="error" not in text)

    def _begin(self) -> None:
        """After rows, another test begins."""
        if self._rows:
            self.__init__()  # type: ignore[misc]

    def setting(self) -> Setting:
        self._rows = True
        operation = None
        if self._named is not None:
            operation = PROGRAMS.get(self._named, self._named)
        return replace(
            self._setting,
            operation=operation,
            ranks=len(self._ranks) or None,
            nodes=len(set(self._ranks.values())) or None,
            device=self._chips.copy().pop() if len(self._chips) == 1 else ", ".join(sorted(self._chips)),
        )


def _sides(line: Line) -> Iterator[Timed]:
    text = _CHOICE.sub("", _STAMP.sub("", line.text))
    size, elements, element, *rest = text.split()
    reduction = rest.pop(0) if rest and re.fullmatch(r"[a-z]+", rest[0]) and rest[0] not in ("nan", "inf") else ""
    # Sides have four columns each, or eight with times of single iterations; a root makes their number odd.
    if len(rest) % _SIDE == 1 and re.fullmatch(r"-?\d+", rest[0]):
        rest.pop(0)
    if len(rest) not in (_SIDE, 2 * _SIDE, 4 * _SIDE) or (len(rest) == _SIDE and not line.ended):
        raise RefusedError(f"{len(rest)} columns behind the type, and 4, 8 or 16 are known: cut, or lines in one")
    width = len(rest) // 2 if len(rest) > _SIDE else _SIDE
    for place in range(0, len(rest), width):
        yield _timed(size, elements, element, reduction, rest[place : place + _SIDE], in_place=place > 0)


def _timed(size: str, elements: str, element: str, reduction: str, side: Sequence[str], *, in_place: bool) -> Timed:
    time, rate, bus, wrong = side
    return Timed(
        size=size,
        count=elements,
        element=element,
        reduction=reduction,
        time=time,
        rate=rate,
        bus=bus,
        wrong=wrong,
        in_place=in_place,
    )
