"""What published runs leave open of a machine's constants (``data/stack_spread.csv``, ``data/own_runs.yaml``).

Written by ``scripts/fit_own_runs.py`` from calibration runs alone.
"""

from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import BaseModel, ConfigDict

from volvelle.catalogue.packaged_rows import packaged_fields, packaged_rows

Table = NDArray[np.float64]
SLOPES = "slopes"
"""In place of a stack: products of slopes of runs, not what is open of constants."""


class OwnScatter(BaseModel):
    """How runs of a machine scatter around what its constants say, one standard deviation of ln(measured/predicted)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    scatter: float
    """Of a run by itself."""
    shape: float
    """Of what a chip takes for products of one shape, beside those of others."""
    reach: float
    """Doublings of a shape within which that is alike."""
    network: float = 0.0
    """Of what a run waits for the network, by itself: as collectives are off within a publication."""
    freedom: float
    """Runs as well as which all this is known of a machine."""
    stretch: float = 1.0
    """By what ranges are wider than all this says, to hold what they should of left-out machines."""


class OwnRunsSpread(OwnScatter):
    """How runs of a new source scatter."""

    share: float
    """Of the priors of constants, that is a machine's own."""
    between: float
    """The same of whole sources that the fit did not see, and of runs within them."""
    within: float
    transfer: float
    """The same that another chip of the family adds."""
    products: "ProductSpread"
    """Of matrix products in 16 bits."""
    narrow_products: "ProductSpread"
    """Of those in fewer."""
    source: str


class ProductSpread(BaseModel):
    """How what large products sustain scatters around what the catalogue says, one standard deviation each."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    between: float
    """Between chips and libraries."""
    within: float
    source: str


@cache
def own_runs_spread() -> OwnRunsSpread:
    """As the file has it."""
    return OwnRunsSpread(**packaged_fields("own_runs.yaml"))


def symmetric(numbers: ArrayLike) -> Table:
    """A table of which the upper triangle is given, row by row."""
    size = round(((8 * np.size(numbers) + 1) ** 0.5 - 1) / 2)
    upper = np.zeros((size, size))
    upper[np.triu_indices(size)] = numbers
    return upper + upper.T - np.diag(np.diag(upper))


@cache
def _spreads() -> dict[tuple[str, str, str], Table]:
    found = {}
    for row in packaged_rows("stack_spread.csv"):
        numbers = np.array([float(number) for number in row["covariance"].split()])
        found[row["stack"], row["family"], row["element"]] = symmetric(numbers)
    return found


def typical_slopes(family: str) -> Table:
    """Mean of products of slopes of published runs on a family, or on all: what unsure constants make of any run."""
    known = _spreads()
    return known.get((SLOPES, family, ""), known[SLOPES, "", ""])


def spread_of(stack: str, family: str, element: str) -> Table:
    """Covariance of logarithms of a machine's constants: of the very family and type, of the family, or of any."""
    known = _spreads()
    return next(known[key] for key in ((stack, family, element), (stack, family, ""), (stack, "", "")) if key in known)
