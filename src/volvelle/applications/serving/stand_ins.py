"""Stand-ins for kernels that were never measured and for units that no entry states, and how much they widen ranges."""

from collections.abc import Iterator
from dataclasses import dataclass

from volvelle.catalogue.engines import ServingEngine
from volvelle.estimators.serving.engine_constants import KernelSet
from volvelle.system.chip import Chip

FITTED = "fitted"
"""Says of an error that constants were fitted to the runs that tell it."""
FIGURES = ("ttft", "tpot", "latency", "throughput")
"""Predicted figures that have a range."""
KERNELS = 1.3
"""One standard deviation, as a factor, that kernels of another family add to a prediction."""
UNITS = 1.1
"""One standard deviation, as a factor, that an unknown number of units adds to a prediction.

Without units, predictions of calibration rows on Ampere, Hopper and Blackwell change by 1 to 10 % (root mean square by
engine, family and figure); this is the largest.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StandIn:
    """Something that takes the place of a measurement or of a number of the chip."""

    note: str
    """What stands in for what."""
    factor: float
    """One standard deviation, as a factor, that it adds to a prediction."""
    of_family: bool
    """Whether all chips of the family share it, so that the errors of runs on them include it."""

    def widens(self, engine: ServingEngine, figure: str, chip: Chip, *, experts: bool) -> bool:
        """Return whether the error of a figure lacks it."""
        rows = engine.rows_of(figure, experts=experts)
        if rows is None and engine.error_of(figure, experts=experts) is not None:
            return False  # the user's own runs on such a chip
        if not self.of_family:
            return True
        if rows is not None:
            return chip.family not in rows.families
        fitted = (one for one in engine.error_rows.values() if one.judged == FITTED)
        return not any(chip.family in one.families for one in fitted)


def stand_ins(chip: Chip, kernels: KernelSet) -> Iterator[StandIn]:
    """Yield what stands in when this chip serves with these kernels."""
    if kernels.stand_in:
        yield StandIn(
            note=f"no serving kernel was measured on {chip.name}: shares of peak of {kernels.stand_in} stand in",
            factor=KERNELS,
            of_family=True,
        )
    if chip.units is None:
        yield StandIn(
            note=f"{chip.name} states no units (multiprocessors or compute units): its kernels are timed without "
            "partly filled waves and without the memory share of one block",
            factor=UNITS,
            of_family=not kernels.units_expected,
        )
