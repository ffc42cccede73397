"""Stand-ins for kernels that were never measured and for units that no entry states, and how much they widen ranges."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from math import exp, hypot, log

from volvelle.catalogue.engines import ServingEngine, serving_engine
from volvelle.estimators.serving.engine_constants import KernelSet
from volvelle.system.chip import Chip

FIGURES = ("ttft", "tpot", "latency", "throughput")
"""Predicted figures that have a range."""
UNITS = 1.1
"""One standard deviation, as a factor, that an unknown number of units adds to a prediction.

Without units, predictions of calibration rows on Ampere, Hopper and Blackwell change by 1 to 10 % (root mean square by
engine, family and figure); this is the largest.
"""
_SEVERAL_VENDORS = "vllm-2024"
"""The engine that was run on chips of several vendors, most of them without measured kernels."""
_FITTED = "fitted"
"""Says of an error that constants were fitted to the runs that tell it."""


@cache
def kernel_error() -> float:
    """Return one standard deviation, as a factor, of predictions on chips whose kernels were never measured.

    It is the error of batches on AMD, Intel and NVIDIA GPUs under one engine, with constants of other families.
    """
    found = engine_of_kernel_error().error_of("latency", experts=False)
    assert found is not None, "the table of engines states it"
    return found


def engine_of_kernel_error() -> ServingEngine:
    """Return the engine whose runs tell :func:`kernel_error`."""
    return serving_engine(_SEVERAL_VENDORS)


@dataclass(frozen=True, slots=True, kw_only=True)
class StandIn:
    """Something that takes the place of a measurement or of a number of the chip."""

    note: str
    """What stands in for what."""
    least: float = 1.0
    """One standard deviation, as a factor, that a prediction has at least."""
    added: float = 1.0
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
        fitted = (one for one in engine.error_rows.values() if one.judged == _FITTED)
        return not any(chip.family in one.families for one in fitted)

    def widened(self, error: float) -> float:
        """Return the error of a figure with this in it."""
        return exp(hypot(log(max(error, self.least)), log(self.added)))

    @property
    def effect(self) -> str:
        """Return how it changes the ranges that it widens."""
        if self.least > 1.0:
            return f"one standard deviation of ranges is at least a factor of {self.least:.3g}"
        return f"ranges are wider by a factor of {self.added:.3g} per standard deviation"


def stand_ins(chip: Chip, kernels: KernelSet) -> Iterator[StandIn]:
    """Yield what stands in when this chip serves with these kernels."""
    if kernels.stand_in:
        yield StandIn(
            note=f"no serving kernel was measured on {chip.name}: shares of peak of {kernels.stand_in} stand in",
            least=kernel_error(),
            of_family=True,
        )
    if chip.units is None:
        yield StandIn(
            note=f"{chip.name} states no units (multiprocessors or compute units): its kernels are timed without "
            "partly filled waves and without the memory share of one block",
            added=UNITS,
            of_family=not kernels.units_expected,
        )


def with_stand_ins(
    error: float, figure: str, engine: ServingEngine, chip: Chip, kernels: KernelSet, *, experts: bool
) -> float:
    """Return the error of a figure with all that stands in and that no run of the engine includes."""
    for one in stand_ins(chip, kernels):
        if one.widens(engine, figure, chip, experts=experts):
            error = one.widened(error)
    return error
