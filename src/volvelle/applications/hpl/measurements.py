"""Reads measured runs of High-Performance Linpack: those that ship with the package, or a file of one's own.

Two sets of columns are understood and told apart by the header: that of ``hpl.csv.gz`` (single runs) and that of
``hpl_top500.csv.gz`` (entries of the TOP500). What every column means is said in ``data/measurements/README.md``.
"""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from volvelle.applications.measured_table import MeasuredTable, RowHead, read_table
from volvelle.applications.table_cells import number, whole
from volvelle.errors import DescriptionError

__all__ = ["HplMeasurement", "hpl_measurements"]

_TERA = 1e12


@dataclass(frozen=True, slots=True, kw_only=True)
class HplMeasurement:
    """One measured run, as its source states it; what is not stated is None or empty."""

    head: RowHead
    system: str
    computer: str
    """The servers, in words."""
    processor: str
    accelerator: str
    date: str
    """Year and month of the run or of the list, digits only."""
    chips: int | None
    nodes: int | None
    chips_per_node: int | None
    host_cores: float | None
    """Of all nodes."""
    inside: str
    """What joins accelerators of a node, in words."""
    network: str
    order: int | None
    block: int | None
    rows: int | None
    columns: int | None
    rate: float | None
    """FLOP/s, as measured."""
    peak: float | None
    paper_layered: float | None = None
    """What Kim et al. print for their layered model, FLOP/s."""
    paper_single: float | None = None
    paper_original: float | None = None


def hpl_measurements(file: Path | None = None) -> MeasuredTable[HplMeasurement]:
    """All rows: those of the package, or those of one file (``.csv``)."""
    if file is not None:
        listed = "n_accel_derived" in _header(file)
        return _top500(file) if listed else _runs(file)
    parts = (_runs(None), _top500(None))
    return MeasuredTable(
        rows=tuple(row for part in parts for row in part.rows),
        unread=tuple(row for part in parts for row in part.unread),
    )


def _header(file: Path) -> list[str]:
    try:
        with file.open(encoding="utf-8-sig", newline="") as stream:
            return [name.strip() for name in next(csv.reader(stream), [])]
    except (OSError, UnicodeDecodeError) as error:
        raise DescriptionError(f"{file.name} cannot be read as a table of measurements: {error}") from None


def _runs(file: Path | None) -> MeasuredTable[HplMeasurement]:
    return read_table("hpl", _run, needed=("row_id", "accel", "n_accel", "N"), measured=("rmax_tflops",), file=file)


def _top500(file: Path | None) -> MeasuredTable[HplMeasurement]:
    needed = ("row_id", "accelerator", "n_accel_derived", "interconnect", "N")
    return read_table("hpl_top500", _entry, needed=needed, measured=("rmax_tflops",), file=file)


def _rate(row: Mapping[str, str], *columns: str) -> float | None:
    for column in columns:
        found = number(row, column)
        if found is not None:
            return found * _TERA
    return None


def _run(head: RowHead, row: Mapping[str, str]) -> HplMeasurement:
    return HplMeasurement(
        head=head,
        system=row.get("system", ""),
        computer=row.get("system", ""),
        processor=row.get("cpu", ""),
        accelerator=row["accel"],
        date=row.get("date", "").replace("-", ""),
        chips=whole(row, "n_accel"),
        nodes=whole(row, "nodes"),
        chips_per_node=whole(row, "accel_per_node"),
        host_cores=None,
        inside=row.get("interconnect_l2", ""),
        network=row.get("interconnect_l3", ""),
        order=whole(row, "N"),
        block=whole(row, "NB"),
        rows=whole(row, "P"),
        columns=whole(row, "Q"),
        rate=_rate(row, "rmax_tflops"),
        peak=_rate(row, "rpeak_tflops"),
        paper_layered=_rate(row, "paper_layered_tflops"),
        paper_single=_rate(row, "paper_single_layer_tflops"),
        paper_original=_rate(row, "paper_original_tflops"),
    )


def _entry(head: RowHead, row: Mapping[str, str]) -> HplMeasurement:
    cores, of_accelerators = float(row.get("total_cores") or 0), float(row.get("accel_cores") or 0)
    return HplMeasurement(
        head=head,
        system=row.get("name") or row.get("site", ""),
        computer=row.get("computer", ""),
        processor=row.get("processor", ""),
        accelerator=row["accelerator"],
        date=row.get("list", ""),
        chips=whole(row, "n_accel_derived"),
        nodes=None,
        chips_per_node=None,
        host_cores=cores - of_accelerators if cores else None,
        inside="",
        network=row["interconnect"],
        order=whole(row, "N"),
        block=None,
        rows=None,
        columns=None,
        rate=_rate(row, "rmax_tflops"),
        peak=_rate(row, "rpeak_tflops"),
    )
