"""Which calibration runs tell the errors of engines: how many, of how many publications, on what, under which load."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from volvelle.applications.serving.asking import run_of
from volvelle.applications.serving.evidence.basis import (
    BATCHES,
    CLOSED_LOOPS,
    DENSE,
    EXPERTS,
    FAMILY_LEFT_OUT,
    FITTED,
    GROUP_LEFT_OUT,
    NEVER_FITTED,
    SATURATED,
    STEPS,
)
from volvelle.applications.serving.fit import asked_by_engine, judged_by
from volvelle.applications.serving.fit_errors import LEFT_OUT, Asked, AskedRow
from volvelle.applications.serving.measurements import ServingMeasurement
from volvelle.applications.serving.runs import ServingRun
from volvelle.applications.serving.split.measured import KIND
from volvelle.applications.serving.told_settings import source_of
from volvelle.catalogue import Catalogue
from volvelle.catalogue.engines import SPLIT, ErrorRows, with_experts
from volvelle.catalogue.packaged_rows import packaged_rows

_LOADS = {
    "closed_loop": CLOSED_LOOPS,
    "static_latency": BATCHES,
    "static_phases": BATCHES,
    "saturated_throughput": SATURATED,
    "iterations": STEPS,
    KIND: CLOSED_LOOPS,
}
"""What was put on an engine, by the kind of table."""
ErrorLine = tuple[str, str, str]
"""Engine, family of chips (empty: all) and constant, like ``error ttft``."""


def judged_rows(rows: Sequence[ServingMeasurement], catalogue: Catalogue) -> Mapping[ErrorLine, ErrorRows]:
    """For every error of the table of engines, the calibration rows that it was found by."""
    errors: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for line in packaged_rows("engines.csv"):
        if line["constant"].startswith("error "):
            errors[line["engine"]][line["family"]].append(line["constant"])
    found: dict[ErrorLine, ErrorRows] = {}
    for engine, asked in (asked_by_engine(rows, catalogue) | {SPLIT: _split(rows, catalogue)}).items():
        families: dict[str, list[AskedRow]] = defaultdict(list)
        for row, run in asked:
            families[run.instance.chip.family].append((row, run))
        used = {family: own if engine == SPLIT else judged_by(own) for family, own in families.items()}
        several = sum(bool(family) for family in errors[engine]) > 1
        for family, names in errors[engine].items():
            own = used[family] if family else [one for some in used.values() for one in some]
            for name in names:
                measure = name.removeprefix("error ").split()[0]
                told = _of(own, name.removeprefix("error "), apart=f"error {with_experts(measure)}" in names)
                how = FAMILY_LEFT_OUT if several else FITTED
                if family:
                    how = GROUP_LEFT_OUT if measure in LEFT_OUT else FITTED
                found[engine, family, name] = _counted(told, NEVER_FITTED if engine == SPLIT else how)
    return found


def _split(rows: Sequence[ServingMeasurement], catalogue: Catalogue) -> list[AskedRow]:
    asked = ((row, run_of(row, catalogue)) for row in rows if row.kind == KIND)
    return [(row, run) for row, run in asked if isinstance(run, ServingRun)]


def _of(rows: Asked, name: str, *, apart: bool) -> list[AskedRow]:
    """Of one figure; of models with experts, or of the others, where errors are told apart."""
    measure, *experts = name.split()
    return [
        (row, run) for row, run in rows if row.measure == measure and (not apart or _has_experts(run) == bool(experts))
    ]


def _has_experts(run: ServingRun) -> bool:
    return run.instance.served.shape.experts is not None


def _counted(rows: Asked, judged: str) -> ErrorRows:
    instances = [run.instance for _, run in rows]
    return ErrorRows(
        rows=len({row.head.row_id for row, _ in rows}),
        sources=len({source_of(row.stated) or row.stated["source"] for row, _ in rows}),
        groups=len({(one.chip.name, one.served.shape.name) for one in instances}),
        families=tuple(sorted({one.chip.family for one in instances})),
        models=tuple(sorted({EXPERTS if _has_experts(run) else DENSE for _, run in rows})),
        weights=tuple(sorted({one.served.weights for one in instances})),
        loads=tuple(sorted({_LOADS[row.kind] for row, _ in rows})),
        judged=judged,
    )
