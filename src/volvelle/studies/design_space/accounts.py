"""What machines of a study cost: its cost model and terms, applied to machines whose numbers may be columns."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from volvelle.catalogue.prices import PriceBook
from volvelle.economics.cost_breakdown import CostBreakdown, Terms, cost_breakdown
from volvelle.economics.plain_parts import plainly_counted
from volvelle.economics.price_book import AbstractPrices, End, ListPrices, MarketPrices, PartPrices
from volvelle.errors import DescriptionError, OutsideDomainError
from volvelle.quantities import DOLLARS_PER_JOULE, FRACTION, SECONDS, parse
from volvelle.studies.design_space.design_study import DesignStudy
from volvelle.studies.design_space.fields import value_of
from volvelle.studies.design_space.measures import PRICED, RENTED
from volvelle.studies.design_space.structure import REPLACED
from volvelle.system.cluster import Cluster
from volvelle.system.inventory import Inventory

_GROWTH = ("price_exponent", "power_exponent")
"""What a study may say of how larger chips are priced."""


class Accounts:
    """Bills of machines, by the prices of one study."""

    def __init__(self, study: DesignStudy, *, at: End = End.TYPICAL) -> None:
        self._study = study
        self._at = at
        self._known: dict[tuple[object, ...], AbstractPrices] = {}

    def __getstate__(self) -> dict[str, object]:
        """Its study; prices are read again."""
        return {"_study": self._study, "_at": self._at, "_known": {}}

    @cached_property
    def _book(self) -> PriceBook:
        return PriceBook(self._study.catalogue)

    @cached_property
    def terms(self) -> Terms:
        """What is assumed of life, use and energy."""
        costs, usual = self._study.form.costs, self._book.terms(at=self._at)
        return replace(
            usual,
            plant_price=usual.plant_price if costs.plant else None,
            life=parse(costs.life, SECONDS),
            use=parse(costs.use, FRACTION),
            energy_price=parse(costs.energy_price, DOLLARS_PER_JOULE),
            load=parse(costs.load, FRACTION),
            host_load=parse(costs.host_load, FRACTION),
        )

    def prices(self, anchor: Cluster) -> AbstractPrices:
        """Prices of a machine of the catalogue, which its variants are priced by."""
        key = (anchor.name, anchor.chip.name, anchor.spans, tuple(part.link.name for part in anchor.dimensions))
        if key not in self._known:
            costs = self._study.form.costs
            found: AbstractPrices = (
                ListPrices(overhead=parse(costs.overhead, FRACTION))
                if costs.model == "list"
                else self._book.model(costs.model, anchor, at=self._at)
            )
            given = {name: getattr(costs, name) for name in _GROWTH if getattr(costs, name) is not None}
            if given and not isinstance(found, PartPrices):
                raise DescriptionError(
                    f"costs: {', '.join(given)} is set, but the model {costs.model!r} prices no larger chips; set "
                    "model: parts, or leave it out"
                )
            self._known[key] = replace(found, **given) if isinstance(found, PartPrices) else found
        return self._known[key]

    def check(self) -> None:
        """Refuse a study that asks for money or watts where a machine of it has no price, before anything is run."""
        study = self._study
        priced = PRICED if study.form.costs.rent is None else PRICED - RENTED
        asks = study.published is None and not priced.isdisjoint(study.measures)
        if not asks or study.form.costs.model == "list":
            return
        columns = {path: values for axis in study.axes for path, values in axis.columns.items()}
        named = [{path: name} for path in ("system", "chip") for name in columns.get(path, ())]
        # A memory or a network that is an axis takes the place of the chip's own, at every point.
        others = {path: columns[path][0] for path in REPLACED if path in columns}
        for values in named or [{}]:
            cluster, anchor = study.machine({**values, **others}), study.machine(values)
            try:
                self.cost_breakdown(cluster, anchor)
            except OutsideDomainError as error:
                raise OutsideDomainError(
                    f"{cluster.name}: {error}. In a study, leave it out, or set costs: {{model: list}}, chip.price"
                ) from None

    def cost_breakdown(self, cluster: Cluster, anchor: Cluster) -> CostBreakdown:
        """What a machine costs, priced as a variant of another."""
        if self._study.form.costs.model != "list":
            self._refuse_own_figures(cluster, anchor)
        plain = self._study.form.costs.counts == "dfmodel"
        return variant_breakdown(cluster, anchor, self.prices(anchor), self.terms, plain=plain)

    def _refuse_own_figures(self, cluster: Cluster, anchor: Cluster) -> None:
        """A chip's own price and power are not looked at where a model knows parts; so they cannot be set either."""
        for name in ("price", "power"):
            here, sold = getattr(cluster.chip, name), getattr(anchor.chip, name)
            if here is not sold and (here is None or sold is None or np.any(here != sold)):
                raise DescriptionError(
                    f"chip.{name} is set, but the cost model {self._study.form.costs.model!r} takes {name} from its "
                    "own figures; set costs: {model: list} to use yours"
                )


def variant_breakdown(
    cluster: Cluster, anchor: Cluster, prices: AbstractPrices, terms: Terms, *, plain: bool = False
) -> CostBreakdown:
    """What a machine costs by the prices of another, which it is a variant of; `plain`: counted as DFModel does."""
    inventory = Inventory.of(cluster)
    if plain:
        inventory = plainly_counted(inventory, cluster)
    if not isinstance(prices, ListPrices):
        if isinstance(prices, MarketPrices):
            _refuse_other_chips(cluster, anchor)
        logic = value_of("chip.matrix_rate", cluster) / value_of("chip.matrix_rate", anchor)
        inventory = replace(inventory, logic=logic)
    return cost_breakdown(inventory, prices, terms)


@dataclass(frozen=True, kw_only=True)
class PricedMachine:
    """What a machine costs, reckoned when it is first called for."""

    accounts: Accounts
    cluster: Cluster
    anchor: Cluster

    @cached_property
    def _breakdown(self) -> CostBreakdown:
        return self.accounts.cost_breakdown(self.cluster, self.anchor)

    def __call__(self) -> CostBreakdown:
        """The cost breakdown."""
        return self._breakdown


_MADE_OF = ("chip.vector_rate", "chip.buffer")
"""Numbers of a chip that its market price is for, besides logic and memory, which the prices themselves look at."""


def _refuse_other_chips(cluster: Cluster, anchor: Cluster) -> None:
    for path in _MADE_OF:
        if np.any(value_of(path, cluster) != value_of(path, anchor)):
            raise OutsideDomainError(
                f"{path} differs from that of {anchor.chip.name!r}, and nobody sells such a chip; the market's prices "
                "do not know it: set costs: {model: parts}"
            )
