"""The Pareto front of a study: exact, over all rows that run and meet the constraints, in one streaming pass.

Every batch is reduced to its own front and merged with the front so far, so memory holds one batch and the front.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from volvelle.errors import DescriptionError
from volvelle.studies.answers.designs import Design, fetch, quoted, where
from volvelle.studies.design_space.design_study import DesignStudy
from volvelle.studies.design_space.measures import Objective
from volvelle.studies.sweep.query import Query

_MOST = 4
_SAMPLE = 4_096
"""Rows of a batch whose front is found first: it strikes out nearly all others cheaply."""
_CELLS = {3: 96, 4: 36}
"""Cells along each of three or four objectives, in which rows are held against the front before they are compared."""
_BLOCK = 256
_SHOWN = 2_000
"""Points of a front that are fetched in full at most; evenly along it, ends included."""

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Front:
    """Points than which no other is better in one objective without being worse in another."""

    objectives: tuple[Objective, ...]
    numbers: Integers
    """Points, by the first objective, best first."""
    values: Floats
    """Their objectives, one column each, as they are (not turned round)."""
    designs: tuple[Design, ...]
    """They in full, or as many of them as are shown, evenly along the front."""
    considered: int
    """Points that run and meet the constraints."""
    ties: int
    """Points as good as one of the front in every objective, left out in favour of the lowest number."""

    def __len__(self) -> int:
        return len(self.numbers)


@dataclass(kw_only=True)
class FrontSoFar:
    """The front of the rows seen so far; less is better in every column."""

    columns: int
    considered: int = 0
    values: Floats = field(init=False)
    numbers: Integers = field(init=False)
    counts: Integers = field(init=False)
    """Rows that have these very values, the kept one included."""

    def __post_init__(self) -> None:
        self.values = np.empty((0, self.columns))
        self.numbers = np.empty(0, dtype=np.int64)
        self.counts = np.empty(0, dtype=np.int64)

    def add(self, values: Floats, numbers: Integers) -> None:
        """See more rows, one objective a column."""
        known = np.isfinite(values).all(axis=1)
        if not known.all():
            values, numbers = values[known], numbers[known]
        self.considered += len(numbers)
        if len(numbers) > 4 * _SAMPLE:
            step = len(numbers) // _SAMPLE
            self._merge(values[::step], numbers[::step])
            rest = np.ones(len(numbers), dtype=bool)
            rest[::step] = False
            values, numbers = values[rest], numbers[rest]
        rows = _not_beaten(values, self.values)
        self._merge(values[rows], numbers[rows])

    def _merge(self, values: Floats, numbers: Integers) -> None:
        values = np.concatenate([self.values, values])
        numbers = np.concatenate([self.numbers, numbers])
        counts = np.concatenate([self.counts, np.ones(len(numbers) - len(self.counts), dtype=np.int64)])
        order = np.lexsort((numbers, *values.T[::-1]))
        values, numbers, counts = values[order], numbers[order], counts[order]
        # Equal rows now lie together, the lowest number first.
        first = np.ones(len(values), dtype=bool)
        first[1:] = (values[1:] != values[:-1]).any(axis=1)
        starts = np.flatnonzero(first)
        counts = np.add.reduceat(counts, starts) if len(starts) else counts
        values, numbers = values[starts], numbers[starts]
        kept = _front_of_sorted(values)
        self.values, self.numbers, self.counts = values[kept], numbers[kept], counts[kept]


def _not_beaten(values: Floats, front: Floats) -> NDArray[np.intp]:
    """Rows that the front so far does not rule out; with one or two objectives exactly those, else more."""
    if not len(front) or not len(values):
        return np.arange(len(values))
    if values.shape[1] == 1:
        return np.flatnonzero(values[:, 0] <= front[0, 0])
    if values.shape[1] == 2:
        # The front falls from left to right: what matters is its last point that is not right of the row.
        place = np.searchsorted(front[:, 0], values[:, 0], side="right") - 1
        over = front[np.maximum(place, 0)]
        beaten = (place >= 0) & (
            (over[:, 1] < values[:, 1]) | ((over[:, 1] == values[:, 1]) & (over[:, 0] < values[:, 0]))
        )
        return np.flatnonzero(~beaten)
    rows, before = np.arange(len(values)), 2 * len(values)
    # What is left lies near the front, so cells are laid anew among it, finer every time, while that helps.
    while _BLOCK < len(rows) < 0.8 * before:
        before = len(rows)
        rows = rows[~_covered(values[rows], front)]
    return rows


def _covered(values: Floats, front: Floats) -> NDArray[np.bool_]:
    """Rows for which a point of the front lies in a cell that is lower along every objective: they are beaten for sure.

    Cells of a table that a point of the front lies in are marked, and with them all that are nowhere lower; a row is
    then looked up, whatever the size of the front.
    """
    count = _CELLS[values.shape[1]]
    some = values[:: max(1, len(values) // _SAMPLE)]
    cells, own = [], []
    for rows, kept, seen in zip(values.T, front.T, some.T, strict=True):
        edges = np.quantile(np.concatenate([kept, seen]), np.linspace(0.0, 1.0, count + 1)[1:-1])
        cells.append(np.searchsorted(edges, rows, side="right") - 1)
        own.append(np.searchsorted(edges, kept, side="right"))
    table = np.zeros((count,) * len(cells), dtype=bool)
    table[tuple(own)] = True
    for axis in range(len(cells)):
        np.logical_or.accumulate(table, axis=axis, out=table)
    lowest = np.minimum.reduce(cells) < 0
    found: NDArray[np.bool_] = table[tuple(np.maximum(one, 0) for one in cells)] & ~lowest
    return found


def _front_of_sorted(values: Floats) -> NDArray[np.intp]:
    """The front of distinct rows in lexical order: no row can be beaten by a later one."""
    if len(values) == 0:
        return np.empty(0, dtype=np.intp)
    if values.shape[1] == 1:
        return np.zeros(1, dtype=np.intp)
    if values.shape[1] == 2:
        lowest = np.minimum.accumulate(values[:, 1])
        kept = np.ones(len(values), dtype=bool)
        kept[1:] = values[1:, 1] < lowest[:-1]
        return np.flatnonzero(kept)
    found = np.empty(0, dtype=np.intp)
    for start in range(0, len(values), _BLOCK):
        rows = np.arange(start, min(start + _BLOCK, len(values)))
        # A block at a time against the front so far, also cut into blocks, so that memory stays small.
        for begin in range(0, len(found), _BLOCK):
            if len(rows):
                rows = rows[~_beats(values[found[begin : begin + _BLOCK]], values[rows]).any(axis=0)]
        if len(rows):
            block = values[rows]
            found = np.concatenate([found, rows[~np.triu(_beats(block, block), k=1).any(axis=0)]])
    return found


def _beats(these: Floats, those: Floats) -> NDArray[np.bool_]:
    """Which of these (down) are nowhere worse than which of those (across), but for the first objective."""
    found = these[:, None, 1] <= those[None, :, 1]
    for column in range(2, these.shape[1]):
        found &= these[:, None, column] <= those[None, :, column]
    return found


def pareto_front(query: Query, study: DesignStudy, *, objectives: Sequence[Objective] | None = None) -> Front:
    """The exact front of a study's results, by its own objectives or others that were written."""
    goals = tuple(study.objectives if objectives is None else objectives)
    if not 1 <= len(goals) <= _MOST:
        raise DescriptionError(f"a front has one to {_MOST} objectives, and {len(goals)} are given; choose among them")
    names = [goal.name for goal in goals]
    signs = np.array([1.0 if goal.less else -1.0 for goal in goals])
    so_far = FrontSoFar(columns=len(goals))
    chosen = ", ".join(quoted(name) for name in ("point", *dict.fromkeys(names)))
    sql = f"SELECT {chosen} FROM points WHERE {where(study.constraints)}"
    for batch in query.batches(sql, ("point", *dict.fromkeys(names))):
        so_far.add(np.column_stack([batch[name] for name in names]) * signs, batch["point"])
    places = np.arange(len(so_far.numbers))
    if len(places) > _SHOWN:
        places = np.unique(np.linspace(0, len(places) - 1, _SHOWN).round().astype(np.int64))
    return Front(
        objectives=goals,
        numbers=so_far.numbers,
        values=so_far.values * signs,
        designs=fetch(query, study, [int(number) for number in so_far.numbers[places]]),
        considered=so_far.considered,
        ties=int((so_far.counts - 1).sum()),
    )
