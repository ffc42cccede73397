"""High-Performance Linpack as an application."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from volvelle.applications.contract import Application, Option, Planned, Question
from volvelle.applications.fitted_constants import Fit
from volvelle.applications.hpl.closed_forms import LayeredHpl, OriginalHpl
from volvelle.applications.hpl.constants import equivalent_core, hpl_constants
from volvelle.applications.hpl.contract import AbstractHplModel, HplEstimate
from volvelle.applications.hpl.fit import BOUNDS, fit_hpl
from volvelle.applications.hpl.panels import HplConstants, PanelByPanel
from volvelle.applications.hpl.plan import BLOCKS, hpl_runs
from volvelle.applications.hpl.rows import HplMeasurement, HplQuestion, hpl_measurements, hpl_question
from volvelle.applications.measured_table import CalibrationRows
from volvelle.applications.scores import Finding, RowValidation, ScoredRow, score
from volvelle.catalogue import Catalogue
from volvelle.domains import BLOCK, NO_SIZE, PLAIN_SHARE
from volvelle.interchange.hpl_dat import hpl_dat
from volvelle.mapping.process_grid import ProcessGrid
from volvelle.quantities import BYTES, FLOP_PER_SECOND, SECONDS, WATTS, Quantity, parse, percent, show
from volvelle.system.cluster import Cluster
from volvelle.workload.families.hpl import Hpl

HplPlanned = Planned[Hpl, ProcessGrid, HplConstants]


class HplApplication(Application[HplMeasurement, Hpl, ProcessGrid, HplConstants]):
    """Runs of the benchmark against published ones and the TOP500."""

    word: ClassVar[str] = "hpl"
    about: ClassVar[str] = "High-Performance Linpack against published runs and the TOP500."
    unit: ClassVar[str] = "FLOP/s of the whole run (Rmax)"
    quantity: ClassVar[Quantity | None] = FLOP_PER_SECOND
    figure: ClassVar[str] = "rate"
    calibrates: ClassVar[str] = "How near to its peak a family of accelerators gets in it. Takes half a minute."
    plans: ClassVar[str] = "N, NB, P and Q for High-Performance Linpack, and what to expect."
    fit_options: ClassVar[tuple[Option, ...]] = (
        Option(flag="--family", choices=tuple(sorted(BOUNDS)), default="ampere", help="Family."),
    )
    plan_options: ClassVar[tuple[Option, ...]] = (
        Option(flag="--nb", kind=int, domain=BLOCK, multiple=True, help="Blocks to consider. [default: 128 to 1024]"),
        Option(
            flag="--memory",
            kind=float,
            domain=PLAIN_SHARE,
            default=0.85,
            help="Share of the accelerators' memory to fill.",
        ),
        Option(
            flag="--host-memory",
            domain=NO_SIZE,
            metavar="SIZE",
            help="Host memory of each accelerator that the matrix may take too, like '80 GB'. [default: none]",
        ),
        Option(
            flag="--method",
            choices=("panels", "layered", "original"),
            default="panels",
            help="Panel by panel, or a closed form: in layers (MCL-HPL), or the original of one link.",
        ),
        Option(flag="--emit", kind=Path, metavar="FILE", help="Write the first choice as HPL.dat."),
    )
    plan_words: ClassVar[tuple[str, ...]] = ()
    plan_width: ClassVar[int] = 100

    rows = staticmethod(hpl_measurements)
    question = staticmethod(hpl_question)

    def estimator(self, calibration: HplConstants) -> AbstractHplModel:
        """Panel by panel."""
        return PanelByPanel(constants=calibration)

    def measured(self, row: HplMeasurement) -> float | None:
        """The rate that the benchmark printed."""
        return row.rate

    def fitted(self, rows: CalibrationRows[HplMeasurement], catalogue: Catalogue, **options: Any) -> Fit:
        """Constants of one family."""
        return fit_hpl(options["family"], rows, catalogue)

    def label(self, row: HplMeasurement, question: HplQuestion) -> str:
        """The system, its processes and their chip."""
        return f"{row.system or row.computer}: {question.decision.processes} {question.system.chip.name}"

    def findings(self, validation: RowValidation) -> Iterable[Finding]:
        """The sets of rows that the targets are about."""
        sets: dict[str, list[ScoredRow]] = {
            "top500_gpu_heldout": [
                row
                for row in validation.rows
                if row.head.group == "top500" and row.head.split == "heldout" and "a64fx" not in row.label
            ],
            "kim2021_systems": [row for row in validation.rows if row.head.group == "kim2021-tables-1-2"],
            "kim2021_cluster": [row for row in validation.rows if row.head.group == "kim2021-table-5"],
        }
        yield Finding(key="sets", value={name: score(rows).numbers() for name, rows in sets.items()})

    # -- plan ---------------------------------------------------------------------------------------------------

    def space(self, system: Cluster, catalogue: Catalogue, **options: Any) -> HplQuestion:
        """Every N, NB, P × Q, broadcast and depth worth trying."""
        memory = options.get("memory", 0.85)
        host = 0.0 if options.get("host_memory") is None else parse(options["host_memory"], BYTES)
        machine, runs = hpl_runs(system, memory=memory, host=host, blocks=options.get("nb") or BLOCKS)
        constants = hpl_constants(catalogue.chip_file(system.chip.name).family)
        return Question(
            candidates=runs,
            system=machine,
            calibration=constants,
            title="HPL",
            facts={"memory": memory, "host_memory": host, "method": options.get("method", "panels")},
        )

    def planner(self, asked: HplQuestion) -> AbstractHplModel:
        """The model that was asked for."""
        constants = asked.calibration
        if asked.facts.get("method") == "original":
            return OriginalHpl(efficiency=constants.efficiency)
        if asked.facts.get("method") == "layered":
            core = equivalent_core(asked.system.chip.name)
            return LayeredHpl(core=core, efficiency=constants.efficiency)
        return PanelByPanel(constants=constants)

    def described(self, work: Hpl, decision: ProcessGrid) -> Mapping[str, object]:
        """As HPL.dat names them."""
        return {
            "N": work.order,
            "NB": work.block,
            "P": decision.rows,
            "Q": decision.columns,
            "broadcast": decision.broadcast.word,
            "depth": decision.depth,
        }

    def constants(self, calibration: HplConstants) -> Mapping[str, object]:
        """Whose constants were used."""
        return {"family": calibration.family, "fitted": calibration.fitted}

    def headline(self, planned: HplPlanned) -> Iterable[str]:
        """The first choice, what to expect of it, where its matrix lies and what that rests on."""
        first, constants = planned.ranking.first, planned.asked.calibration
        grid, spread = first.decision, first.rate_range
        yield (
            f"HPL on {planned.system.name}: N {first.workload.order:,}, NB {first.workload.block}, "
            f"{grid.rows} × {grid.columns}, {grid.broadcast.word}, look-ahead {grid.depth}"
        )
        between = ""
        if spread is not None:
            ends = (show(end, FLOP_PER_SECOND) for end in (spread.low, spread.high))
            between = f"{' … '.join(ends)} ({percent(spread.level, 0)} range), "
        yield (
            f"{show(first.rate, FLOP_PER_SECOND)} expected, {between}{percent(first.utilisation)} of peak, "
            f"in {show(first.time, SECONDS)}"
        )
        if first.rate_per_watt is not None and first.power is not None:
            yield f"{_per_watt(first)} GF/W at {show(first.power, WATTS)}, accelerators and hosts at their limits"
        told = "calibration runs on this family" if constants.fitted else "no calibration run on this family"
        spilled = first.facts.get("in_host_memory", 0.0)
        share = planned.asked.facts["memory"]
        assert isinstance(share, float), "of memory"
        kept = f"matrix {percent(share, 0)} of the accelerators' memory"
        where = f"{kept} and {percent(spilled, 0)} of itself in host memory" if spilled else kept
        yield (
            f"{where}; {planned.ranking.considered} combinations tried in {planned.seconds:.2f} s; constants: "
            f"{constants.family}, {told}"
        )

    def notes(self, planned: HplPlanned) -> Iterable[str]:
        """What of memory was not considered, or was and did not pay."""
        host = planned.asked.facts["host_memory"]
        assert isinstance(host, float), "bytes"
        if host and not planned.ranking.first.facts.get("in_host_memory"):
            yield f"{show(host, BYTES)} of host memory an accelerator were offered and would make it slower"
        elif not host and planned.system.host_rate is not None:
            yield (
                "the matrix keeps to the accelerators' memory; runs with a larger one, in host memory too, may be "
                "faster and are planned with --host-memory SIZE"
            )

    def cells(self, estimate: HplEstimate) -> Mapping[str, str]:
        """One run."""
        spread, grid = estimate.rate_range, estimate.decision
        ends = "–"
        if spread is not None:
            low, high = (percent(end / estimate.rate - 1, 0, signed=True) for end in (spread.low, spread.high))
            ends = f"{low.removesuffix(' %')} … {high}"
        return {
            "N": f"{estimate.workload.order:,}",
            "NB": str(estimate.workload.block),
            "P × Q": f"{grid.rows} × {grid.columns}",
            "broadcast": grid.broadcast.word,
            "depth": str(grid.depth),
            "time": show(estimate.time, SECONDS),
            "rate": show(estimate.rate, FLOP_PER_SECOND),
            "80 % range": ends,
            "GF/W": _per_watt(estimate),
        }

    def emitted(self, planned: HplPlanned) -> str:
        """HPL.dat."""
        return hpl_dat(planned.ranking.first.workload, planned.ranking.first.decision)


def _per_watt(estimate: HplEstimate) -> str:
    return "–" if estimate.rate_per_watt is None else f"{estimate.rate_per_watt * 1e-9:.1f}"


HPL = HplApplication()
