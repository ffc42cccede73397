"""What a published run of HPL-MxP states, and the question it puts to the model, with what had to be assumed.

Lists state neither N nor NB: the largest matrix is taken whose factors fit nine tenths of the memory, in blocks as the
builds of that time have them. What every column means is said in ``data/measurements/README.md``.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from volvelle.applications.contract import Question
from volvelle.applications.hpl.constants import hpl_constants
from volvelle.applications.hpl.plan import largest_order
from volvelle.applications.hpl_mxp.constants import mxp_constants
from volvelle.applications.hpl_mxp.estimator import FACTORS, Kept, MxpConstants
from volvelle.applications.measured_table import MeasuredTable, RowHead, read_columns
from volvelle.applications.table_cells import column
from volvelle.catalogue import Catalogue
from volvelle.errors import VolvelleError
from volvelle.mapping.process_grid import ProcessGrid, usable_grid
from volvelle.workload.families.hpl import Hpl

FILLED = 0.9
"""Share of memory that factors fill where a run does not state N."""
_EARLY = "202208"
"""Builds of NVIDIA's until here have the blocks of HPL's own."""
_TERA = 1e12


@dataclass(frozen=True, slots=True, kw_only=True)
class MxpMeasurement:
    """One run, as its source states it."""

    head: RowHead
    system: str
    date: str
    chip: str = column("chip", needed=True)
    cluster: str
    """The catalogue's entry that describes the system: our assignment."""
    devices: int | None = column("n_devices", needed=True)
    order: int | None = column("n")
    block: int | None = column("nb")
    rows: int | None = column("p")
    columns: int | None = column("q")
    element: str
    kept: str = column("fp64_matrix")
    figure: str
    """``whole``, or ``factorisation`` where refinement is not in the rate."""
    rate: float | None = column("rate_tflops", scale=_TERA, measured=True)


def mxp_measurements(file: Path | None = None) -> MeasuredTable[MxpMeasurement]:
    """All rows: those of the package, or those of one file (``.csv``, or ``.csv.gz``)."""
    return read_columns("hpl_mxp", MxpMeasurement, file=file)


MxpQuestion = Question[Hpl, ProcessGrid, MxpConstants]


def mxp_question(row: MxpMeasurement, catalogue: Catalogue) -> MxpQuestion | str:
    """The question a row puts, or why it puts none."""
    if row.head.split == "excluded":
        return f"excluded: {row.head.excluded_because}"
    if row.rate is None or row.devices is None:
        return "it states no rate" if row.rate is None else "it does not state how many devices ran"
    kept = next((word for word in get_args(Kept) if word == row.kept), None)
    if kept is None or not row.cluster:
        return "it names no cluster of the catalogue, or not where its matrix in double precision is"
    try:
        return _asked(row, kept, catalogue)
    except VolvelleError as error:
        return str(error)


def _asked(row: MxpMeasurement, kept: Kept, catalogue: Catalogue) -> MxpQuestion:
    cluster = catalogue.with_chip(catalogue.cluster(f"{row.cluster}/{row.devices}"), row.chip)
    family = catalogue.chip_file(row.chip).family
    constants = mxp_constants(family, kept=kept)
    assumed = []
    block = row.block
    if block is None:
        early = row.date.replace("-", "") <= _EARLY and catalogue.chip_file(row.chip).vendor == "NVIDIA"
        block = hpl_constants(family, date=row.date.replace("-", "")).block if early else constants.block
        assumed.append(f"NB {block}")
    if row.rows and row.columns:
        rows, columns = row.rows, row.columns
    else:
        rows, columns = usable_grid(cluster.accelerators)
        assumed.append(f"{rows} × {columns} processes")
    order = row.order
    if order is None:
        order = largest_order(cluster, rows * columns, memory=FILLED, block=block, word=FACTORS)
        assumed.append(f"N {order:,}")
    node = cluster.spans[-2] if len(cluster.dimensions) > 1 else 1
    return Question(
        candidates=(
            (
                Hpl(name=row.head.row_id, order=order, block=block, element=row.element or "fp16"),
                ProcessGrid.for_nodes(rows, columns, node=node),
            ),
        ),
        system=cluster,
        calibration=constants,
        assumed=tuple(assumed),
        outside=() if constants.fitted else (f"no fitted run was on {family}",),
    )
