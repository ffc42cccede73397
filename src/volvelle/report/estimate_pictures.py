"""Pictures of an estimate: where the time goes, by what bounds it, and what the fullest rank holds."""

import itertools

from volvelle.estimators.result import TrainingEstimate
from volvelle.quantities import BYTES, SECONDS, show
from volvelle.report.figures.engine import Chart
from volvelle.report.figures.row_bars import BarRow, Piece, row_chart
from volvelle.report.figures.theme import BLUE, GREEN, GREY, LILAC, NAVY, ORANGE, RUST, SAND, SKY, VIOLET, WIDE
from volvelle.verbs.estimate import Answer

_PARTS = 12
"""Rows of the picture at most; the rest is one row."""
_COMPUTE = {"matrix": BLUE, "matrix, memory": SKY, "vector": VIOLET, "memory": ORANGE, "waiting": GREY}
_NETWORKS = (RUST, GREEN, LILAC, SAND, NAVY)
_HELD = {
    "weights": NAVY,
    "gradients": SKY,
    "optimiser state": RUST,
    "activations": ORANGE,
    "framework and fragmentation": GREY,
}


def bound_words(resource: str) -> str:
    """What bounds a contribution, in a word or two."""
    return resource.removeprefix("network: ").removesuffix(" units").replace(" units and", ",")


def resource_colours(estimates: list[TrainingEstimate]) -> dict[str, str]:
    """Resource → colour: the same for compute everywhere, networks in the order in which they come."""
    found = dict.fromkeys(bound_words(line.resource) for timed in estimates for line in timed.contributions)
    spare = itertools.cycle(_NETWORKS)
    return {word: _COMPUTE[word] for word in _COMPUTE if word in found} | {
        word: next(spare) for word in found if word not in _COMPUTE
    }


def time_picture(timed: TrainingEstimate, *, width: float = WIDE) -> Chart:
    """A row for every part, its lines by what bounds them; what is hidden below, in outline."""
    parts = timed.parts()
    kept = list(parts)[: _PARTS if len(parts) <= _PARTS else _PARTS - 1]
    rows = [_row(timed, part, (part,)) for part in kept]
    if len(parts) > len(kept):
        rows.append(_row(timed, "all else", tuple(part for part in parts if part not in kept)))
    behind = sorted((line for line in timed.contributions if not line.exposed), key=lambda line: -line.time)
    rows += [
        BarRow(
            label=f"hidden: {line.name}",
            pieces=(
                Piece(
                    kind=bound_words(line.resource),
                    value=line.time,
                    hollow=True,
                    tells=f"{line.name}: {show(line.time, SECONDS)}, hidden behind other work; {line.law}",
                ),
            ),
            text=show(line.time, SECONDS),
        )
        for line in behind
    ]
    said = f"{show(timed.time, SECONDS)} in all; colours: what bounds it."
    hidden = " Outlined: runs behind other work, and does not lengthen the step." if behind else ""
    return row_chart(
        rows,
        name="time of a step",
        kind=SECONDS,
        colours=resource_colours([timed]),
        title="Where the time goes",
        about="Seconds of a step by part: "
        + ", ".join(f"{name} {show(time, SECONDS)}" for name, time in parts.items()),
        said=said + hidden,
        width=width,
    )


def _row(timed: TrainingEstimate, label: str, parts: tuple[str, ...]) -> BarRow:
    lines = [line for line in timed.contributions if line.part in parts and line.exposed]
    whole = sum(line.time for line in lines)
    return BarRow(
        label=label,
        pieces=tuple(
            Piece(
                kind=bound_words(line.resource),
                value=line.time,
                tells=f"{line.name}: {show(line.time, SECONDS)}, {100 * line.time / timed.time:.1f} % of the step; "
                f"bound by {bound_words(line.resource)}; {line.law}",
            )
            for line in sorted(lines, key=lambda line: -line.time)
        ),
        text=f"{show(whole, SECONDS)}, {100 * whole / timed.time:.1f} %",
    )


def memory_picture(answer: Answer, *, width: float = WIDE) -> Chart:
    """What the fullest rank holds against what a chip has; what is put in host memory below it."""
    timed, cluster = answer.estimate, answer.cluster
    parts = [part for part in timed.memory if part.bytes > 0]
    held = sorted(parts, key=lambda part: list(_HELD).index(part.name) if part.name in _HELD else len(_HELD))
    spare = itertools.cycle((VIOLET, GREEN, LILAC))
    colours = {part.name: _HELD.get(part.name) or next(spare) for part in held}
    span = answer.ranges.get("memory")
    rows = [
        BarRow(
            label="memory",
            pieces=tuple(
                Piece(
                    kind=part.name,
                    value=part.bytes,
                    tells=f"{part.name}: {show(part.bytes, BYTES)}, {100 * part.bytes / timed.capacity:.1f} % of the "
                    f"memory; {part.law}",
                )
                for part in held
            ),
            text=show(timed.memory_bytes, BYTES),
            span=(span.low, span.high) if span is not None else None,
        )
    ]
    away = answer.host_memory_bytes
    if away is not None:
        size = "" if cluster.host_memory is None else f" of {show(float(cluster.host_memory), BYTES)}"
        colours["in host memory"] = SAND
        piece = Piece(kind="in host memory", value=away, tells=f"in host memory: {show(away, BYTES)}{size}, a chip")
        rows.append(BarRow(label="host", pieces=(piece,), text=show(away, BYTES) + size))
    return row_chart(
        rows,
        name="memory of a chip",
        kind=BYTES,
        colours=colours,
        title=f"What the fullest rank holds ({timed.worst_rank})",
        about="Bytes by part: " + ", ".join(f"{part.name} {show(part.bytes, BYTES)}" for part in held),
        said=_said(answer),
        limits=[(timed.capacity, f"{show(timed.capacity, BYTES)} of a chip")],
        width=width,
    )


def _said(answer: Answer) -> str:
    timed = answer.estimate
    free = f", of which {100 * timed.margin:g} % stay free" if timed.margin else ""
    span = answer.ranges.get("memory")
    sure = f" Thin line: {100 * span.level:.0f} % range." if span is not None else ""
    return f"It holds {show(timed.memory_bytes, BYTES)}; a chip has {show(timed.capacity, BYTES)}{free}.{sure}"
