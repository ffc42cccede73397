"""Reads measured runs of High-Performance Linpack: those that ship with the package, or a file of one's own.

Two sets of columns are understood and told apart by the header: that of ``hpl.csv.gz`` (single runs) and that of
``hpl_top500.csv.gz`` (entries of the TOP500). What every column means is said in ``data/measurements/README.md``.
"""

from dataclasses import dataclass
from pathlib import Path

from volvelle.applications.measured_table import MeasuredTable, RowHead, by_columns, joined, read_table
from volvelle.applications.table_cells import column, table_text

__all__ = ["HplMeasurement", "hpl_measurements"]

_TERA = 1e12


@dataclass(frozen=True, slots=True, kw_only=True)
class HplMeasurement:
    """One measured run, as its source states it; what is not stated is None or empty."""

    head: RowHead
    system: str = column("system", "name", "site")
    computer: str = column("computer", "system")
    """The servers, in words."""
    processor: str = column("cpu", "processor")
    accelerator: str = column("accel", "accelerator")
    date: str = column("date", "list")
    """Year and month of the run or of the list."""
    chips: int | None = column("n_accel", "n_accel_derived")
    nodes: int | None
    chips_per_node: int | None = column("accel_per_node")
    total_cores: float | None
    accelerator_cores: float | None = column("accel_cores", zero=True)
    inside: str = column("interconnect_l2")
    """What joins accelerators of a node, in words."""
    network: str = column("interconnect_l3", "interconnect")
    order: int | None = column("N")
    block: int | None = column("NB")
    rows: int | None = column("P")
    columns: int | None = column("Q")
    rate: float | None = column("rmax_tflops", scale=_TERA)
    """FLOP/s, as measured."""
    peak: float | None = column("rpeak_tflops", scale=_TERA)
    paper_layered: float | None = column("paper_layered_tflops", scale=_TERA)
    """What Kim et al. print for their layered model, FLOP/s."""
    paper_single: float | None = column("paper_single_layer_tflops", scale=_TERA)
    paper_original: float | None = column("paper_original_tflops", scale=_TERA)

    @property
    def host_cores(self) -> float | None:
        """Of all nodes."""
        return None if self.total_cores is None else self.total_cores - (self.accelerator_cores or 0.0)


def hpl_measurements(file: Path | None = None) -> MeasuredTable[HplMeasurement]:
    """All rows: those of the package, or those of one file (``.csv``, or ``.csv.gz``)."""
    if file is not None:
        return _top500(file) if "n_accel_derived" in table_text(file).partition("\n")[0] else _runs(file)
    return joined(_runs(None), _top500(None))


def _runs(file: Path | None) -> MeasuredTable[HplMeasurement]:
    needed = ("row_id", "accel", "n_accel", "N")
    return read_table("hpl", by_columns(HplMeasurement), needed=needed, measured=("rmax_tflops",), file=file)


def _top500(file: Path | None) -> MeasuredTable[HplMeasurement]:
    needed = ("row_id", "accelerator", "n_accel_derived", "interconnect", "N")
    return read_table("hpl_top500", by_columns(HplMeasurement), needed=needed, measured=("rmax_tflops",), file=file)
