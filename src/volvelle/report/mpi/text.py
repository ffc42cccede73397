"""An MPI trace as a person reads it: time, who talks to whom, phases and loops, collectives, what is not known."""

from collections.abc import Iterator

import numpy as np

from volvelle.estimators.message_passing.under_uncertainty import COMPUTATION
from volvelle.quantities import BYTES, SECONDS, percent, show
from volvelle.report.sheet import Sheet
from volvelle.report.terminal import print_answer
from volvelle.verbs.mpi import ROOFLINE, MpiAnswer
from volvelle.workload.message_passing.summary import TraceSummary

_PAIRS = 8
"""Of ranks that a table shows, those that exchange most."""
_PHASES = 16


def print_mpi(answer: MpiAnswer, *, brief: bool = False) -> None:
    """Print it; briefly, without tables."""
    lines = (*figure_lines(answer), *(() if brief else range_lines(answer)))
    print_answer(title_text(answer), lines, sheets(answer), answer.notes, folded=("body of a turn",), brief=brief)


def title_text(answer: MpiAnswer) -> str:
    """What it is of, on one line."""
    made = answer.extrapolated
    of = f"an MPI program, from traces of {_listed(made.counts)} ranks" if made else answer.summary.name
    on = f", on {answer.on.system}" if answer.on else ""
    return f"{of}: {answer.summary.ranks:,} ranks{on}"


def _listed(counts: tuple[int, ...]) -> str:
    return ", ".join(map(str, counts[:-1])) + f" and {counts[-1]}"


def figure_lines(answer: MpiAnswer) -> Iterator[str]:
    """Times, messages, and how sure more ranks are."""
    told, recorded = answer.shown, answer.summary
    if answer.on is not None:
        how = "messages share links" if answer.on.replayed.contended else "each message has the network to itself"
        ratio = f", computation × {answer.on.ratio:.3g} {answer.on.ratio_from}" if answer.on.ratio != 1.0 else ""
        was = "" if answer.extrapolated else f" ({show(recorded.time, SECONDS)} as recorded)"
        span = answer.on.sure.time
        around = f" ({show(span.low, SECONDS)} … {show(span.high, SECONDS)}, {percent(span.level, 0)} range)"
        yield f"{show(answer.on.time, SECONDS)}{around}{was}; {how}{ratio}"
    elif answer.extrapolated is None:
        yield f"{show(recorded.time, SECONDS)} as recorded, {recorded.events:,} calls"
    else:
        yield f"{recorded.events:,} calls; say --on SYSTEM for how long they take"
    inside = float(told.communication.mean())
    computing = f"computation {show(float(told.compute.mean()), SECONDS)} a rank"
    share = f", {percent(inside / told.time)} of the time inside MPI" if told.time > 0.0 and _timed(answer) else ""
    yield f"{computing}, the longest {told.imbalance:.2f} times the mean (rank {told.slowest_rank}){share}"
    degrees = told.pairs.partners(told.ranks)
    yield (
        f"{told.messages:,} messages, {show(float(told.message_bytes), BYTES)}, from {int(degrees.min())} to "
        f"{int(degrees.max())} partners a rank"
    )
    if answer.extrapolated is not None:
        same = [count for count, exact in answer.extrapolated.exact.items() if exact]
        told_exact = f"made again call by call: {_counts(same)}" if same else "no trace is made again call by call"
        yield f"{told_exact}; not generalised: {len(answer.extrapolated.not_generalised)}"


def range_lines(answer: MpiAnswer) -> Iterator[str]:
    """What the range rests on, and what is not in it."""
    if answer.on is None:
        return
    sure = answer.on.sure
    told = ", ".join(f"{name} {percent(share)}" for name, share in sure.shares.items()) or "nothing"
    yield (
        f"The range covers numbers of links (the weakest is {answer.on.weakest_evidence}) and how far measured "
        f"collectives were off. On the longest chain are: {told}."
    )
    if COMPUTATION in sure.shares:
        if ROOFLINE in sure.time.varied:
            yield "Computation is by the roofline of two chips, which no run tells of: it may be off by a third."
        else:
            yield f"Computation is taken {answer.on.ratio_from}; what it takes there in truth is not in the range."
    if answer.extrapolated is not None:
        yield "How far more ranks differ from what the traces say of fewer is not in it."
    if not sure.replays:
        yield "It follows the chain that ends last where no message shares a link; sampled machines were not replayed."


def _counts(counts: list[int]) -> str:
    return ", ".join(map(str, counts)) + " ranks"


def _timed(answer: MpiAnswer) -> bool:
    return answer.on is not None or answer.extrapolated is None


def sheets(answer: MpiAnswer) -> Iterator[Sheet]:
    """Tables: phases, collectives, the pairs that exchange most."""
    told = answer.shown
    timed = _timed(answer)
    numbers = ("turns", "calls", *(("starts", "takes", "a turn") if timed else ()))
    yield Sheet(
        title=f"Phases and loops of rank {told.told_rank}",
        columns=(*numbers, "body of a turn"),
        rows=tuple(
            (
                f"{phase.turns:,}",
                f"{phase.calls:,}",
                *((show(each, SECONDS) for each in (phase.start, phase.time, phase.period)) if timed else ()),
                phase.body,
            )
            for phase in told.phases[:_PHASES]
        ),
        numbers=frozenset(numbers),
        note="" if len(told.phases) <= _PHASES else f"{len(told.phases) - _PHASES} phases more.",
    )
    if told.collectives:
        numbers = ("ranks", "times", "bytes of a rank", *(("time of a rank",) if timed else ()))
        yield Sheet(
            title="Collectives",
            columns=("call", *numbers),
            rows=tuple(
                (
                    use.call,
                    f"{use.members:,}",
                    f"{use.count:,}",
                    show(use.size, BYTES),
                    *((show(use.time, SECONDS),) if timed else ()),
                )
                for use in told.collectives
            ),
            numbers=frozenset(numbers),
        )
    if told.messages:
        yield _pairs(told)


def _pairs(told: TraceSummary) -> Sheet:
    pairs = told.pairs
    order = np.argsort(-pairs.size, kind="stable")[:_PAIRS]
    numbers = ("from", "to", "messages", "bytes")
    return Sheet(
        title="Who exchanges most",
        columns=numbers,
        rows=tuple(
            (
                str(pairs.source[place]),
                str(pairs.target[place]),
                f"{pairs.messages[place]:,}",
                show(float(pairs.size[place]), BYTES),
            )
            for place in order.tolist()
        ),
        numbers=frozenset(numbers),
        note=f"{len(pairs.source):,} pairs in all; --matrix FILE draws them.",
    )
