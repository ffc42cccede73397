"""Power under benchmarks: the words for it, and how far listed power under HPL is from the power model."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from volvelle.catalogue.reliability import stated_factor
from volvelle.economics.usual_terms import CHIP_LOAD, HOST_LOAD
from volvelle.estimators.result import Estimate, Range
from volvelle.quantities import WATTS, Watts, percent, show
from volvelle.spread import LogNormal

BASIS = f"no PUE; accelerators at {percent(CHIP_LOAD, 0)} and hosts at {percent(HOST_LOAD, 0)} of rated power"
"""What the power of a benchmark run includes."""


def power_line(estimate: Estimate[Any, Any]) -> str:
    """Return the efficiency and power of a run in words, with the range of the efficiency."""
    assert estimate.power is not None, "the machine's power is known"
    efficiency = estimate.figures()["rate_per_watt"]
    between = ""
    if efficiency.range is not None:
        low, high = efficiency.range.low / 1e9, efficiency.range.high / 1e9
        between = f", {low:.1f} … {high:.1f} ({percent(efficiency.range.level, 0)} range),"
    return (
        f"{efficiency.value / 1e9:.1f} GF/W{between} at {show(estimate.power, WATTS)} of IT power, as the Green500 "
        f"counts it ({BASIS})"
    )


def power_range(watts: Watts | None, *, level: float) -> Mapping[str, Range]:
    """Return the range of power under HPL, from the spread of listed systems; empty if power is unknown."""
    if watts is None:
        return {}
    factor = stated_factor("node-power", "listed_hpl_power").value
    low, high = LogNormal(float(np.max(watts)), factor).bounds(level)
    return {"power": Range(low=low, high=high, level=level, varied=("power under HPL",))}
