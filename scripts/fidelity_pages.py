"""Tables of how far the closed form is from replays: times by workload and cause, and peaks of activations."""

import json

from volvelle.estimators.event_driven.estimator import EventDriven
from volvelle.quantities import BYTES, show
from volvelle.report.crosscheck.text import causes_sheet, suite_layout, suite_sheet
from volvelle.report.sheet import Sheet, markdown_of
from volvelle.verbs.crosscheck.suite_check import SuiteCheck, SuiteResult, crosscheck_suite

__all__ = ["fidelity_pieces"]

_SAME = 1e-9
"""Share by which peaks may differ and be one."""


def fidelity_pieces() -> dict[str, dict[str, str]]:
    """Pieces that the page shows, and figures that it quotes."""
    found = crosscheck_suite()
    peaks = [(result, *_peaks(result)) for result in found.results]
    differing = [row for row in peaks if abs(row[2] / row[1] - 1.0) > _SAME]
    pieces = {
        "fidelity-suite": markdown_of(suite_sheet(found)),
        "fidelity-causes": markdown_of(causes_sheet(found)),
        "fidelity-memory": markdown_of(_memory_sheet(differing)),
    }
    return {"pieces": pieces, "quoted": _quoted(found) | {"fidelity_peaks": f"{len(peaks) - len(differing)}"}}


def _quoted(found: SuiteCheck) -> dict[str, str]:
    return {
        "fidelity_workloads": f"{found.workloads}",
        "fidelity_median": f"{100.0 * found.median:.2f} %",
        "fidelity_worst": f"{100.0 * found.worst:.1f} %",
        "fidelity_above": f"{found.above}",
    }


def _peaks(result: SuiteResult) -> tuple[float, float]:
    """Bytes of activations on the fullest stage, by the closed form and by the replayed curve."""
    closed = result.check.estimate
    kept = sum(float(part.bytes) for part in closed.memory if part.name == "activations")
    curves = EventDriven().replayed(closed.workload, result.check.cluster, result.check.mapping).memory
    return kept, max(curve.peak for curve in curves)


def _memory_sheet(rows: list[tuple[SuiteResult, float, float]]) -> Sheet:
    numbers = ("closed form", "replay", "closed form against replay")
    return Sheet(
        title="Peaks of activations that differ",
        columns=("workload", "layout", *numbers),
        rows=tuple(
            (
                f"{result.row.model} on {result.row.system}",
                suite_layout(result),
                show(closed, BYTES),
                show(event, BYTES),
                f"{100.0 * (closed / event - 1.0):+.2f} %",
            )
            for result, closed, event in sorted(rows, key=lambda row: -abs(row[1] / row[2] - 1.0))
        ),
        numbers=frozenset(numbers),
    )


if __name__ == "__main__":
    print(json.dumps(fidelity_pieces()))
