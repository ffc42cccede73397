"""Who talks to whom: bytes from rank to rank as a picture; of many ranks, from block of ranks to block of ranks."""

import numpy as np

from volvelle.quantities import BYTES, show
from volvelle.report.figures.engine import Chart, alt, marks_of
from volvelle.report.figures.theme import PALETTE, TELLS, WIDE, finished
from volvelle.report.mpi.text import title_text
from volvelle.verbs.mpi import MpiAnswer

_MOST = 64
"""Cells of a side."""
_SIDE = 420.0
"""Pixels of the picture."""


def matrix_picture(answer: MpiAnswer, width: float = WIDE) -> Chart:
    """Senders down, receivers across."""
    told = answer.summary
    block = -(-told.ranks // _MOST)
    side = -(-told.ranks // block)
    size = np.zeros((side, side))
    messages = np.zeros((side, side), dtype=np.int64)
    np.add.at(size, (told.pairs.source // block, told.pairs.target // block), told.pairs.size)
    np.add.at(messages, (told.pairs.source // block, told.pairs.target // block), told.pairs.messages)
    rows = [
        {
            "from": row,
            "to": column,
            "bytes": float(size[row, column]),
            "tells": f"{_ranks(row, block, told.ranks)} to {_ranks(column, block, told.ranks)}: "
            f"{show(float(size[row, column]), BYTES)} in {messages[row, column]:,} messages",
        }
        for row, column in zip(*np.nonzero(messages), strict=True)
    ]
    rows = [{name: each.item() if isinstance(each, np.generic) else each for name, each in row.items()} for row in rows]
    every = list(range(side))
    labels = f"datum.value * {block}"
    shown = [place for place in every if place % max(side // 8, 1) == 0]
    axis = {"labelExpr": labels, "values": shown, "labelAngle": 0, "domain": False, "ticks": False}
    colour = alt.Color("bytes:Q", title="bytes").scale(domainMin=0, range=["#e6eef5", PALETTE[0]]).legend(format="~s")
    chart = (
        marks_of(rows)
        .mark_rect(aria=True)
        .encode(
            x=alt.X("to:O", title="receiver").scale(domain=every).axis(orient="top", **axis),
            y=alt.Y("from:O", title="sender").scale(domain=every).axis(**axis),
            color=colour,
            **TELLS,
        )
        .properties(width=_SIDE, height=_SIDE)
    )
    blocks = f", {block} ranks a cell" if block > 1 else ""
    return finished(
        chart,
        title="Who talks to whom",
        about=f"Bytes from rank to rank of {title_text(answer)}{blocks}; collectives are not counted.",
        width=width,
        said=f"{title_text(answer)}{blocks}; without collectives",
    )


def _ranks(place: int, block: int, ranks: int) -> str:
    first = int(place) * block
    return f"rank {first}" if block == 1 else f"ranks {first} to {min(first + block, ranks) - 1}"
