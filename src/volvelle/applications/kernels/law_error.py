"""How far the laws that a recorded trace is timed by are off: kernels by measured products, exchanges by collectives.

Traces are timed by the laws of whole training steps, with the constants that such steps taught. Held against measured
products they are off by a factor that all products of a chip and its software share, and by one of each product beside;
between two chips much of the first cancels. ``scripts/kernel_law_errors.py`` writes the table.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import combinations
from math import log, sqrt
from statistics import median

from volvelle.applications.collectives.collective_error import collective_error, links_of
from volvelle.catalogue.packaged_rows import packaged_rows
from volvelle.estimators.trace_replay.under_uncertainty import KernelLawError, LawErrors
from volvelle.estimators.uncertainty import UNVALIDATED
from volvelle.system.cluster import Cluster
from volvelle.workload.elements import ELEMENT_BYTES
from volvelle.workload.trace.values import Communication, Work

FILE = "calibrations/kernel_laws.csv"


FEW_ROWS = 1024
"""Products of fewer rows are of short batches: libraries cut them otherwise than the law does."""


def kind_of_product(work: Work) -> str:
    """What products are told apart by: rows, and bytes of an element; what is no product counts as a plain one."""
    few = work.product is not None and work.product[0] < FEW_ROWS
    return f"{'few' if few else 'many'} rows, {'16 bits' if ELEMENT_BYTES.get(work.element, 4.0) >= 2 else '8 bits'}"


@cache
def kernel_law_errors() -> Mapping[str, tuple[KernelLawError, KernelLawError]]:
    """Kind of product → the error of the law on a chip, and that of its ratio between two, by calibration rows."""
    rows = packaged_rows(FILE)
    pairs = [row for row in rows if row["other_chip"]]
    single = _size([float(row["deviation"]) for row in pairs])
    found = {}
    for kind in dict.fromkeys(row["kind"] for row in rows):
        tables = [row for row in rows if row["kind"] == kind and not row["other_chip"]]
        # Around no error, not around the mean of tables: what all are off by stays in the answer, and in its error.
        alone = KernelLawError(
            common=_size([float(row["mean"]) for row in tables]),
            single=_size([float(row["deviation"]) for row in tables]),
            inputs=median(float(row["inputs"]) for row in tables),
        )
        apart = [_apart(one, other) for one, other in combinations(tables, 2) if _alike(one, other)]
        apart += [float(row["mean"]) ** 2 for row in pairs if row["kind"] == kind]
        common = sqrt(max(0.0, sum(apart) / len(apart)))
        inputs = median(float(row["inputs"]) for row in pairs)
        found[kind] = (alone, KernelLawError(common=common, single=single, inputs=inputs))
    return found


def _alike(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """Whether two tables are of the same software and type on two chips."""
    return all(one[name] == other[name] for name in ("element", "backend")) and one["chip"] != other["chip"]


def _apart(one: Mapping[str, str], other: Mapping[str, str]) -> float:
    """The square by which means of two tables differ, less what chance makes of means of so few."""
    chance = sum(float(row["deviation"]) ** 2 / int(row["rows"]) for row in (one, other))
    return (float(one["mean"]) - float(other["mean"])) ** 2 - chance


def _size(values: Sequence[float]) -> float:
    return sqrt(sum(value * value for value in values) / len(values))


@cache
def measured_families() -> frozenset[str]:
    """Families of chips with measured products."""
    return frozenset(row["family"] for row in packaged_rows(FILE))


def law_errors(on: Cluster, source: Cluster | None) -> LawErrors:
    """Of a trace on a machine, recorded on another."""
    known, kinds = measured_families(), kernel_law_errors()
    measured = on.chip.family in known
    both = measured and (source is None or source.chip.family in known)

    def kernel(work: Work, *, ratio: bool) -> KernelLawError:
        found = kinds[kind_of_product(work)][ratio]
        return found if (both if ratio else measured) else _unmeasured(found)

    def exchange(asked: Communication, along: Sequence[float]) -> tuple[str, float]:
        told, factor = collective_error(asked.size, links_of(on, along))
        return told, log(factor)

    return LawErrors(kernel=kernel, exchange=exchange)


def _unmeasured(error: KernelLawError) -> KernelLawError:
    """On a family of chips without measured products: no less than a third."""
    return KernelLawError(common=max(error.common, log(UNVALIDATED)), single=error.single, inputs=error.inputs)
