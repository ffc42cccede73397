"""Energy of a run."""

from volvelle.laws.citations import cites
from volvelle.quantities import Bytes, Count, Flop, Fraction, Joules, Number, Seconds, Watts


@cites("patterson2021carbon", place="eq. 1, energy from time, processors, mean power and PUE")
def run_energy(
    time: Seconds,
    chips: Count,
    *,
    chip_power: Watts,
    host_power: Watts,
    load: Fraction = 1.0,
    pue: Number = 1.0,
) -> Joules:
    r"""Energy at the meter.

    $$ E = t\,N\,(\lambda P_c + P_h)\,\mathrm{PUE} $$

    λ is mean power over rated power of a chip. Assumes all chips are powered for the whole time.
    """
    return time * chips * (load * chip_power + host_power) * pue


@cites("horowitz2014energy", place="energy of operations and of moving data")
def activity_energy(
    work: Flop,
    memory_traffic: Bytes,
    network_traffic: Bytes,
    *,
    per_flop: Joules,
    per_byte: Joules,
    per_sent: Joules,
) -> Joules:
    r"""Energy of what is done, by counting it.

    $$ E = W e_f + Q e_m + V e_n $$

    Assumes energies per operation and per byte do not depend on load; idle power is not included.
    """
    return work * per_flop + memory_traffic * per_byte + network_traffic * per_sent
