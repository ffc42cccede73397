"""A picture of a replayed step: a row for every stage, what it works on and when it waits."""

from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from volvelle.estimators.event_driven.estimator import ReplayedStep
from volvelle.mapping.schedule import Work
from volvelle.quantities import SECONDS, show
from volvelle.report.figures.engine import Chart
from volvelle.report.figures.row_bars import BarRow, Piece, row_chart
from volvelle.report.figures.theme import BLUE, GREEN, GREY, GRID, ORANGE, RUST, SAND, WIDE

_PAIR, _REST, _WAITS = "forward with backward", "optimiser and gradients", "waiting"
_KINDS = {
    Work.FORWARD.word: BLUE,
    Work.BACKWARD.word: ORANGE,
    Work.INPUT_GRADIENTS.word: RUST,
    Work.WEIGHT_GRADIENTS.word: SAND,
    _PAIR: GREEN,
    _REST: GREY,
    _WAITS: GRID,
}
_WORDS = tuple(_KINDS)
_MOST_ROWS = 16
"""Stages that are drawn; of more, some at equal distances, the first and the last among them."""
_PIXELS = 160
"""Instants that a row is divided into, each shown as what takes most of it."""


def schedule_picture(replayed: ReplayedStep, *, width: float = WIDE) -> Chart:
    """Stages below each other, from the start of the step to its end."""
    stages = replayed.step.order.stages
    drawn = np.unique(np.linspace(0, stages - 1, min(stages, _MOST_ROWS)).round().astype(int)).tolist()
    waits = replayed.idle(replayed.stage).time()
    longest = ", ".join(
        f"{line.name} {show(seconds, SECONDS)}"
        for line, seconds in sorted(waits.items(), key=lambda item: -item[1])[:3]
    )
    return row_chart(
        [_row(replayed, stage) for stage in drawn],
        name="time of a step",
        kind=SECONDS,
        colours=_KINDS,
        title=f"{show(replayed.time, SECONDS)} stage by stage",
        about=f"What {stages} pipeline stages work on from the start of a step to its end. "
        f"Stage {replayed.stage}, which has most to do, waits for: {longest or 'nothing'}.",
        said=f"Each of {_PIXELS} instants is shown as what takes most of it; exchanges inside blocks count as work.",
        width=width,
    )


def _row(replayed: ReplayedStep, stage: int) -> BarRow:
    instants = _instants(replayed, stage)
    each = replayed.time / _PIXELS
    pieces = []
    for kind, run in groupby(instants.tolist()):
        seconds = each * len(list(run))
        pieces.append(Piece(kind=_WORDS[kind], value=seconds, tells=f"stage {stage}: {_WORDS[kind]}"))
    return BarRow(label=f"stage {stage}", pieces=tuple(pieces))


def _instants(replayed: ReplayedStep, stage: int) -> NDArray[np.intp]:
    """What a stage does in each of so many equal parts of the step, by its place among the kinds."""
    slots = replayed.step.slots
    own = np.flatnonzero(slots.stage == stage)
    last = slots.last[own]
    kinds = slots.work[own].astype(np.intp)
    paired = np.flatnonzero(last[1:] == last[:-1])
    kinds[paired + 1] = _WORDS.index(_PAIR)
    alone = np.ones(len(own), dtype=bool)
    alone[paired] = False
    starts, ends, kinds = replayed.ends[slots.first[own]][alone], replayed.ends[last][alone], kinds[alone]
    computing = replayed.step.graph.streams == replayed.step.stream(stage)
    end = float(replayed.ends[computing].max())
    starts, ends = np.append(starts, ends.max()), np.append(ends, end)
    kinds = np.append(kinds, _WORDS.index(_REST))
    edges = np.linspace(0.0, replayed.time, _PIXELS + 1)
    spent = np.zeros((len(_WORDS), _PIXELS))
    for kind in np.unique(kinds):
        some = kinds == kind
        corners = np.column_stack((starts[some], ends[some])).ravel()
        done = np.cumsum(np.column_stack((np.zeros(int(some.sum())), ends[some] - starts[some])).ravel())
        spent[kind] = np.diff(np.interp(edges, corners, done))
    spent[_WORDS.index(_WAITS)] = replayed.time / _PIXELS - spent.sum(axis=0)
    found: NDArray[np.intp] = np.argmax(spent, axis=0)
    return found
