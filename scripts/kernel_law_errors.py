"""Writes ``calibrations/kernel_laws.csv``: how far the law that traces are timed by is off on measured products.

Of every table of calibration rows (a chip, an element type, the software) ln(measured / law), mean and deviation, by
kind of product; of two chips on which the same products were measured, the same of the ratio of the law. Takes five
seconds.
"""

import csv
import io
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np

from volvelle import Catalogue
from volvelle.applications.kernels.application import KERNELS
from volvelle.applications.kernels.law_error import FILE, kind_of_product
from volvelle.applications.kernels.prediction import CHIPS, ELEMENTS, why_unusable
from volvelle.applications.measured_table import calibration_rows
from volvelle.catalogue.packaged_rows import packaged_rows
from volvelle.estimators.trace_replay.operation_times import OperationTimes
from volvelle.estimators.uncertainty import sampled
from volvelle.system.cluster import Cluster
from volvelle.workload.elements import ELEMENT_BYTES
from volvelle.workload.trace.counting import product_work
from volvelle.workload.trace.values import Work

TARGET = Path(__file__).parent.parent / "src" / "volvelle" / "catalogue" / "data" / FILE
COLUMNS = ("kind", "chip", "other_chip", "family", "element", "backend", "rows", "mean", "deviation", "inputs")
TRAINED_WITH = {"A100-80GB PCIe": "a100-pcie-80gb", "B200-SXM": "b200", "V100-32GB": "v100-sxm2-32gb"}
"""Chips of the catalogue by what measured shapes of training call them."""
FEWEST = 4
"""Products that a table has at least."""
Table = tuple[str, str, str]
"""Chip, element type and software."""


@cache
def _machine(chip: str) -> Cluster:
    known = Catalogue()
    return known.with_chip(known.cluster("dgx-h100/8"), chip)


@cache
def _times(chip: str) -> tuple[OperationTimes, OperationTimes]:
    return OperationTimes(_machine(chip)), OperationTimes(sampled(_machine(chip))[0])


def _work(m: float, n: float, k: float, batch: float, element: str) -> Work:
    return product_work(m, n, k, batch, element, ELEMENT_BYTES[element])


def _measured() -> Iterator[tuple[Table, Work, float]]:
    """Tables, products and seconds."""
    for row in calibration_rows(KERNELS.rows(), shipped=True):
        if row.operation == "gemm" and why_unusable(row) is None:
            element = ELEMENTS[row.element]
            work = _work(float(row.m or 0), float(row.n or 0), float(row.k or 0), 1.0, element)
            yield (CHIPS[row.system], row.element, row.backend), work, float(row.time or 0)
    for line in packaged_rows("measurements/kernel_efficiency.csv"):
        if line["op"] == "matmul":
            sizes = (float(line[name]) for name in ("m", "n", "k", "batch"))
            table = (TRAINED_WITH[line["gpu"]], line["element"], line["source"].partition(" ")[0])
            yield table, _work(*sizes, line["element"]), float(line["time_us"]) * 1e-6


def _rows() -> Iterator[Mapping[str, object]]:
    residuals: dict[str, dict[Table, dict[Work, list[float]]]] = defaultdict(lambda: defaultdict(dict))
    for table, work, seconds in _measured():
        law = _times(table[0])[0](work)
        assert law is not None, work
        residuals[kind_of_product(work)][table].setdefault(work, []).append(float(np.log(seconds / law.seconds)))
    for kind, tables in sorted(residuals.items()):
        means = {table: {work: float(np.mean(e)) for work, e in works.items()} for table, works in tables.items()}
        for table, works in sorted(means.items()):
            if len(works) >= FEWEST:
                yield _row(kind, table, "", list(works.values()), float(np.mean([_doubt(w, table[0]) for w in works])))
        for one, other in combinations(sorted(means), 2):
            # Element types are named as sources name them; shapes of training are all of sixteen bits.
            both = [(w, twin) for w in means[one] if (twin := _twin(w, means[other])) is not None]
            if one[0] != other[0] and len(both) >= FEWEST:
                apart = [means[other][twin] - means[one][w] for w, twin in both]
                doubt = float(np.mean([_doubt(w, one[0], other[0]) for w, _ in both]))
                yield _row(kind, one, other[0], apart, doubt)


def _twin(work: Work, others: Mapping[Work, float]) -> Work | None:
    return next((other for other in others if other.product == work.product), None)


def _doubt(work: Work, chip: str, other: str = "") -> float:
    """One standard deviation of the law, or of its ratio, as numbers of chips vary."""
    logs = np.log(_times(chip)[1].columns(work))
    return float(np.std(logs - np.log(_times(other)[1].columns(work)) if other else logs))


def _row(kind: str, table: Table, other: str, errors: list[float], doubt: float) -> Mapping[str, object]:
    chip, element, backend = table
    spread = float(np.std(errors, ddof=1))
    found = (
        kind,
        chip,
        other,
        _machine(chip).chip.family,
        element,
        backend,
        len(errors),
        np.mean(errors),
        spread,
        doubt,
    )
    return dict(zip(COLUMNS, found, strict=True))


def main() -> None:
    """Measure, write, report."""
    out = io.StringIO()
    written = csv.writer(out, lineterminator="\n")
    written.writerow(COLUMNS)
    for row in _rows():
        written.writerow(f"{value:.4f}" if isinstance(value, float) else value for value in row.values())
    TARGET.write_text(out.getvalue(), "utf-8")
    print(f"{TARGET.name}: {len(out.getvalue().splitlines()) - 1} rows")


if __name__ == "__main__":
    main()
