"""A replayed trace as a person reads it: the time, where it goes, each operation's bound, what is not understood."""

from collections.abc import Iterator

from volvelle.estimators.trace_replay.under_uncertainty import HOST, UNTOLD
from volvelle.quantities import FRACTION, SECONDS, numbered, percent, show
from volvelle.report.sheet import Sheet
from volvelle.report.terminal import print_answer
from volvelle.verbs.replay import ReplayAnswer

_MOST = 20
"""Rows of a table of operations."""
_FEW = 5
"""Rows of a table of what the host does."""
_NAME = 44
"""Characters of a name that a table has room for."""


def print_replay(answer: ReplayAnswer, *, brief: bool = False) -> None:
    """Print a replayed trace; briefly, its figures alone."""
    lines = (*figure_lines(answer), *(() if brief else range_lines(answer)))
    print_answer(title_text(answer), lines, sheets(answer), answer.notes, folded=("reason",), brief=brief)


def title_text(answer: ReplayAnswer) -> str:
    """What was asked, on one line."""
    where = "as measured" if answer.cluster is None else f"on a chip of {answer.cluster.name}"
    came = "" if answer.source is None else f", recorded on {answer.source.name}"
    return f"{_cut(answer.trace)} ({answer.format}) {where}{came}"


def figure_lines(answer: ReplayAnswer) -> Iterator[str]:
    """Time, speed-up, what binds, and how much is understood."""
    against = ""
    if answer.measured is not None and answer.cluster is not None:
        against = f", {show(answer.measured, SECONDS)} as measured"
        if answer.speedup is not None:
            against += f" ({answer.speedup:.3g} × as fast)"
    elif answer.measured is not None:
        against = f"; first start to last end in the file: {show(answer.measured, SECONDS)}"
    yield f"{show(answer.time, SECONDS)}{_range(answer)}{against}"
    whole = sum(answer.bounds.values())
    if whole > 0.0:
        told = ", ".join(f"{name} {percent(part / whole)}" for name, part in _longest(answer.bounds))
        yield f"operations are bound by: {told}"
    yield f"understood: {coverage_text(answer)}"


def _range(answer: ReplayAnswer) -> str:
    if answer.sure is None:
        return ""
    span = answer.sure.time
    return f" ({show(span.low, SECONDS)} … {show(span.high, SECONDS)}, {percent(span.level, 0)} range)"


def range_lines(answer: ReplayAnswer) -> Iterator[str]:
    """What the range rests on, and what is not in it."""
    if answer.sure is None:
        return
    told = ", ".join(f"{name} ({percent(share)})" for name, share in answer.sure.shares.items()) or "nothing"
    yield (
        f"The range covers numbers of the machines (the weakest is {answer.weakest_evidence}) and how far laws were "
        f"off where they were measured. The time rests on: {told}."
    )
    if UNTOLD in answer.sure.shares and answer.source is None:
        yield "How operations change that are not understood is not in it: name the machine of the trace with --from."
    if HOST in answer.sure.shares:
        yield "What the host did is taken as it was; another host is not in it."
    if not answer.sure.replays and answer.sure.time.varied:
        yield "It follows the chain of operations that ends last; other chains were not replayed on sampled machines."


def _longest(parts: object) -> list[tuple[str, float]]:
    assert isinstance(parts, dict)
    return sorted(((name, part) for name, part in parts.items() if part > 0.0), key=lambda entry: -entry[1])


def coverage_text(answer: ReplayAnswer) -> str:
    """Shares of time, operations and bytes that are understood."""
    found = answer.coverage
    told = {"of time": found.time, "of operations": found.operations, "of bytes": found.bytes}
    return ", ".join(f"{show(part, FRACTION)} {what}" for what, part in told.items() if part is not None) or "nothing"


def sheets(answer: ReplayAnswer) -> Iterator[Sheet]:
    """Tables: where the time goes, operations by bound, streams, what was not understood, what was left out."""
    yield Sheet(
        title="Where the time goes",
        columns=("kind", "time", "share", "bound by"),
        rows=tuple(
            (
                part.kind,
                show(part.time, SECONDS),
                percent(part.time / answer.time) if answer.time else "–",
                ", ".join(name for name, _ in _longest(part.bounds)[:2]) or "–",
            )
            for part in answer.parts
        ),
        numbers=frozenset(("time", "share")),
        note="Of the chain of operations that ends last; what runs beside it is not in it.",
    )
    every = [row for row in answer.operations if row.bound != "host"]
    rows, rest = every[:_MOST], every[_MOST:]
    yield Sheet(
        title="Operations",
        columns=("operation", "count", "time", "measured", "bound"),
        rows=tuple(
            (
                _cut(row.name),
                f"{row.count:,}",
                show(row.time, SECONDS),
                "–" if row.measured is None else show(row.measured, SECONDS),
                row.bound,
            )
            for row in rows
        ),
        numbers=frozenset(("count", "time", "measured")),
        note=f"{len(rest):,} more rows take {show(sum(row.time for row in rest), SECONDS)}." if rest else "",
    )
    hosts = [row for row in answer.operations if row.bound == "host" and row.time > 0.0]
    if hosts:
        yield Sheet(
            title="Host, as measured",
            columns=("operation", "count", "time"),
            rows=tuple((_cut(row.name), f"{row.count:,}", show(row.time, SECONDS)) for row in hosts[:_FEW]),
            numbers=frozenset(("count", "time")),
            note=f"All {len(hosts):,} rows take {show(sum(row.time for row in hosts), SECONDS)}.",
        )
    if len(answer.streams) > 1:
        yield Sheet(
            title="Streams",
            columns=("stream", "operations", "busy", "share"),
            rows=tuple(
                (
                    _cut(use.name),
                    f"{use.operations:,}",
                    show(use.busy, SECONDS),
                    percent(use.busy / answer.time) if answer.time else "–",
                )
                for use in answer.streams[:_MOST]
            ),
            numbers=frozenset(("operations", "busy", "share")),
        )
    if answer.not_understood:
        missing = answer.not_understood
        yield Sheet(
            title="Not understood",
            columns=("operation", "count", "measured"),
            rows=tuple((_cut(row.name), f"{row.count:,}", show(row.measured, SECONDS)) for row in missing[:_MOST]),
            numbers=frozenset(("count", "measured")),
            note=f"{numbered(len(missing) - _MOST, 'more name')}." if len(missing) > _MOST else "",
        )
    if answer.left_out:
        yield Sheet(
            title="Left out of the file",
            columns=("reason", "count"),
            rows=tuple((name, f"{count:,}") for name, count in answer.left_out.items()),
            numbers=frozenset(("count",)),
        )


def _cut(name: str) -> str:
    return name if len(name) <= _NAME else f"{name[: _NAME - 1]}…"
