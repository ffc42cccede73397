"""The power of a machine in use: accelerators and hosts at their shares of rated power, PUE on top."""

from collections.abc import Mapping

from volvelle.economics.usual_terms import CHIP_LOAD, HOST_LOAD
from volvelle.laws.ownership import meter_power
from volvelle.quantities import Count, Fraction, Number, Watts
from volvelle.system.cluster import Cluster

HOSTS = "hosts"
COOLING = "conversion and cooling"
ACCELERATORS = "accelerators"
_LOADED = frozenset({"chips", "memory", ACCELERATORS})
"""Parts that run at the load of accelerators."""
_WITH_HOSTS = frozenset({HOSTS, "links", "switches"})
"""Parts that run at the load of hosts."""


def rated_parts(
    chips: Count, *, chip_power: Watts, host_power: Watts | None, named: str = ACCELERATORS
) -> dict[str, Watts]:
    """Return rated power by part: accelerators, and their hosts with fans, adapters and switches."""
    found: dict[str, Watts] = {named: chips * chip_power}
    if host_power is not None:
        found[HOSTS] = chips * host_power
    return found


def power_in_use(
    rated: Mapping[str, Watts],
    *,
    load: Fraction = CHIP_LOAD,
    host_load: Fraction = HOST_LOAD,
    pue: Number = 1.0,
    conversion: Fraction = 1.0,
) -> dict[str, Watts]:
    """Return mean power by part from rated power by part; the last part is conversion and cooling."""
    loads = {**dict.fromkeys(_LOADED, load), **dict.fromkeys(_WITH_HOSTS, host_load)}
    used = {part: watts * loads[part] if part in loads else watts for part, watts in rated.items()}
    inside = total(used)
    used[COOLING] = meter_power(inside, pue=pue, conversion=conversion) - inside
    return used


def it_power(
    system: Cluster, *, chips: Count | None = None, load: Fraction = CHIP_LOAD, host_load: Fraction = HOST_LOAD
) -> Watts | None:
    """Return the power of a machine in use, or of some of its chips with their hosts, without PUE.

    None if the catalogue does not state the chip's rated power. A stand-in replaces host power that is not stated.
    """
    if system.chip.power is None:
        return None
    count: Count = float(system.accelerators) if chips is None else chips
    rated = rated_parts(count, chip_power=system.chip.power, host_power=system.host_watts)
    return total(power_in_use(rated, load=load, host_load=host_load))


def total(parts: Mapping[str, Number]) -> Number:
    """Return the sum of all parts."""
    found: Number = 0.0
    for value in parts.values():
        found = found + value
    return found
