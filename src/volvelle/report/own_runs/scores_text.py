"""How much a few own runs improve predictions: machine by machine, worst after three runs first, and all together."""

from collections.abc import Iterator

from volvelle.applications.training.own_runs_scores import LARGE, OWN_RUNS, MachineScore, OwnRunsValidation, pooled
from volvelle.quantities import percent
from volvelle.report.terminal import show_table, wide_console

_JUDGED = 3
_WAS, _NOW = 0.09, 0.09


def print_own_runs_scores(found: OwnRunsValidation) -> None:
    """Print them; figures of machines together on the last lines, of all and of those whose runs were measured."""
    for held_out in (True, False):
        machines = sorted(found.part(held_out=held_out), key=lambda one: -_after(one))
        if not machines:
            continue
        whose = "held-out sources" if held_out else "calibration sources, each left out"
        show_table(
            f"machines of {whose}: median error with so many own runs, and coverage of 80 % ranges after {_JUDGED}",
            ("source", "chip", "type"),
            ("runs", *(f"{own}" for own in OWN_RUNS), "coverage"),
            (
                (
                    one.source,
                    one.accelerator,
                    one.element,
                    f"{one.runs}",
                    *(percent(one.scores[own].median, 1) if own in one.scores else "–" for own in OWN_RUNS),
                    percent(one.scores[_JUDGED].coverage) if _JUDGED in one.scores else "–",
                )
                for one in machines
            ),
        )
    console = wide_console()
    console.print(
        f"{found.draws} draws; spread between sources {percent(found.between, 1)}, within them "
        f"{percent(found.within, 1)} (left out, calibration rows alone)"
    )
    hurt = [one for one in found.machines if _hurt(one)]
    names = ", ".join(f"{one.source} {one.element}" for one in hurt) or "none"
    console.print(f"large machines that were below {percent(_WAS)} and end above it: {names}")
    for title, _, pool in _together(found):
        if pool:
            console.print(f"{title}: {_line(pool)}")


def _together(found: OwnRunsValidation) -> Iterator[tuple[str, str, tuple[MachineScore, ...]]]:
    """What machines are pooled: in words, as JSON has it, and which."""
    computed = ", ".join(sorted({one.source for one in found.machines if one.computed}))
    but = f", but for times that were computed ({computed})"
    yield "held out", "heldout", found.part(held_out=True)
    yield "calibration", "calibration", found.part(held_out=False)
    if computed:
        yield (
            "calibration" + but,
            "calibration_measured",
            found.part(held_out=False, measured=True),
        )
    yield "every source", "every", found.machines
    if computed:
        yield "every source" + but, "every_measured", found.part(measured=True)


def _after(one: MachineScore) -> float:
    return one.scores[_JUDGED].median if _JUDGED in one.scores else one.scores[0].median


def _hurt(one: MachineScore) -> bool:
    ends = [one.scores[own].median for own in (3, 8) if own in one.scores]
    return one.runs >= LARGE and one.scores[0].median < _WAS and any(end > _NOW for end in ends)


def _line(machines: tuple[MachineScore, ...]) -> str:
    before = pooled(machines, 0)
    parts = []
    for own in OWN_RUNS:
        score = pooled(machines, own)
        if score is None or before is None:
            continue
        cut = f", range {percent(1.0 - score.half_width / before.half_width)} narrower" if own else ""
        parts.append(
            f"k = {own}: median {percent(score.median, 1)} (over machines {percent(score.median_over_machines, 1)}), "
            f"coverage {percent(score.coverage)}{cut}"
        )
    return "; ".join(parts)


def scores_document(found: OwnRunsValidation) -> dict[str, object]:
    """The same for machines."""

    def scores(machines: tuple[MachineScore, ...]) -> list[dict[str, float]]:
        rows = []
        for own in OWN_RUNS:
            score = pooled(machines, own)
            if score is not None:
                rows.append(
                    {
                        "own_runs": own,
                        "median_abs_error": score.median,
                        "mean_abs_error": score.mean,
                        "median_over_machines": score.median_over_machines,
                        "coverage": score.coverage,
                        "half_width": score.half_width,
                    }
                )
        return rows

    return {
        "application": "calibration",
        "draws": found.draws,
        "between": found.between,
        "within": found.within,
        **{name: scores(machines) for _, name, machines in _together(found)},
        "machines": [
            {
                "source": one.source,
                "accelerator": one.accelerator,
                "element": one.element,
                "stack": one.stack,
                "runs": one.runs,
                "held_out": one.held_out,
                "computed": one.computed,
                "scores": [
                    {
                        "own_runs": own,
                        "median_abs_error": score.median,
                        "mean_abs_error": score.mean,
                        "coverage": score.coverage,
                        "half_width": score.half_width,
                    }
                    for own, score in one.scores.items()
                ],
            }
            for one in found.machines
        ],
    }
