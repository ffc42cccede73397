"""Answers of several estimators as a person reads them: side by side, line by line, and why they differ."""

from collections.abc import Iterator

from volvelle.quantities import BYTES, SECONDS, percent, show
from volvelle.report.compare_text import more_text
from volvelle.report.plan_words import degrees_text
from volvelle.report.range_words import range_words
from volvelle.report.sheet import Sheet
from volvelle.report.terminal import print_answer
from volvelle.verbs.crosscheck.answers import CrossCheck, EstimatorDifference
from volvelle.verbs.crosscheck.suite_check import SuiteCheck, SuiteResult
from volvelle.verbs.estimators import CLOSED

FOLDED = ("cause", "why", "causes", "layout", "workload", "exchange", "contribution")


def print_crosscheck(answer: CrossCheck, *, brief: bool = False) -> None:
    """Print answers side by side."""
    lines = (*figure_lines(answer), *(() if brief else range_lines(answer)))
    print_answer(title_text(answer), lines, sheets(answer), answer.notes, folded=FOLDED, brief=brief)


def print_suite(found: SuiteCheck, *, brief: bool = False) -> None:
    """Print the suite, worst first."""
    print_answer(suite_title(found), suite_lines(found), suite_sheets(found), (), folded=FOLDED, brief=brief)


def title_text(answer: CrossCheck) -> str:
    """What is asked, on one line."""
    return f"{answer.model} on {answer.system}, {degrees_text(answer.mapping)}"


def figure_lines(answer: CrossCheck) -> Iterator[str]:
    """Seconds of every estimator, and how each differs from the one that it refines."""
    told = {found.of: found for found in answer.differences}
    for one in answer.answers:
        if one.time is None:
            yield f"{one.name}: no answer: {one.refused}"
            continue
        span = one.range
        around = "" if span is None else f" ({show(span.low, SECONDS)} … {show(span.high, SECONDS)})"
        against = f", {_against(told[one.name])}" if one.name in told else ""
        yield f"{one.name}: {show(one.time, SECONDS)}{around}{against}"


def _against(found: EstimatorDifference) -> str:
    told = f"{100.0 * found.share:+.2f} % against {found.against}"
    if found.doubt is None or found.of_doubt is None:
        return told
    return f"{told}, {percent(found.of_doubt, 0)} of a range of ± {percent(found.doubt, 0)}"


def range_lines(answer: CrossCheck) -> Iterator[str]:
    """Whether differences matter beside what is not known, and what ranges rest on."""
    basis = answer.basis
    if basis is None:
        return
    larger = [found for found in answer.differences if found.of_doubt is not None and found.of_doubt > 1.0]
    if larger:
        which = ", ".join(f"{found.of} and {found.against}" for found in larger)
        yield f"Differences larger than the range: {which}; it matters which is asked."
    elif answer.differences:
        yield "No difference is larger than the range: more is unknown of machine and model than estimators differ by."
    yield f"Ranges hold 80 %. {range_words(basis, 'numbers of the machine')}"


def sheets(answer: CrossCheck) -> Iterator[Sheet]:
    """Tables: causes of every difference, contributions line by line, and what links make of exchanges."""
    for found in answer.differences:
        if found.told:
            yield Sheet(
                title=f"Why {found.of} differs from {found.against}, {more_text(found.seconds)} in all",
                columns=("cause", "seconds", "of the step", "why"),
                rows=tuple(
                    (
                        cause.name,
                        more_text(cause.seconds),
                        f"{100.0 * cause.seconds * found.share / found.seconds:+.2f} %",
                        cause.why,
                    )
                    for cause in found.told
                ),
                numbers=frozenset(("seconds", "of the step")),
            )
    names = tuple(answer.times)
    lines = tuple((line.name, *(show(line.times[name], SECONDS) for name in names)) for line in answer.differing())
    if lines:
        yield Sheet(
            title="Contributions that differ by a thousandth of the step or more",
            columns=("contribution", *names),
            rows=lines,
            numbers=frozenset(names),
        )
    if answer.flows:
        yield Sheet(
            title="Exchanges as flows on the links of the machine",
            columns=("axis", "exchange", "group", "groups at once", "law", "as flows", "beside others", "factor"),
            rows=tuple(
                (
                    each.exchange.axis.name,
                    f"{each.exchange.name} of {show(each.exchange.size, BYTES)}",
                    f"{each.exchange.group.chips:,}",
                    f"{each.groups:,} of {each.exchange.groups:,}",
                    show(each.law, SECONDS),
                    show(each.alone, SECONDS),
                    show(each.beside, SECONDS),
                    f"{each.factor:.3f}",
                )
                for each in answer.flows
            ),
            numbers=frozenset(("group", "groups at once", "law", "as flows", "beside others", "factor")),
            note="law: of the same messages with nothing in the way; factor: by how much the step's are longer. What "
            "stages hand over meets gradients in the last slots alone: its factor is without others",
        )


def suite_title(found: SuiteCheck) -> str:
    """What was held against what."""
    return f"{found.workloads} workloads, the closed form against a replay, worst first"


def suite_lines(found: SuiteCheck) -> Iterator[str]:
    """Median, worst, and how many differ by more than a percent."""
    yield f"median difference {percent(found.median, 2)}, worst {percent(found.worst, 2)}"
    yield f"{found.above} differ by more than 1 %, each with its causes"


def suite_sheets(found: SuiteCheck) -> Iterator[Sheet]:
    """All workloads, then causes of those that differ by more than one percent."""
    yield suite_sheet(found)
    told = [result for result in found.results if result.difference.told]
    if told:
        yield causes_sheet(found)


def suite_sheet(found: SuiteCheck) -> Sheet:
    """All workloads."""
    numbers = ("chips", "closed", "event", "closed against event")
    return Sheet(
        title="Workloads",
        columns=("kind", "workload", "layout", *numbers),
        rows=tuple(
            (
                result.row.kind,
                f"{result.row.model} on {result.row.system.partition('/')[0]}",
                suite_layout(result),
                f"{result.chips:,}",
                show(result.closed, SECONDS),
                show(result.event, SECONDS),
                f"{100.0 * result.error:+.2f} %",
            )
            for result in found.results
        ),
        numbers=frozenset(numbers),
    )


def suite_layout(result: SuiteResult) -> str:
    """The layout in words, the length of sequences where it is not the model's own, and what is off-loaded."""
    row = result.row
    words = [row.layout, f"batch {row.batch:,}"]
    words += [] if row.sequence is None else [f"{row.sequence:,} tokens"]
    words += [f"off-load {', '.join(row.offload)}"] if row.offload else []
    return ", ".join(words)


def causes_sheet(found: SuiteCheck) -> Sheet:
    """Causes of differences above one percent; seconds by which the closed form is longer."""
    return Sheet(
        title=f"Why more than 1 %: seconds by which {CLOSED} is longer",
        columns=("workload", "layout", "cause", "seconds", "of the step"),
        rows=tuple(
            (
                f"{result.row.model}/{result.chips:,}" if place == 0 else "",
                result.row.layout if place == 0 else "",
                cause.name,
                more_text(-cause.seconds),
                f"{-100.0 * cause.seconds / result.event:+.2f} %",
            )
            for result in found.results
            for place, cause in enumerate(result.difference.told)
        ),
        numbers=frozenset(("seconds", "of the step")),
    )
