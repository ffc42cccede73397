"""What a plan of High-Performance Linpack asks of the models behind it."""

from collections.abc import Iterable
from typing import Any

from volvelle.applications.contract import Planned
from volvelle.applications.hpl.constants import core_of, rows_behind
from volvelle.applications.hpl.noise import NoisyRuns, noisy_runs
from volvelle.applications.hpl.panels import HplConstants, PanelByPanel
from volvelle.applications.hpl.rows import HplQuestion
from volvelle.applications.hpl.told import Methods
from volvelle.applications.range_evidence import RangeEvidence, machine_evidence
from volvelle.mapping.process_grid import ProcessGrid
from volvelle.quantities import BYTES, percent, show
from volvelle.workload.families.hpl import Hpl

CORE = ("cores", "words", "cycles")
"""Of the equivalent core."""
HplPlanned = Planned[Hpl, ProcessGrid, HplConstants]


def closed_form_notes(planned: HplPlanned) -> Iterable[str]:
    """What the closed forms leave out."""
    first, facts = planned.ranking.first, planned.asked.facts
    yield (
        f"the closed forms compute at {percent(float(str(facts['efficiency'])), 0)} of the peak (--efficiency), hide "
        "nothing behind the update and have no range; --method panels does, and is fitted to runs"
    )
    held = float(planned.system.chip.memory.capacity)
    if first.memory_bytes > held:
        yield (
            f"the matrix takes {show(first.memory_bytes, BYTES)} of each accelerator's {show(held, BYTES)}; closed "
            "forms do not ask where the rest lies"
        )


def hpl_evidence(asked: HplQuestion) -> RangeEvidence | None:
    """Runs of the family, pooled with those of all; closed forms have no range."""
    constants = asked.calibration
    if asked.facts.get("method", "panels") != "panels":
        return None
    return RangeEvidence(
        weakest_evidence=machine_evidence(asked.system),
        model_error=None if constants.own else rows_behind(constants),
        groups="machines",
        regime_words="of all families, as none is of this one",
        own_runs=constants.own,
        unmeasured=f"one standard deviation is taken to be a factor of {constants.error:.3g}",
    )


def noisy(planned: HplPlanned) -> NoisyRuns:
    """The first choice, many times with noise."""
    first, facts = planned.ranking.first, planned.asked.facts
    return noisy_runs(
        PanelByPanel(constants=planned.asked.calibration),
        first.workload,
        planned.system,
        first.decision,
        noise=float(str(facts["noise"])),
        machine=float(str(facts["machine_noise"])),
    )


def methods(asked: HplQuestion) -> Methods:
    """The three models as a plan asks for them."""
    given: dict[str, Any] = {name: asked.facts[name] for name in (*CORE, "efficiency")}
    share = given.pop("efficiency")
    return Methods(constants=asked.calibration, core=core_of(asked.system.chip, **given), efficiency=share)
