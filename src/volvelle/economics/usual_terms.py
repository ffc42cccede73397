"""What is assumed of one's own machine where nobody says: once, for bills of steps and of machines."""

from volvelle.quantities import JULIAN_YEAR

USUAL_LIFE = 4 * JULIAN_YEAR
USUAL_USE = 0.8
"""Share of its life in which a machine is used."""
CHIP_LOAD, HOST_LOAD = 0.85, 0.65
"""Mean power in use over the rated, of chips and of hosts with fans and network: as ``reliability/node-power`` of the
catalogue has them, of a node of eight H100 that was measured at 76 % of its rating."""
USUAL_INTEREST, USUAL_MAINTENANCE = 0.08, 0.03
"""Per year: interest on the purchase price, and repair and staff over the purchase price."""
USUAL_PLANT_PRICE, USUAL_PLANT_LIFE = 11.7, 15 * JULIAN_YEAR
"""Building, power and cooling: dollars per watt of the machine's rated power, and the time that they last."""
USUAL_HOSTS = 0.2
"""Price of hosts over the price of accelerators."""
USUAL_OVERHEAD = 0.25
"""Price of hosts and network over the price of accelerators, where no price book was read."""
USUAL_ENERGY_PRICE = 0.10 / 3.6e6
"""Dollars a joule."""
