"""Rows of MPI events read as columns of numbers; nothing where a row has to be looked at by itself."""

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from volvelle.domains import NumberDomain
from volvelle.workload.message_passing.calls import FIRST_COLLECTIVE, POSTED, ROOTED, Call, call_of
from volvelle.workload.message_passing.trace import MESSAGE, MOMENT, NONE, RANKS, TAG, Mask, Real, Whole

RANKS_FROM_ZERO = NumberDomain(0, RANKS.most - 1, whole=True)
REQUEST = NumberDomain(0, 2**62, whole=True)
_COMMA, _END, _POINT, _ZERO = b",\n.0"
_DIGITS = 15
"""Of whole numbers that are exact as reals."""
_SHORT_WORD = 16
_MIXED = np.uint64(0x9E3779B97F4A7C15)
"""Odd, so that it loses nothing of what it multiplies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventColumns:
    """Rows whose cells are each as they should be; how rows follow each other is not looked at."""

    rank: Whole
    call: Whole
    partner: Whole
    size: Whole
    tag: Whole
    group: Whole
    request: Whole
    """Of calls that are waited for and of waits."""
    start: Real
    end: Real
    compute: Real
    """Less than 0: not told."""


def event_columns(text: str, columns: Sequence[str], groups: Callable[[str], int]) -> EventColumns | None:
    """Rows, a line each; None where one may be wrong. `groups` numbers what they name."""
    try:
        return _columns(_Cells(text, columns), groups)
    except (ValueError, csv.Error):
        return None


def _columns(cells: "_Cells", groups: Callable[[str], int]) -> EventColumns:
    every = np.ones(cells.rows, dtype=np.bool_)
    call = cells.words("call", _call_number)
    message = (call < FIRST_COLLECTIVE) & (call != Call.WAIT)
    posted = np.isin(call, POSTED) | (call == Call.WAIT)
    start, end = (cells.real(name, every) for name in ("start", "end"))
    if (end < start).any():
        raise ValueError
    return EventColumns(
        rank=cells.whole("rank", every, RANKS_FROM_ZERO),
        call=call,
        partner=cells.whole("partner", message | np.isin(call, ROOTED), RANKS_FROM_ZERO, other=NONE),
        size=cells.whole("bytes", (call != Call.WAIT) & cells.filled("bytes"), MESSAGE),
        tag=cells.whole("tag", message & cells.filled("tag"), TAG),
        group=cells.words("group", groups),
        request=cells.whole("request", posted, REQUEST, other=NONE),
        start=start,
        end=end,
        compute=cells.real("compute", cells.filled("compute")),
    )


def _call_number(word: str) -> int:
    call = call_of(word)
    if call is None:
        raise ValueError
    return int(call)


class _Cells:
    """Where cells begin and end; digits of a column are read place by place, all rows at once."""

    def __init__(self, text: str, columns: Sequence[str]) -> None:
        if '"' in text:
            lines = text.split("\n")
            rows = list(csv.reader(lines, strict=True))
            if len(rows) != len(lines) or any(len(row) != len(columns) for row in rows):
                raise ValueError
            text = "\n".join(map(",".join, rows))
        self._raw = text.encode() + b"\n"
        self._bytes = np.frombuffer(self._raw, dtype=np.uint8)
        marks = np.flatnonzero((self._bytes == _COMMA) | (self._bytes == _END)).reshape(-1, len(columns))
        ends = self._bytes[marks] == _END
        if ends[:, :-1].any() or not ends[:, -1].all():
            raise ValueError
        begins = np.concatenate(([0], marks.ravel()[:-1] + 1)).reshape(marks.shape)
        self.rows = len(marks)
        none = np.zeros(self.rows, dtype=np.int64)
        self._places = {name: (begins[:, place], marks[:, place]) for place, name in enumerate(columns)}
        for name in ("tag", "group", "request", "compute"):
            self._places.setdefault(name, (none, none))

    def filled(self, column: str) -> Mask:
        """Which rows have something there."""
        begins, ends = self._places[column]
        return ends > begins

    def words(self, column: str, number: Callable[[str], int]) -> Whole:
        """What the words of a column are numbered; `number` is asked once a word, in the order of rows."""
        begins, ends = self._places[column]
        if (ends - begins).max() > _SHORT_WORD:
            cells = self._slices(column, np.ones(self.rows, dtype=np.bool_))
            known = {cell: number(cell.decode().strip()) for cell in dict.fromkeys(cells)}
            return np.array([known[cell] for cell in cells], dtype=np.int64)
        signs, inside = self._signs(begins, ends, _SHORT_WORD)
        halves = np.where(inside, signs, 0).view(np.uint64)
        _, first, which = np.unique(halves[:, 0] * _MIXED + halves[:, 1], return_index=True, return_inverse=True)
        if (halves != halves[first[which]]).any():
            raise ValueError  # two words that mix to one
        numbers = np.zeros(len(first), dtype=np.int64)
        for place in np.argsort(first):
            row = first[place]
            numbers[place] = number(self._raw[begins[row] : ends[row]].decode().strip())
        return numbers[which]

    def whole(self, column: str, asked: Mask, domain: NumberDomain, *, other: int = 0) -> Whole:
        """Whole numbers of the rows that are asked for one."""
        told = self._digits(column, asked)
        values = list(map(int, self._slices(column, asked))) if told is None or told[1] else told[0]
        if len(values) and not domain.least <= np.min(values) <= np.max(values) <= domain.most:
            raise ValueError
        found = np.full(self.rows, other, dtype=np.int64)
        found[asked] = values
        return found

    def real(self, column: str, asked: Mask) -> Real:
        """Seconds of the rows that are asked for some, less than 0 in the others."""
        told = self._digits(column, asked)
        # Digits and powers of ten are exact, so that the quotient is the number which the decimals mean.
        values = np.array(list(map(float, self._slices(column, asked)))) if told is None else told[0] / 10.0 ** told[1]
        if not ((values >= MOMENT.least) & (values <= MOMENT.most)).all():  # NaN is in no order
            raise ValueError
        found = np.full(self.rows, float(NONE))
        found[asked] = values
        return found

    def _slices(self, column: str, asked: Mask) -> list[bytes]:
        raw, (begins, ends) = self._raw, self._places[column]
        return [raw[begin:end] for begin, end in zip(begins[asked].tolist(), ends[asked].tolist(), strict=True)]

    def _signs(self, begins: Whole, ends: Whole, width: int) -> tuple[NDArray[np.uint8], Mask]:
        """The last signs of cells, from behind, and which of them are in the cell."""
        places = ends[:, None] - np.arange(1, width + 1)
        return self._bytes[np.maximum(places, 0)], places >= begins[:, None]

    def _digits(self, column: str, asked: Mask) -> tuple[Real, int] | None:
        """Digits of cells as one whole number each, and how many stand behind the point.

        None where a cell has anything else, or the point stands elsewhere than in others.
        """
        begins, ends = (part[asked] for part in self._places[column])
        lengths = ends - begins
        longest = int(lengths.max(initial=1))
        if lengths.min(initial=1) < 1 or longest > _DIGITS:
            return None
        signs, inside = self._signs(begins, ends, longest)
        signs = np.where(inside, signs, _ZERO).astype(np.uint8)
        points = np.flatnonzero((signs == _POINT).any(axis=0))
        decimals = 0
        if len(points):
            decimals = int(points[0])
            if len(points) > 1 or (signs[:, decimals] != _POINT).any() or longest < 2 or lengths.min() < 2:
                return None
            signs = np.delete(signs, decimals, axis=1)
        digits = signs - np.uint8(_ZERO)  # below 0 it wraps round, to more than 9
        if (digits > 9).any():
            return None
        return digits.astype(np.float64) @ 10.0 ** np.arange(digits.shape[1]), decimals
