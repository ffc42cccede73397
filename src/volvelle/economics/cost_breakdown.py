"""The bill of a machine: what it costs by part, what power it takes, what owning it costs, and what a step costs."""

from dataclasses import dataclass

import numpy as np

from volvelle.domains import (
    ENERGY_PRICE,
    LIFE,
    NO_SHARE,
    POWER_PRICE,
    PUE,
    SHARE,
    check_fields,
    number,
)
from volvelle.economics.machine_power import power_in_use, total
from volvelle.economics.price_book import AbstractPrices
from volvelle.economics.usual_terms import CHIP_LOAD, HOST_LOAD, USUAL_ENERGY_PRICE, USUAL_LIFE, USUAL_USE
from volvelle.errors import OutsideDomainError
from volvelle.laws.ownership import (
    charged_price,
    life_energy_price,
    maintenance_price,
    plant_price,
    repaid_price,
    training_time,
)
from volvelle.quantities import DAY, JULIAN_YEAR, Count, Dollars, Fraction, Joules, Number, Seconds, Watts, is_plainly
from volvelle.system.inventory import Inventory

PLANT = "plant"
"""The part of the bill that is building, power and cooling."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What depends on the owner and the site, not on the machine."""

    life: Seconds = number(LIFE, USUAL_LIFE)
    use: Fraction = number(SHARE, USUAL_USE)
    """Share of its life in which the machine is used."""
    load: Fraction = number(SHARE, CHIP_LOAD)
    """Mean power of busy chips and their memory over the rated."""
    host_load: Fraction = number(SHARE, HOST_LOAD)
    """Likewise of hosts."""
    energy_price: Number = number(ENERGY_PRICE, USUAL_ENERGY_PRICE)
    """Dollars a joule."""
    pue: Number | None = number(PUE, None)
    """Power at the meter over power in the racks; None: the machine's own."""
    conversion: Fraction = number(SHARE, 1.0)
    """What power supplies pass on; 1: their loss is in the hosts' power, as in the catalogue's clusters."""
    plant_price: Number | None = number(POWER_PRICE, None)
    """Building, power and cooling, dollars for every watt of the machine's rated power; None: it is not paid for."""
    plant_life: Seconds = number(LIFE, 15 * JULIAN_YEAR)
    interest: Fraction = number(NO_SHARE, 0.0)
    """A year."""
    maintenance: Fraction = number(NO_SHARE, 0.0)
    """Operation and maintenance of a year, over the purchase price."""

    def __post_init__(self) -> None:
        check_fields(self, "terms")


@dataclass(frozen=True, slots=True, kw_only=True)
class StepCost:
    """Energy and money of one step."""

    time: Seconds
    energy: Joules
    dollars: Dollars
    tokens: Count | None
    samples: Count | None

    @property
    def dollars_per_token(self) -> Dollars:
        """Money for a token."""
        return self.dollars / self._tokens()

    @property
    def tokens_per_second_per_watt(self) -> Number:
        """Tokens a second for every watt at the meter, which is tokens a joule."""
        return self._tokens() / self.energy

    @property
    def energy_per_sample(self) -> Joules:
        """Energy for a sample."""
        if self.samples is None:
            raise OutsideDomainError("energy per sample needs the samples of a step; give samples")
        return self.energy / self.samples

    def days(self, tokens: Count) -> Number:
        """Days to train on so many tokens."""
        return self._training(tokens) / DAY

    def training_dollars(self, tokens: Count) -> Dollars:
        """Money to train on so many tokens."""
        return self.dollars * (self._training(tokens) / self.time)

    def _training(self, tokens: Count) -> Seconds:
        return training_time(tokens, per_step=self._tokens(), step=self.time)

    def _tokens(self) -> Count:
        if self.tokens is None:
            raise OutsideDomainError("figures per token need the tokens of a step; give tokens")
        return self.tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class CostBreakdown:
    """What a machine costs and takes, by part; every number may be a column."""

    capex_by_part: dict[str, Dollars]
    """Purchase price."""
    rated: dict[str, Watts]
    """Rated power, before conversion and cooling."""
    power_by_part: dict[str, Watts]
    """Mean power in use, with conversion and cooling."""
    terms: Terms

    @property
    def capex(self) -> Dollars:
        """All that is bought."""
        return total(self.capex_by_part)

    @property
    def power(self) -> Watts:
        """At the meter, in use."""
        return total(self.power_by_part)

    @property
    def ownership(self) -> dict[str, Dollars]:
        """What is paid within the machine's life: purchase, the plant's share of it, interest, maintenance, energy."""
        terms = self.terms
        life = terms.life
        plant = self.capex_by_part.get(PLANT, 0.0)
        machine = self.capex - plant
        bought = repaid_price(machine, interest=0.0, life=life, over=life)
        housed = repaid_price(plant, interest=0.0, life=terms.plant_life, over=life)
        repaid = repaid_price(machine, interest=terms.interest, life=life, over=life) + repaid_price(
            plant, interest=terms.interest, life=terms.plant_life, over=life
        )
        found = {
            "machine": bought,
            PLANT: housed,
            "interest": 0.0 if is_plainly(terms.interest, 0.0) else repaid - bought - housed,
            "maintenance": maintenance_price(self.capex, share=terms.maintenance, over=life),
            "energy": life_energy_price(self.power, life=life, use=terms.use, energy_price=terms.energy_price),
        }
        return {name: _plain(value) for name, value in found.items()}

    @property
    def tco(self) -> Dollars:
        """Total cost of ownership over the life."""
        return total(self.ownership)

    @property
    def dollars_per_second(self) -> Dollars:
        """What a second of use costs."""
        return charged_price(self.tco, 1.0, life=self.terms.life, use=self.terms.use)

    def step(self, time: Seconds, *, tokens: Count | None = None, samples: Count | None = None) -> StepCost:
        """Energy and money of a step that takes so long."""
        return StepCost(
            time=time,
            energy=self.power * time,
            dollars=charged_price(self.tco, time, life=self.terms.life, use=self.terms.use),
            tokens=tokens,
            samples=samples,
        )


def cost_breakdown(inventory: Inventory, prices: AbstractPrices, terms: Terms | None = None) -> CostBreakdown:
    """The bill of a machine under a price model. Pure; columns of `inventory`, `prices` and `terms` broadcast."""
    given = terms or Terms()
    rated = prices.power_by_part(inventory)
    capital = prices.capex_by_part(inventory)
    if given.plant_price is not None:
        capital[PLANT] = plant_price(total(rated) / given.conversion, per_watt=given.plant_price)
    used = power_in_use(
        rated,
        load=given.load,
        host_load=given.host_load,
        pue=inventory.pue if given.pue is None else given.pue,
        conversion=given.conversion,
    )
    return CostBreakdown(
        capex_by_part={part: _plain(value) for part, value in capital.items()},
        rated={part: _plain(value) for part, value in rated.items()},
        power_by_part={part: _plain(value) for part, value in used.items()},
        terms=given,
    )


def _plain(value: Number) -> Number:
    """A number where there is one, a column where there are many."""
    return float(value) if np.ndim(value) == 0 else value
