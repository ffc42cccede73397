"""How training scales as a person reads it: counts, efficiency, where the time goes, and what was measured."""

from collections.abc import Iterator

from volvelle.quantities import SECONDS, percent, show
from volvelle.report.compare_text import change_text
from volvelle.report.plan_words import degrees_text
from volvelle.report.range_words import range_words
from volvelle.report.sheet import Sheet
from volvelle.report.terminal import print_answer
from volvelle.verbs.scale import HALF, ScaledStep, ScalePoint, Scaling

_PARTS = 3
"""Parts of a step that a row names."""


def print_scaling(answer: Scaling, *, brief: bool = False) -> None:
    """Print all counts; briefly, without layouts and measured runs."""
    print_answer(
        title_text(answer),
        figure_lines(answer),
        sheets(answer),
        answer.notes,
        folded=("layout", "where the time goes", "why", "source"),
        brief=brief,
    )


def title_text(answer: Scaling) -> str:
    """What is asked, on one line."""
    grows = "the same batch" if answer.growth == "strong" else "a batch that grows with the chips"
    fewest, most = answer.points[0], answer.points[-1]
    return (
        f"{answer.model} on {answer.system}, {fewest.accelerators:,} to {most.accelerators:,} accelerators, "
        f"{answer.growth} scaling: {grows}"
    )


def figure_lines(answer: Scaling) -> Iterator[str]:
    """From where to where it scales, and what breaks it."""
    first, broken = answer.first, answer.breaks
    if first is None:
        yield f"nothing runs: {answer.points[-1].problem}"
        return
    assert first.step is not None, "the first count runs"
    yield (
        f"runs from {first.accelerators:,} accelerators: {show(first.step.time, SECONDS)}/step, "
        f"{percent(first.step.utilisation)} MFU"
    )
    last = [point for point in answer.points if point.step is not None][-1]
    assert last.step is not None and last.efficiency is not None, "it runs"  # noqa: PT018 - both hold for the same reason
    if last is not first:
        yield (
            f"at {last.accelerators:,}: {show(last.step.time, SECONDS)}/step, {percent(last.step.utilisation)} MFU, "
            f"efficiency {percent(last.efficiency)}; what grew most is {answer.grown(last)}"
        )
    if broken is None:
        yield f"efficiency stays above {percent(HALF, 0)}"
    elif broken.efficiency is None:
        yield f"breaks at {broken.accelerators:,}: {answer.culprit}"
    else:
        yield (
            f"breaks at {broken.accelerators:,} accelerators, efficiency {percent(broken.efficiency)}, on "
            f"{answer.culprit}: {percent(broken.parts[answer.culprit], 0)} of the step"
        )


def sheets(answer: Scaling) -> Iterator[Sheet]:
    """Tables: counts that run, counts that do not, measured runs."""
    before = answer.baseline_seconds
    numbers = ("chips", "batch", "step", "range", *(("against as it is",) if before else ()), "MFU", "efficiency")
    olds = before or (None,) * len(answer.points)
    last = next((point.step for point in reversed(answer.points) if point.step is not None), None)
    yield Sheet(
        title="The fastest layout at every count",
        columns=(*numbers, "layout", "where the time goes"),
        rows=tuple(
            _cells(point, _against(point.step, old) if before else ())
            for point, old in zip(answer.points, olds, strict=True)
            if point.step is not None
        ),
        numbers=frozenset(numbers),
        note="" if last is None else f"Ranges hold 80 %. {range_words(last.basis, 'numbers of the machine')}",
    )
    if any(point.step is None for point in answer.points):
        yield Sheet(
            title="Counts at which nothing runs",
            columns=("chips", "why"),
            rows=tuple((f"{point.accelerators:,}", point.problem) for point in answer.points if point.step is None),
            numbers=frozenset(("chips",)),
        )
    if answer.measured:
        told = ("chips", "MFU", "our error")
        yield Sheet(
            title="Published runs of this model on such chips",
            columns=(*told, "on", "source"),
            rows=tuple(
                (
                    f"{run.chips:,}",
                    percent(run.utilisation),
                    percent(run.left_out_error, signed=True),
                    run.accelerator,
                    run.source,
                )
                for run in answer.measured
            ),
            numbers=frozenset(told),
            note="Each by its own layout and batch; the error is of the time predicted for that layout by a fit that "
            "did not see its source.",
        )


def _against(step: ScaledStep, old: float | None) -> tuple[str]:
    return ("ran not at all" if old is None else change_text(step.time / old),)


def _cells(point: ScalePoint, against: tuple[str, ...]) -> tuple[str, ...]:
    step = point.step
    assert step is not None, "counts that run alone are shown"
    largest = list(point.parts.items())[:_PARTS]
    return (
        f"{point.accelerators:,}",
        f"{point.batch:,}",
        show(step.time, SECONDS),
        "" if step.range is None else f"{show(step.range.low, SECONDS)} … {show(step.range.high, SECONDS)}",
        *against,
        percent(step.utilisation),
        "" if point.efficiency is None else percent(point.efficiency),
        f"{degrees_text(step.mapping)}, mb{step.mapping.micro_batch} zero{step.mapping.zero}",
        ", ".join(f"{name} {percent(share, 0)}" for name, share in largest),
    )
