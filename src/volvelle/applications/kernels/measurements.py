"""Reads measured kernels: those that ship with the package, or a file of one's own.

What every column means and where each row comes from is said in ``data/measurements/README.md``.
"""

from dataclasses import dataclass, replace
from pathlib import Path

from volvelle.applications.measured_table import MeasuredTable, RowHead, read_columns
from volvelle.applications.table_cells import column
from volvelle.estimators.kernel_families import FAMILIES


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelMeasurement:
    """One timed kernel; which of the sizes are there depends on the operation."""

    head: RowHead
    operation: str = column("op", needed=True)
    system: str = column("system", needed=True)
    """The chip, as the source calls it."""
    backend: str
    """The software whose kernel ran."""
    version: str
    element: str = column("dtype", needed=True)
    """Of the operands."""
    cache_element: str = column("kv_cache_dtype")
    kernel: str
    flag: str
    """``eager``: not under a graph; ``warm-l2``: weights may lie in the cache."""
    time: float | None = column("microseconds", scale=1e-6, measured=True)
    """Seconds."""
    m: float | None
    n: float | None = column("n", zero=True)
    k: float | None
    batch: float | None
    query: float | None
    kv: float | None
    heads: float | None
    kv_heads: float | None
    head_dim: float | None
    window: float | None = column("window", zero=True)
    tokens: float | None
    hidden: float | None
    inter: float | None
    topk: float | None
    experts: float | None
    tp: float | None
    ep: float | None
    distribution: str
    gpus: float | None
    bytes: float | None


KINDS = {operation: family.kind for family in FAMILIES for operation in family.operations}
"""What a row times, by what the source calls the operation."""
SIZES = (
    *("m", "n", "k", "batch", "query", "kv", "heads", "kv_heads", "head_dim"),
    *("tokens", "hidden", "inter", "topk", "experts", "tp", "ep", "gpus", "bytes"),
)
"""Fields that are sizes."""


def kernel_measurements(file: Path | None = None) -> MeasuredTable[KernelMeasurement]:
    """All rows, grouped by what they time: those of the package, or those of one file (``.csv``, or ``.csv.gz``)."""
    read = read_columns("kernels", KernelMeasurement, file=file)
    return replace(
        read,
        rows=tuple(
            replace(row, head=replace(row.head, group=KINDS.get(row.operation, row.operation))) for row in read.rows
        ),
    )
