"""Carbon of a run: of the energy it takes, and of making what it runs on."""

import numpy as np

from volvelle.laws.citations import cites
from volvelle.quantities import Fraction, Joules, Number, Seconds


@cites("patterson2021carbon", place="equation 2, carbon from energy and the grid's intensity")
def operational_emissions(energy: Joules, *, intensity: Number) -> Number:
    r"""Kilograms of CO₂ equivalents of the energy.

    $$ m = E\,i $$

    i is the location-based intensity of the grid. Assumes its mean over the year; what is bought elsewhere does not
    count.
    """
    return energy * np.asarray(intensity)


@cites("luccioni2022bloom", place="section 4.1, embodied emissions by hours of use over the life")
def embodied_emissions(mass: Number, time: Seconds, *, life: Seconds, use: Fraction = 1.0) -> Number:
    r"""The run's share of what making the machine emitted.

    $$ m = K\,\frac{t}{u L} $$

    Assumes every hour of use bears the same.
    """
    return mass * np.asarray(time) / (np.asarray(use) * life)
