"""What logs of somebody's own taught: runs before and after, constants, links, what was refused, what it covers."""

from math import expm1

from volvelle.quantities import SECONDS, WATTS, percent, show
from volvelle.report.terminal import show_table, wide_console
from volvelle.verbs.own_runs.calibrate import Calibrated

_LISTED = 12
"""Refused lines that are listed; of more it is said how many."""


def print_own_runs(found: Calibrated) -> None:
    """Print it."""
    console = wide_console()
    fit = found.fit
    if fit is not None and found.runs:
        rows = (
            (
                one.place,
                show(one.run.seconds, SECONDS),
                f"{one.logged.steady.steps}" if one.logged.steady else "–",
                percent(expm1(-before), 1, signed=True),
                percent(expm1(-after), 1, signed=True) if len(found.runs) > 1 else "–",
            )
            for one, before, after in zip(found.runs, found.errors.tolist(), fit.after.tolist(), strict=False)
        )
        show_table("own runs", ("log",), ("a step", "steady steps", "off before", "off after, left out"), rows)
    if found.factors:
        rows_of = ((name, f"× {factor:.3f}") for name, factor in found.factors.items())
        show_table("constants", ("constant",), ("factor",), rows_of)
    for link in found.links:
        said = ((name, _shown(name, link.before[name]), _shown(name, link.after[name])) for name in link.after)
        title = (
            f"{link.link}, {link.rows} rows: median error {percent(link.error_before)} before, "
            f"{percent(link.error_after)} after"
        )
        show_table(title, ("constant",), ("catalogue", "own"), said)
    if found.products is not None:
        console.print(f"own products sustain {percent(found.products)} of what the catalogue says")
    if found.linpack is not None:
        console.print(
            f"Linpack runs at {percent(found.linpack.value)} of what is predicted without own runs, ± "
            f"{percent(found.linpack.error - 1.0)} (one standard deviation); volvelle plan hpl --runs takes it"
        )
    if found.power is not None:
        console.print(f"a busy chip draws {show(found.power, WATTS)}")
    if found.memory is not None:
        console.print(f"chips are taken to reserve {percent(found.memory.ratio)} of what is predicted")
    if found.alike is not None and found.elsewhere is not None and found.before is not None:
        console.print(
            f"one standard deviation: {percent(found.before - 1.0)} before; {percent(found.alike - 1.0)} of runs like "
            f"these, {percent(found.elsewhere - 1.0)} of other shapes on this machine"
        )
    for place, why in found.unasked:
        console.print(f"not used: {place}: {why}", style="yellow")
    refused = [(log.file, one) for log in found.logs for one in log.refused]
    for file, one in refused[:_LISTED]:
        console.print(f"refused: {file}, line {one.line}: {one.why}", style="yellow")
    if len(refused) > _LISTED:
        console.print(f"refused: {len(refused) - _LISTED} lines more (--json lists all)", style="yellow")
    for words in dict.fromkeys(words for log in found.logs for words in log.warnings):
        console.print(f"note: {words}")
    for run in found.runs:
        for words in run.notes:
            console.print(f"note: {run.place}: {words}")
    for words in found.notes:
        console.print(f"note: {words}")
    if found.saved is not None:
        verb = "plan hpl … --runs" if found.fit is None and not found.links else "estimate … --calibrated"
        console.print(f"saved: {found.saved}; volvelle {verb} {found.saved}")


def _shown(name: str, value: float) -> str:
    return percent(value, 1) if name == "efficiency" else show(value, SECONDS)


def own_runs_document(found: Calibrated) -> dict[str, object]:
    """The same for machines, in SI units."""
    fit = found.fit
    after = fit.after.tolist() if fit is not None else []
    return {
        "application": "training",
        "file": found.file.model_dump(),
        "runs": [
            {
                "log": one.logged.file,
                "first_line": one.logged.first_line,
                "last_line": one.logged.last_line,
                "seconds": one.run.seconds,
                "steady_steps": one.logged.steady.steps if one.logged.steady else 0,
                "spread": one.logged.steady.spread if one.logged.steady else None,
                "error": expm1(-error),
                "error_left_out": expm1(-left),
            }
            for one, error, left in zip(found.runs, found.errors.tolist(), after, strict=False)
        ],
        "constants": dict(found.factors),
        "disagreeing": [{"log": place, "deviations": deviations} for place, deviations in found.disagreeing],
        "refused": [{"log": log.file, "line": one.line, "why": one.why} for log in found.logs for one in log.refused],
        "unused": [{"log": place, "why": why} for place, why in found.unasked],
        "deviation_before": found.before,
        "deviation": found.elsewhere,
        "deviation_alike": found.alike,
        "notes": list(found.notes),
    }
