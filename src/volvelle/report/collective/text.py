"""The time of a collective as a person reads it: the answer, where the time goes, sizes, groups, inputs."""

from collections.abc import Iterator

from volvelle.quantities import BYTES, BYTES_PER_SECOND, FRACTION, SECONDS, percent, show
from volvelle.report.compare_text import change_text
from volvelle.report.sheet import Sheet
from volvelle.report.terminal import print_answer
from volvelle.verbs.collective.ask import CollectiveAnswer, MessagePoint
from volvelle.verbs.collective.flows import FlowAnswer

_EVERY = 2
"""Of the sizes looked at, those that a table shows."""
_SHARES = ("efficiency", "contention", "reduction_efficiency")


def print_collective(answer: CollectiveAnswer, *, brief: bool = False) -> None:
    """Print the time of a collective; briefly, without sizes, groups and inputs."""
    print_answer(
        title_text(answer),
        figure_lines(answer),
        (*sheets(answer), inputs_sheet(answer)),
        answer.notes,
        folded=("source",),
        brief=brief,
    )


def title_text(answer: CollectiveAnswer) -> str:
    """What is asked, on one line."""
    return f"{answer.operation} of {show(answer.size, BYTES)} over {_chips(answer)}, {answer.algorithm}"


def _chips(answer: CollectiveAnswer) -> str:
    along = " × ".join(f"{part.members} {part.name}" for part in answer.dimensions)
    of = "" if answer.chips == answer.cluster.accelerators else f" of {answer.cluster.accelerators:,}"
    return f"{answer.chips:,}{of} chips of {answer.cluster.name} ({along})"


def figure_lines(answer: CollectiveAnswer) -> Iterator[str]:
    """Time with its range, rates, what binds, and what changed."""
    span = answer.range
    yield (
        f"{show(answer.time, SECONDS)}   {show(span.low, SECONDS)} … {show(span.high, SECONDS)} "
        f"({percent(span.level, 0)} interval by {', '.join(span.varied)})"
    )
    yield (
        f"algorithm rate {show(answer.algorithm_rate, BYTES_PER_SECOND)}, bus rate "
        f"{show(answer.bus_rate, BYTES_PER_SECOND)} (as nccl-tests count)"
    )
    yield f"bound by {answer.bound}, {percent(answer.bound_share)} of the time"
    if answer.library is not None:
        told = answer.library
        yield f"NCCL would choose {told.chosen}: {show(told.time, SECONDS)} by its own cost model"
    if answer.flows is not None:
        found = answer.flows.times
        yield (
            f"as flows {show(found.beside, SECONDS)}, {_times(found.factor)} the law of these messages, held up most "
            f"by {found.limiting.name}"
        )
    if answer.baseline is not None:
        ratio, old = answer.time / answer.baseline.time, answer.baseline
        yield (
            f"against the machine as it is: {change_text(ratio)} ({show(old.time, SECONDS)}, bus rate "
            f"{show(old.bus_rate, BYTES_PER_SECOND)}, bound by {old.bound})"
        )


def sheets(answer: CollectiveAnswer) -> Iterator[Sheet]:
    """Tables: the time by dimension, by algorithm, over sizes and over groups."""
    numbers = ("members", "rate", "latency", "fill", "transfer")
    yield Sheet(
        title="Where the time goes",
        columns=("dimension", "link", *numbers),
        rows=(
            *(
                (
                    part.name,
                    part.link,
                    f"{part.members:,}",
                    show(part.rate, BYTES_PER_SECOND),
                    *(show(seconds, SECONDS) for seconds in (part.latency, part.fill, part.transfer)),
                )
                for part in answer.dimensions
            ),
            ("launching", "", "", "", show(answer.parts.setup, SECONDS), "", ""),
        ),
        numbers=frozenset(numbers),
        note="Latencies and fillings add up; of transfers, which run at once, the longest counts.",
    )
    if answer.flows is not None:
        yield _flows_sheet(answer.flows)
    if len(answer.algorithms) + len(answer.refused) > 1:
        yield Sheet(
            title="By algorithm",
            columns=("algorithm", "time", "against it", ""),
            rows=(
                *(
                    (name, show(time, SECONDS), change_text(time / answer.time), _mark(answer, name))
                    for name, time in answer.algorithms.items()
                ),
                *((name, "–", "–", why) for name, why in answer.refused.items()),
            ),
            numbers=frozenset(("time", "against it")),
        )
    yield _points("Over sizes", "size", [(show(p.size, BYTES), p) for p in answer.by_size[::_EVERY]])
    yield _points("Over groups of consecutive chips", "chips", [(f"{p.chips:,}", p) for p in answer.by_group])


def _times(factor: float) -> str:
    return f"{factor:.2f} ×" if factor < 10 else f"{factor:.1f} ×"


def _flows_sheet(flows: FlowAnswer) -> Sheet:
    found = flows.times
    causes = iter(found.causes.items())
    beside = ", ".join(flows.beside) or "nobody"
    told = (
        ("closed form, with launching, filling and fitted contention", flows.closed_form, ""),
        ("law of the messages that are timed", found.ideal, ""),
        *(
            (f"{cause}{detail}", seconds, _times(factor))
            for (cause, factor), detail, seconds in zip(
                causes,
                ("", f": {flows.placement}", f": beside {beside}"),
                (found.in_order, found.alone, found.beside),
                strict=True,
            )
        ),
        ("all of it, over the law", found.beside, _times(found.factor)),
    )
    routes = f"Routes: {'; '.join(flows.routing)}. " if flows.routing else ""
    link = found.limiting
    return Sheet(
        title="As flows that share links",
        columns=("cause", "time", "factor"),
        rows=tuple((cause, show(seconds, SECONDS), factor) for cause, seconds, factor in told),
        numbers=frozenset(("time", "factor")),
        note=f"{routes}{found.messages:,} messages. {link.name} set rates for {show(link.limited, SECONDS)} of flows, "
        f"and was {percent(link.used)} used.",
    )


def _mark(answer: CollectiveAnswer, name: str) -> str:
    told = ["what training uses"] if name == "nested" else []
    return ", ".join([*told, *(["asked about"] if name == answer.algorithm and not told else [])])


def _points(title: str, what: str, points: list[tuple[str, MessagePoint]]) -> Sheet:
    numbers = (what, "time", "bus rate")
    several = any(len(point.algorithms) > 1 for _, point in points)
    known = any(point.library is not None for _, point in points)
    return Sheet(
        title=title,
        columns=(*numbers, *(("fastest",) if several else ()), *(("NCCL would choose",) if known else ())),
        rows=tuple(
            (
                name,
                show(point.time, SECONDS),
                show(point.bus_rate, BYTES_PER_SECOND),
                *((point.fastest,) if several else ()),
                *((_chosen(point),) if known else ()),
            )
            for name, point in points
        ),
        numbers=frozenset(numbers),
    )


def _chosen(point: MessagePoint) -> str:
    told = point.library
    return "–" if told is None else f"{told.chosen}, {show(told.time, SECONDS)}"


def inputs_sheet(answer: CollectiveAnswer) -> Sheet:
    """Numbers of links that the time rests on, and where they are from."""
    rows = []
    for name, figure in answer.rests_on.items():
        field = name.rpartition(".")[2]
        kind = FRACTION if field in _SHARES else BYTES_PER_SECOND if field == "rate" else SECONDS
        rows.append((name.replace("_", " "), show(figure.value, kind), figure.evidence.word, figure.source))
    columns = ("input", "value", "evidence", "source")
    return Sheet(title="Inputs and sources", columns=columns, rows=tuple(rows), numbers=frozenset(("value",)))
