"""Carbon of the energy that a run takes."""

import numpy as np

from volvelle.laws.citations import cites
from volvelle.quantities import Joules, Number


@cites("patterson2021carbon", place="equation 2, carbon from energy and the grid's intensity")
def operational_emissions(energy: Joules, *, intensity: Number) -> Number:
    r"""Kilograms of CO₂ equivalents of the energy.

    $$ m = E\,i $$

    i is the location-based intensity of the grid. Assumes its mean over the year; what is bought elsewhere does not
    count.
    """
    return energy * np.asarray(intensity)
