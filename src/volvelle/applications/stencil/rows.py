"""What a published stencil run states, and the question it puts to the model."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

from volvelle.applications.contract import Question
from volvelle.applications.measured_table import MeasuredTable, RowHead, read_columns
from volvelle.applications.stencil.constants import stencil_constants
from volvelle.applications.stencil.estimator import Kernel, Stencil, StencilConstants, StencilLayout
from volvelle.applications.table_cells import column
from volvelle.catalogue import Catalogue
from volvelle.errors import VolvelleError
from volvelle.system.cluster import Cluster, Dimension
from volvelle.system.link import Link
from volvelle.system.topologies import FatTree
from volvelle.workload.elements import element_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class StencilMeasurement:
    """One run, as its source states it."""

    head: RowHead
    system: str
    date: str
    device: str = column("device", needed=True)
    chip: str = column("chip", needed=True)
    """The catalogue's chip, our assignment."""
    memory_rate: float | None = column("memory_gbs", scale=1e9)
    """Peak of one device, bytes per second."""
    devices: int | None = column("n_devices")
    points: int | None = column("points", needed=True)
    x: int | None = column("nx", needed=True)
    y: int | None = column("ny", needed=True)
    z: int | None = column("nz", needed=True)
    element: str
    kernel: str
    effective: float | None = column("rate_gbs", scale=1e9, measured=True)
    """One read and one write of every cell over the time of a step, bytes per second."""

    @property
    def cell_updates(self) -> float | None:
        """Cells a second."""
        return None if self.effective is None else self.effective / (2.0 * float(element_bytes(self.element)))


def stencil_measurements(file: Path | None = None) -> MeasuredTable[StencilMeasurement]:
    """All rows: those of the package, or those of one file (``.csv``, or ``.csv.gz``)."""
    return read_columns("stencil", StencilMeasurement, file=file)


StencilQuestion = Question[Stencil, StencilLayout, StencilConstants]


def stencil_question(row: StencilMeasurement, catalogue: Catalogue) -> StencilQuestion | str:
    """The question a row puts, or why it puts none."""
    if row.head.split == "excluded":
        return f"excluded: {row.head.excluded_because}"
    kernel = next((word for word in get_args(Kernel) if word == row.kernel), None)
    if kernel is None or row.points is None or not (row.x and row.y and row.z):
        return "it does not state its points, its grid or its kind of kernel"
    if (row.devices or 1) > 1:
        return "it ran on several devices, of which rows do not state the network"
    try:
        work = Stencil(grid=(row.x, row.y, row.z), points=row.points, element=row.element)
        system = _machine(row, catalogue)
    except VolvelleError as error:
        return str(error)
    return Question(
        candidates=((work, StencilLayout(processes=(1, 1, 1))),),
        system=system,
        calibration=stencil_constants(kernel=kernel),
    )


def _machine(row: StencilMeasurement, catalogue: Catalogue) -> Cluster:
    """One chip of the catalogue, with the memory rate that a row states."""
    chip = catalogue.chip(row.chip)
    if row.memory_rate is not None:
        chip = replace(chip, memories=(replace(chip.memory, rate=row.memory_rate), *chip.memories[1:]))
    alone = Dimension(name="alone", size=1, topology=FatTree(), link=Link(name="none", rate=1.0))
    return replace(catalogue.with_chip(Cluster(name=row.device, chip=chip, dimensions=(alone,)), row.chip), chip=chip)
