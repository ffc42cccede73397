"""What owning a machine costs over its life: plant, interest, maintenance, energy, and the share that a use bears."""

import numpy as np

from volvelle.laws.citations import cites
from volvelle.quantities import Count, Dollars, Fraction, Number, Seconds, Watts

_YEAR = 31_557_600.0


@cites("patterson2021carbon", place="eq. 1, power usage effectiveness over the power of processors")
def meter_power(power: Watts, *, pue: Number = 1.0, conversion: Fraction = 1.0) -> Watts:
    r"""Power at the meter of a machine whose parts take `power`.

    $$ P_m = P\,\mathrm{PUE} / \eta $$

    η is what power supplies and regulators pass on, 1 where their loss is counted in the hosts' power. Assumes both
    shares do not depend on load.
    """
    return power * pue / conversion


@cites(
    "barroso2018datacenter", place="chapter 6, modelling costs: capital costs of a data centre by its critical power"
)
def plant_price(power: Watts, *, per_watt: Number) -> Dollars:
    r"""Price of the building with its power and cooling plant.

    $$ C = P\,p_w $$

    P is the critical power, that of the machine itself. Assumes plant is bought for the machine's full power and no
    more.
    """
    return power * per_watt


@cites("barroso2018datacenter", place="chapter 6, modelling costs: monthly payments of a loan")
def annuity_factor(interest: Fraction, *, years: Number) -> Number:
    r"""Yearly payment that repays one dollar with interest.

    $$ a = \frac{r}{1-(1+r)^{-n}},\qquad a = 1/n \text{ without interest} $$

    Assumes equal payments at the ends of years, and nothing left to sell.
    """
    rate = np.asarray(interest, dtype=float)
    safe = np.where(rate > 0.0, rate, 1.0)
    return np.asarray(np.where(rate > 0.0, safe / -np.expm1(-years * np.log1p(safe)), 1.0 / np.asarray(years)))


@cites("barroso2018datacenter", place="chapter 6, modelling costs: depreciation and interest")
def repaid_price(capital: Dollars, *, interest: Fraction, life: Seconds, over: Seconds) -> Dollars:
    r"""What is paid within a time for something that is repaid evenly over its own life.

    $$ C = K\,a(r, n)\,T $$

    n is the life and T the time, in years. Assumes that what outlives the machine is used on at the same price.
    """
    return capital * annuity_factor(interest, years=life / _YEAR) * (over / _YEAR)


@cites("barroso2018datacenter", place="chapter 6, modelling costs: operational costs as a share of capital")
def maintenance_price(capital: Dollars, *, share: Fraction, over: Seconds) -> Dollars:
    r"""Operation and maintenance within a time.

    $$ C = K\,m\,T $$

    m is the share of the purchase that a year costs. Assumes it stays the same from year to year.
    """
    return capital * share * (over / _YEAR)


@cites("barroso2018datacenter", place="chapter 6, modelling costs: energy costs")
def life_energy_price(power: Watts, *, life: Seconds, use: Fraction, energy_price: Number) -> Dollars:
    r"""Energy at the meter over the life.

    $$ C = P_m\,u\,L\,p_e $$

    Assumes the machine takes nothing while it is not used.
    """
    return power * use * life * energy_price


@cites("cottier2024cost", place="section 2, amortised hardware capital expense")
def charged_price(total: Dollars, time: Seconds, *, life: Seconds, use: Fraction = 1.0) -> Dollars:
    r"""Share of what a machine costs over its life that a time of use bears.

    $$ C = K\,\frac{t}{u\,L} $$

    Assumes every second of use bears the same.
    """
    return total * time / (use * life)


@cites("cottier2024cost", place="section 2, training chip-hours")
def training_time(tokens: Count, *, per_step: Count, step: Seconds) -> Seconds:
    r"""Time to train on so many tokens.

    $$ t = t_s\,D / d $$

    D are all tokens and d those of one step. Assumes no interruption and no evaluation on the way.
    """
    return step * tokens / per_step
