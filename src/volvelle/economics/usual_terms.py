"""What is assumed of one's own machine where nobody says: once, for bills of steps and of machines."""

from volvelle.quantities import JULIAN_YEAR

USUAL_LIFE = 4 * JULIAN_YEAR
USUAL_USE = 0.8
"""Share of its life in which a machine is used."""
CHIP_LOAD, HOST_LOAD = 0.85, 0.65
"""Mean power in use over the rated, of chips and of hosts with fans and network: as ``reliability/node-power`` of the
catalogue has them, of a node of eight H100 that was measured at 76 % of its rating."""
USUAL_ENERGY_PRICE = 0.10 / 3.6e6
"""Dollars a joule."""
