"""What a measured step of a recommendation model states, and the question it puts, with what had to be assumed."""

from dataclasses import dataclass
from pathlib import Path

from volvelle.applications.contract import Question
from volvelle.applications.dlrm.constants import dlrm_model_error
from volvelle.applications.dlrm.estimator import DlrmStep
from volvelle.applications.dlrm.models import CRITEO_POOLING, CRITEO_ROWS, criteo_tables
from volvelle.applications.dlrm.plan import candidates
from volvelle.applications.dlrm.tables import TableElements
from volvelle.applications.measured_table import MeasuredTable, RowHead, read_columns
from volvelle.applications.table_cells import column
from volvelle.catalogue.aliases import accelerator_alias
from volvelle.catalogue.loader import Catalogue
from volvelle.mapping.table_placement import TablePlacement
from volvelle.system.cluster import Cluster, Dimension
from volvelle.system.topologies import Switch
from volvelle.workload.families.dlrm import Dlrm, EmbeddingTables


@dataclass(frozen=True, slots=True, kw_only=True)
class DlrmMeasurement:
    """One measured configuration, as its source states it."""

    head: RowHead
    model: str = column("model", needed=True)
    billion_parameters: float | None = column("params_b")
    tables: int | None = column("n_tables", needed=True)
    width: int | None = column("emb_dim", needed=True)
    lookups: int | None = column("lookups_per_sample")
    """Of one sample, over all tables."""
    bottom: tuple[int, ...] = column("bottom_mlp", needed=True)
    """Widths of the bottom stack, its input first."""
    top: tuple[int, ...] = column("top_mlp", needed=True)
    interaction: str
    accelerator: str = column("accel", needed=True)
    chips: int | None = column("n_accel", needed=True)
    chips_per_node: int | None = column("accel_per_node")
    network: str
    framework: str
    precision: str
    batch: int | None = column("global_batch", needed=True)
    step_time: float | None = column("step_time_ms", scale=1e-3, measured=True)
    samples_per_second: float | None = column("samples_per_s", measured=True)

    @property
    def seconds(self) -> float | None:
        """A step: as stated, or from samples per second."""
        if self.step_time is not None or self.batch is None or self.samples_per_second is None:
            return self.step_time
        return self.batch / self.samples_per_second


def dlrm_measurements(file: Path | None = None) -> MeasuredTable[DlrmMeasurement]:
    """All rows: those of the package, or those of one file (``.csv``, or ``.csv.gz``)."""
    return read_columns("dlrm", DlrmMeasurement, file=file)


DlrmQuestion = Question[DlrmStep, TablePlacement, str]
"""A step on a machine, by every placement; its constants are those of the software that ran: ``hugectr`` or other."""


def dlrm_question(row: DlrmMeasurement, catalogue: Catalogue) -> DlrmQuestion | str:
    """The question a row puts, or why it puts none."""
    if row.head.split == "excluded":
        return f"excluded: {row.head.excluded_because}"
    if row.seconds is None or row.batch is None:
        return "it states no step time, or no batch"
    if row.chips is None or row.tables is None or row.width is None or not row.bottom or not row.top:
        return "it does not state accelerators, tables and layers"
    if "CPU memory" in row.accelerator:
        return "its tables are in host memory"
    if "extra large" in row.model:
        return "its tables do not fit on its accelerators"
    assumed = []
    cluster = _cluster(row, catalogue)
    if cluster is None:
        return f"the catalogue has no cluster of {row.accelerator!r}"
    if "likely" in row.accelerator or "?" in row.accelerator:
        assumed.append("accelerator")
    tables, guessed = _tables(row)
    if guessed:
        assumed.append("rows of tables")
    mixed = "fp16" in row.precision or "bf16" in row.precision
    tf32 = "tf32" in row.precision and not mixed
    hugectr = row.framework.lower().startswith("hugectr")
    shape = Dlrm(
        name=row.model,
        dense=row.bottom[0],
        bottom=row.bottom[1:],
        top=row.top,
        tables=tables,
        interaction="cross" if "DCN" in row.interaction.upper() or "cross" in row.interaction else "dot",
        element="fp16" if mixed else "fp32",
    )
    assumed.append("placement: the best found")
    step = DlrmStep(
        shape=shape,
        batch=row.batch,
        matrix_element="fp16" if mixed else "tf32" if tf32 else "fp32",
        tables=TableElements(sent="fp16" if mixed else "fp32", state=4.0 if hugectr else 0.0),
    )
    stack = "hugectr" if hugectr else "other"
    return Question(
        candidates=candidates(step, cluster.accelerators),
        system=cluster,
        calibration=stack,
        assumed=tuple(assumed),
        outside=dlrm_model_error(stack).outside(cluster),
    )


def _tables(row: DlrmMeasurement) -> tuple[tuple[EmbeddingTables, ...], bool]:
    """The tables: those of Criteo where counts agree, else equal ones."""
    assert row.tables is not None
    assert row.width is not None
    lookups = row.lookups or row.tables
    if row.tables == len(CRITEO_ROWS):
        several = lookups == sum(CRITEO_POOLING)
        scale = 1.0
        total = sum(CRITEO_ROWS) * row.width
        stated = row.billion_parameters
        if stated is None and "small" in row.model:
            # 15 GB of fp32 in the source's small set: rare categories share a row.
            scale = 15e9 / 4.0 / total
        known = stated is not None and abs(stated * 1e9 / total - 1.0) < 0.01
        return criteo_tables(row.width, several=several, scale=scale), not known
    each = (row.billion_parameters or 1.0) * 1e9 / row.tables / row.width
    return (
        EmbeddingTables(
            count=row.tables,
            rows=max(1, round(each)),
            width=row.width,
            pooling=max(1, round(lookups / row.tables)),
        ),
    ), True


def _cluster(row: DlrmMeasurement, catalogue: Catalogue) -> Cluster | None:
    alias = accelerator_alias(row.accelerator)
    if alias is None:
        return None
    assert row.chips is not None
    if alias.chip == "h100-pcie":
        link = Dimension(name="PCIe", size=row.chips, topology=Switch(), link=catalogue.link("pcie5-x16"))
        return catalogue.calibrated(
            Cluster(name=f"h100-pcie/{row.chips}", chip=catalogue.chip("h100-pcie"), dimensions=(link,))
        )
    return None if alias.cluster is None else catalogue.cluster(f"{alias.cluster}/{row.chips}")
