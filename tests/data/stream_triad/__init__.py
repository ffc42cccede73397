"""STREAM triad as an application: one folder, and one line in the registry."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, final

import numpy as np

from volvelle import Catalogue, Cluster, Contribution, Estimate, Estimator, Range
from volvelle.applications.contract import Application, Question
from volvelle.applications.fit import least_from
from volvelle.applications.fitted_constants import Fit, FittedConstant
from volvelle.applications.measured_table import CalibrationRows, MeasuredTable, RowHead, read_table
from volvelle.applications.table_cells import number, whole
from volvelle.base.option_kinds import Number
from volvelle.base.question import Option, option
from volvelle.catalogue.aliases import accelerator_alias
from volvelle.domains import GRAPH_SIZE
from volvelle.laws.roofline import kernel_time
from volvelle.quantities import BYTES_PER_SECOND, FRACTION, SECONDS, Quantity, show
from volvelle.questions.applications import CalibrateQuestion, PlanApplicationQuestion

__all__ = ["STREAM"]

_SUSTAINED = 0.9
"""Share of the peak that is assumed before anybody has fitted it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Triad:
    """Three arrays of so many elements of eight bytes on every chip."""

    elements: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TriadRow:
    """One measured run."""

    head: RowHead
    accelerator: str
    chips: int
    elements: float
    rate: float | None


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class TriadModel(Estimator[Triad, int]):
    """Memory alone: two arrays are read, one is written. What is decided is how many chips run it."""

    sustained: float

    def estimate(self, workload: Triad, system: Cluster, chips: int) -> Estimate[Triad, int]:
        """The same on every chip, so as long as on one."""
        rate = system.chip.memory.rate * self.sustained
        time = float(kernel_time(0.0, 24.0 * workload.elements, compute_rate=1.0, memory_rate=rate))
        moved = 24.0 * workload.elements * chips / time
        part = Contribution(name="triad", part="memory", time=time, exposed=True, resource="memory", law="kernel_time")
        return Estimate(
            workload=workload,
            decision=chips,
            contributions=(part,),
            chips=chips,
            facts={"bandwidth": moved},
            ranges={"bandwidth": Range(low=0.9 * moved, high=1.1 * moved, level=0.8, varied=("the model",))},
        )


class PlanStream(PlanApplicationQuestion):
    """The options of a plan, in addition to those of every plan."""

    elements: float = option(Option("--elements", "Elements of one array.", kind=Number(GRAPH_SIZE)), default=1e9)


class StreamApplication(Application[TriadRow, Triad, int, float]):
    """Memory bandwidth as STREAM measures it."""

    word: ClassVar[str] = "stream"
    about: ClassVar[str] = "STREAM triad against published runs."
    unit: ClassVar[str] = "bytes a second of the whole run"
    quantity: ClassVar[Quantity | None] = BYTES_PER_SECOND
    figure: ClassVar[str] = "bandwidth"
    calibrates: ClassVar[str] = "Fit the share of its peak that memory sustains."
    plans: ClassVar[str] = "Find how many chips a triad should run on."
    plan_options: ClassVar[type[PlanApplicationQuestion]] = PlanStream

    def rows(self, file: Path | None = None) -> MeasuredTable[TriadRow]:
        """The table beside this file, or a user's."""
        shipped = Path(__file__).with_name("rows.csv")
        needed = ("row_id", "accel", "n_accel", "elements")
        return read_table("stream", _row, needed=needed, measured=("triad_gbs",), file=file or shipped)

    def question(self, row: TriadRow, catalogue: Catalogue) -> Question[Triad, int, float] | str:
        """The machine by the accelerator's name."""
        alias = accelerator_alias(row.accelerator)
        if alias is None or alias.cluster is None:
            return f"the catalogue has no cluster of {row.accelerator!r}"
        cluster = catalogue.cluster(f"{alias.cluster}/{row.chips}")
        return Question(candidates=((Triad(elements=row.elements), row.chips),), system=cluster, calibration=_SUSTAINED)

    def estimator(self, calibration: float) -> TriadModel:
        """The model with a share of the peak."""
        return TriadModel(sustained=calibration)

    def measured(self, row: TriadRow) -> float | None:
        """Bytes a second."""
        return row.rate

    def fitted(self, rows: CalibrationRows[TriadRow], catalogue: Catalogue, question: CalibrateQuestion) -> Fit:
        """The share of the peak, by least absolute logarithmic error."""
        asked = [(row, put) for row in rows if not isinstance(put := self.question(row, catalogue), str)]

        def loss(constants: Mapping[str, float]) -> float:
            model = TriadModel(**constants)
            estimates = (model.estimate(q.work, q.system, q.decision).facts["bandwidth"] for _, q in asked)
            return float(
                np.mean([abs(np.log(found / row.rate)) for found, (row, _) in zip(estimates, asked, strict=True)])
            )

        value = least_from(loss, {"sustained": _SUSTAINED}, most=[1.0]).constants["sustained"]
        constant = FittedConstant(of="all", name="sustained", fitted=value, catalogue=_SUSTAINED, kind=FRACTION)
        return Fit(constants=(constant,), scores={"rows": float(len(asked))}, calibration={"all": value})

    def space(self, system: Cluster, catalogue: Catalogue, question: PlanStream) -> Question[Triad, int, float]:
        """Every number of chips."""
        work = Triad(elements=question.elements)
        candidates = tuple((work, chips) for chips in range(1, system.accelerators + 1))
        facts = {"elements": work.elements}
        return Question(candidates=candidates, system=system, calibration=_SUSTAINED, title="STREAM triad", facts=facts)

    def cells(self, estimate: Estimate[Triad, int]) -> Mapping[str, str]:
        """Chips, time and bandwidth."""
        rate = show(estimate.facts["bandwidth"], BYTES_PER_SECOND)
        return {"chips": str(estimate.decision), "time": show(estimate.time, SECONDS), "bandwidth": rate}


def _row(head: RowHead, row: Mapping[str, str]) -> TriadRow:
    rate, elements = number(row, "triad_gbs"), number(row, "elements")
    return TriadRow(
        head=head,
        accelerator=row["accel"],
        chips=whole(row, "n_accel") or 1,
        elements=elements or 1e9,
        rate=None if rate is None else rate * 1e9,
    )


STREAM = StreamApplication()
