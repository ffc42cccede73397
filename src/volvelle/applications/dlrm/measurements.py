"""Reads measured training steps of recommendation models: those that ship with the package, or a file of one's own."""

from dataclasses import dataclass
from pathlib import Path

from volvelle.applications.measured_table import MeasuredTable, RowHead, by_columns, read_table
from volvelle.applications.table_cells import column

__all__ = ["DlrmMeasurement", "dlrm_measurements"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DlrmMeasurement:
    """One measured configuration, as its source states it."""

    head: RowHead
    model: str
    billion_parameters: float | None = column("params_b")
    tables: int | None = column("n_tables")
    width: int | None = column("emb_dim")
    lookups: int | None = column("lookups_per_sample")
    """Of one sample, over all tables."""
    bottom: tuple[int, ...] = column("bottom_mlp")
    """Widths of the bottom stack, its input first."""
    top: tuple[int, ...] = column("top_mlp")
    interaction: str
    accelerator: str = column("accel")
    chips: int | None = column("n_accel")
    chips_per_node: int | None = column("accel_per_node")
    network: str
    framework: str
    precision: str
    batch: int | None = column("global_batch")
    step_time: float | None = column("step_time_ms", scale=1e-3)
    samples_per_second: float | None = column("samples_per_s")

    @property
    def seconds(self) -> float | None:
        """A step: as stated, or from samples per second."""
        if self.step_time is not None or self.batch is None or self.samples_per_second is None:
            return self.step_time
        return self.batch / self.samples_per_second


def dlrm_measurements(file: Path | None = None) -> MeasuredTable[DlrmMeasurement]:
    """All rows: those of the package, or those of one file (``.csv``, or ``.csv.gz``)."""
    return read_table(
        "dlrm",
        by_columns(DlrmMeasurement),
        needed=("row_id", "model", "n_tables", "emb_dim", "bottom_mlp", "top_mlp", "accel", "n_accel", "global_batch"),
        measured=("step_time_ms", "samples_per_s"),
        file=file,
    )
