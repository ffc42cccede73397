"""Energy of a run."""

from volvelle.laws.citations import cites
from volvelle.quantities import Count, Fraction, Joules, Number, Seconds, Watts


@cites("patterson2021carbon", place="eq. 1, energy from time, processors, mean power and PUE")
def run_energy(
    time: Seconds,
    chips: Count,
    *,
    chip_power: Watts,
    host_power: Watts,
    load: Fraction = 1.0,
    host_load: Fraction = 1.0,
    pue: Number = 1.0,
) -> Joules:
    r"""Energy at the meter.

    $$ E = t\,N\,(\lambda P_c + \lambda_h P_h)\,\mathrm{PUE} $$

    λ is mean power over rated power, of a chip and of its host. Assumes all chips are powered for the whole time.
    """
    watts = node_power(chip_power=chip_power, host_power=host_power, load=load, host_load=host_load)
    return time * chips * watts * pue


@cites("newkirk2025power", place="abstract: a node of eight H100 in heavy training takes 76 % of its rated 10.2 kW")
def node_power(*, chip_power: Watts, host_power: Watts, load: Fraction = 1.0, host_load: Fraction = 1.0) -> Watts:
    r"""Power of an accelerator and its share of the node.

    $$ P = \lambda P_c + \lambda_h P_h $$

    Assumes shares that do not depend on what is trained.
    """
    return load * chip_power + host_load * host_power
