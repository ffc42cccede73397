"""An estimate as a piece of HTML for a notebook: the headline, the picture and the breakdown, without a script."""

from collections.abc import Callable
from html import escape

from volvelle.errors import MissingExtraError
from volvelle.quantities import BYTES, SECONDS, show
from volvelle.report.estimate_pictures import memory_picture, time_picture
from volvelle.report.estimate_text import bound_words
from volvelle.report.figures.engine import Chart
from volvelle.report.figures.rendering import svg
from volvelle.report.figures.theme import FAINT, GRID, INK, PAPER
from volvelle.verbs.estimate import Answer

_CARD = f"background:{PAPER};color:{INK};font-family:system-ui,sans-serif;font-size:14px;padding:12px;max-width:760px"
_CELL = f"padding:3px 10px;border-bottom:1px solid {GRID};background:{PAPER};color:{INK}"
"""A notebook's own styles give way to these; it is light also where the notebook is dark, as its pictures are."""


def estimate_fragment(answer: Answer) -> str:
    """Headline, pictures of time and memory, and a table of the parts; without Altair there are no pictures."""
    timed = answer.speed
    lead = (
        f"<b>{escape(answer.model)}</b> on <b>{escape(answer.cluster.name)}</b>, {answer.step.batch} sequences a step"
    )
    held = f"{show(answer.estimate.memory_bytes, BYTES)} of {show(answer.estimate.capacity, BYTES)} on the fullest rank"
    pieces = [f"<div>{lead}</div>"]
    if timed is None:
        pieces.append("<div>no speed: counts do not divide, so there is no such layout</div>")
    else:
        span = timed.time_range
        within = "" if span is None else f", {show(span.low, SECONDS)} … {show(span.high, SECONDS)}"
        pieces.append(
            f'<div><b style="font-size:1.5em">{show(timed.time, SECONDS)}/step</b>{within}; '
            f"{100 * timed.utilisation:.1f} % of peak (MFU)</div>"
        )
    cannot = "".join(f"<div><b>{escape(found.problem)}</b></div>" for found in answer.estimate.violations)
    pieces += [f"<div>{held}</div>", cannot]
    if timed is not None:
        pieces += [_drawn(lambda: time_picture(timed)), _parts(answer)]
    rank, host = answer.estimate.worst_rank, answer.cluster.host_memory
    pieces.append(_drawn(lambda: memory_picture(answer.estimate, rank=rank, host=host)))
    return f'<div style="{_CARD}">{"".join(pieces)}</div>'


def _drawn(draw: Callable[[], Chart]) -> str:
    try:
        return f'<div style="margin:8px 0">{svg(draw(), themed=False)}</div>'
    except MissingExtraError as error:
        return f'<div style="color:{FAINT}">{escape(str(error))}</div>'


def _parts(answer: Answer) -> str:
    timed = answer.estimate
    rows = []
    for part, time in timed.parts().items():
        lines = [line for line in timed.contributions if line.part == part and line.exposed]
        bounds = ", ".join(dict.fromkeys(bound_words(line.resource) for line in lines))
        rows.append((part, show(time, SECONDS), f"{100 * time / timed.time:.1f} %", bounds))
    head = "".join(
        f'<th style="{_CELL};text-align:{side}">{name}</th>'
        for name, side in (("part", "left"), ("time", "right"), ("share", "right"), ("bound by", "left"))
    )
    body = "".join(
        "<tr>"
        + "".join(
            f'<td style="{_CELL};text-align:{"right" if place in (1, 2) else "left"}">{escape(cell)}</td>'
            for place, cell in enumerate(row)
        )
        + "</tr>"
        for row in rows
    )
    return f'<table style="border-collapse:collapse"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
