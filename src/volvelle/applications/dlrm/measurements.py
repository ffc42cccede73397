"""Reads measured training steps of recommendation models: those that ship with the package, or a file of one's own."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from volvelle.applications.measured_table import MeasuredTable, RowHead, read_table
from volvelle.applications.table_cells import number, whole

__all__ = ["DlrmMeasurement", "dlrm_measurements"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DlrmMeasurement:
    """One measured configuration, as its source states it."""

    head: RowHead
    model: str
    billion_parameters: float | None
    tables: int | None
    width: int | None
    lookups: int | None
    """Of one sample, over all tables."""
    bottom: tuple[int, ...]
    """Widths of the bottom stack, its input first."""
    top: tuple[int, ...]
    interaction: str
    accelerator: str
    chips: int | None
    chips_per_node: int | None
    network: str
    framework: str
    precision: str
    batch: int | None
    seconds: float | None
    """A step: as stated, or from samples per second."""


def dlrm_measurements(file: Path | None = None) -> MeasuredTable[DlrmMeasurement]:
    """All rows: those of the package, or those of one file (``.csv``, or ``.csv.gz``)."""
    return read_table(
        "dlrm",
        _measurement,
        needed=("row_id", "model", "n_tables", "emb_dim", "bottom_mlp", "top_mlp", "accel", "n_accel", "global_batch"),
        measured=("step_time_ms", "samples_per_s"),
        file=file,
    )


def _measurement(head: RowHead, row: Mapping[str, str]) -> DlrmMeasurement:
    batch, milliseconds, speed = whole(row, "global_batch"), number(row, "step_time_ms"), number(row, "samples_per_s")
    seconds = None if milliseconds is None else milliseconds * 1e-3
    if seconds is None and speed is not None and batch is not None:
        seconds = batch / speed
    return DlrmMeasurement(
        head=head,
        model=row["model"],
        billion_parameters=number(row, "params_b"),
        tables=whole(row, "n_tables"),
        width=whole(row, "emb_dim"),
        lookups=whole(row, "lookups_per_sample"),
        bottom=_widths(row, "bottom_mlp"),
        top=_widths(row, "top_mlp"),
        interaction=row.get("interaction", ""),
        accelerator=row["accel"],
        chips=whole(row, "n_accel"),
        chips_per_node=whole(row, "accel_per_node"),
        network=row.get("network", ""),
        framework=row.get("framework", ""),
        precision=row.get("precision", ""),
        batch=batch,
        seconds=seconds,
    )


def _widths(row: Mapping[str, str], column: str) -> tuple[int, ...]:
    text = row.get(column, "")
    parts = text.split("-") if text else []
    if not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise ValueError(f"{column} is {text!r}; it must be widths joined by hyphens, like 512-256-128")
    return tuple(int(part) for part in parts)
