"""HPCG as an application."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import ClassVar

import numpy as np

from volvelle.applications.contract import Application, Planned, Question
from volvelle.applications.distribution import QUANTILES, Column, rate_curves, told
from volvelle.applications.fitted_constants import Fit
from volvelle.applications.hpcg.constants import hpcg_factors, hpcg_families
from volvelle.applications.hpcg.estimator import Hpcg, HpcgFactors, HpcgLayout, HpcgModel
from volvelle.applications.hpcg.fit import fit_hpcg, hpcg_constants
from volvelle.applications.hpcg.own_runs import own_factors
from volvelle.applications.hpcg.plan import hpcg_layout
from volvelle.applications.hpcg.rows import HpcgMeasurement, HpcgQuestion, hpcg_measurements, hpcg_question
from volvelle.applications.hpl.power import BASIS
from volvelle.applications.measured_table import CalibrationRows
from volvelle.applications.range_evidence import RangeEvidence, error_told_by, machine_evidence
from volvelle.applications.scores import Finding, PlannedCurves
from volvelle.base.option_kinds import Number
from volvelle.base.question import Option, option
from volvelle.catalogue import Catalogue
from volvelle.catalogue.model_errors import LEVEL
from volvelle.domains import ACCELERATORS, SHARE
from volvelle.interchange.logs.readers import read_log
from volvelle.quantities import BYTES, FLOP_PER_SECOND, WATTS, Quantity, percent, show
from volvelle.questions.applications import MEMORY_TO_FILL, OWN_REPORTS, CalibrateQuestion, PlanApplicationQuestion
from volvelle.questions.shared import FIGURE
from volvelle.spread import model_reach
from volvelle.system.cluster import Cluster

HpcgPlanned = Planned[Hpcg, HpcgLayout, HpcgFactors]


class PlanHpcg(PlanApplicationQuestion):
    """Options of a plan of HPCG."""

    examples = ("--on aurora/4608", "--on dgx-h100/64 --memory 30%")

    memory: str | float = option(MEMORY_TO_FILL, kind=Number(SHARE), default="50 %")
    runs: str | None = option(OWN_REPORTS, default=None)
    run_devices: int | None = option(
        Option(
            "--run-devices", "GPUs of those runs.", kind=Number(ACCELERATORS), group="Method", usually="one per rank"
        ),
        default=None,
    )
    figure: Path | None = option(
        FIGURE, help="Draw the distribution of the rate, by the factor that varies: .svg or .png.", default=None
    )


class HpcgApplication(Application[HpcgMeasurement, Hpcg, HpcgLayout, HpcgFactors]):
    """Runs of the benchmark against published ones."""

    word: ClassVar[str] = "hpcg"
    about: ClassVar[str] = "HPCG against published runs."
    unit: ClassVar[str] = "FLOP/s"
    quantity: ClassVar[Quantity | None] = FLOP_PER_SECOND
    figure: ClassVar[str] = "rate"
    calibrates: ClassVar[str] = (
        "Fit the rate that device families sustain in HPCG, and the loss of scaling. Takes a few seconds."
    )
    plans: ClassVar[str] = "Find the local grid for HPCG, and predict the run."
    plan_options: ClassVar[type[PlanApplicationQuestion]] = PlanHpcg

    rows = staticmethod(hpcg_measurements)
    question = staticmethod(hpcg_question)

    def estimator(self, calibration: HpcgFactors) -> HpcgModel:
        """The product of bandwidth and efficiencies."""
        return HpcgModel(factors=calibration)

    def measured(self, row: HpcgMeasurement) -> float | None:
        """The rate that the benchmark printed."""
        return row.rate

    def fitted(self, rows: CalibrationRows[HpcgMeasurement], catalogue: Catalogue, question: CalibrateQuestion) -> Fit:
        """Levels of families, and losses of scaling."""
        fit = fit_hpcg(rows)
        return Fit(
            constants=hpcg_constants(fit),
            notes=(
                f"Calibration runs: {fit.runs}. Spreads are factors of one standard deviation, by runs left out of the "
                "fit.",
            ),
            scores={"rows": float(fit.runs)},
            calibration=dict(fit.solver),
        )

    def label(self, row: HpcgMeasurement, question: HpcgQuestion) -> str:
        """The system and its devices."""
        return f"{row.system or 'unnamed'}, {row.devices} {row.device}"

    # -- plan ---------------------------------------------------------------------------------------------------

    def space(self, system: Cluster, catalogue: Catalogue, question: PlanHpcg) -> HpcgQuestion:
        """One run: no other does better."""
        family = catalogue.chip_file(system.chip.name).family
        factors = hpcg_factors(family)
        if question.runs:
            template = system.name.partition("/")[0]
            factors = own_factors(
                factors,
                read_log(Path(question.runs)),
                machine=lambda devices: catalogue.cluster(f"{template}/{devices}"),
                devices=question.run_devices,
            )
        share = SHARE.read(question.memory, "memory")
        layout = hpcg_layout(system, factors, share=share)
        return Question(
            candidates=((Hpcg(), layout),),
            system=system,
            calibration=factors,
            title="HPCG",
            facts={"memory": share},
        )

    def described(self, work: Hpcg, decision: HpcgLayout) -> Mapping[str, object]:
        """As the benchmark's input names them."""
        return {
            "local_grid": list(decision.grid or ()),
            "processes": list(decision.processes or ()),
            "unknowns": decision.unknowns,
        }

    def constants(self, calibration: HpcgFactors) -> Mapping[str, object]:
        """Whose factors were used."""
        return {"family": calibration.family, "fitted": calibration.fitted}

    def evidence(self, asked: HpcgQuestion) -> RangeEvidence:
        """Runs on devices of the same class; of a family without any, how families differ too."""
        factors = asked.calibration
        low, high = factors.solver.bounds(LEVEL)
        host = factors.family.startswith("hosts,") or hpcg_families().get(factors.family) == "host"
        told = error_told_by(
            "hpcg",
            (high / low) ** (0.5 / model_reach(LEVEL)),
            regime="host" if host else "accelerator",
            axes=() if factors.fitted else ("chip",),
        )
        return RangeEvidence(
            weakest_evidence=machine_evidence(asked.system),
            model_error=None if factors.own else told,
            groups="systems",
            own_runs=factors.own,
        )

    def headline(self, planned: HpcgPlanned) -> Iterable[str]:
        """The run to make, and what to expect."""
        first = planned.ranking.first
        layout, spread = first.decision, first.rate_range
        assert spread is not None, "the model gives a range"
        yield (
            f"HPCG on {planned.system.name}: {show(first.rate, FLOP_PER_SECOND)} expected, "
            f"{show(spread.low, FLOP_PER_SECOND)} … {show(spread.high, FLOP_PER_SECOND)} "
            f"({percent(spread.level, 0)} range)"
        )
        grid, processes = (" × ".join(map(str, sides or ())) for sides in (layout.grid, layout.processes))
        yield f"local grid        {grid} a process, {show(first.memory_bytes, BYTES)} in the reference storage"
        yield f"processes         {processes}, one a device; {layout.unknowns:,.0f} unknowns in all"
        efficiency = first.figures().get("rate_per_watt")
        if efficiency is not None and efficiency.range is not None and first.power is not None:
            low, high = efficiency.range.low / 1e9, efficiency.range.high / 1e9
            yield (
                f"efficiency        {efficiency.value / 1e9:.3g} GF/W, {low:.3g} … {high:.3g}, at "
                f"{show(first.power, WATTS)} of IT power ({BASIS})"
            )

    def notes(self, planned: HpcgPlanned) -> Iterable[str]:
        """Whose factors stand in."""
        if planned.system.host_note:
            yield planned.system.host_note
        factors = planned.asked.calibration
        if factors.own:
            yield factors.own
        elif not factors.fitted:
            yield f"factors are those of {factors.family}"

    def plan_findings(self, planned: HpcgPlanned) -> Iterable[Finding]:
        """Every factor with its ends."""
        bounds = self.estimator(planned.asked.calibration).bounds()
        yield Finding(
            key="factors",
            value={name: {"value": value, "low": low, "high": high} for name, (value, low, high) in bounds.items()},
            title="inputs and sources",
            words=("factor",),
            numbers=("value", "low", "high"),
            cells=tuple(
                (name, *(f"{number:.4g}" for number in numbers)) for name, numbers in bounds.items() if numbers[0]
            ),
        )
        yield self._distribution(planned)

    def _distribution(self, planned: HpcgPlanned) -> Finding:
        rates = self._rates(planned)
        return Finding(
            key="distribution",
            value=told(rates),
            title=f"distribution of the rate, {len(rates):,} samples",
            words=("",),
            numbers=("mean", "deviation", *(percent(at, 0) for at in QUANTILES)),
            cells=(
                (
                    "HPCG",
                    show(float(rates.mean()), FLOP_PER_SECOND),
                    percent(float(rates.std() / rates.mean()), 1),
                    *(show(float(np.quantile(rates, at)), FLOP_PER_SECOND) for at in QUANTILES),
                ),
            ),
        )

    def _rates(self, planned: HpcgPlanned, *, only: str = "") -> Column:
        model = self.estimator(planned.asked.calibration)
        return model.drawn_rates(planned.system, planned.ranking.first.decision, only=only)

    def plan_picture(self, planned: HpcgPlanned) -> PlannedCurves:
        """How likely which rate is, where all factors vary, and where each does alone."""
        centre = planned.ranking.first.rate
        rates = {"all factors": self._rates(planned)}
        rates |= {f"{name} alone": self._rates(planned, only=name) for name in planned.asked.calibration.named()}
        return rate_curves(
            {name: column for name, column in rates.items() if float(column.std()) > 1e-6 * centre},
            centre,
            title=f"HPCG on {planned.system.name}: how likely which rate is, by what varies",
            about="Shares of samples of the rate: where all factors vary, and where each does alone.",
            without="",
            counted="samples",
            steps=48,
        )


HPCG = HpcgApplication()
