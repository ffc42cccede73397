"""Single figures that others published, and what laws and catalogue make of them; none of them was fitted to."""

from dataclasses import dataclass

import numpy as np

from volvelle.applications.goodput.inputs import prior_hazard, recorded_out, site_power, spares_from_trace
from volvelle.applications.goodput.run_plan import JobHazard, PartHazard
from volvelle.catalogue import Catalogue
from volvelle.catalogue.packaged_rows import packaged_rows
from volvelle.catalogue.reliability import hazards
from volvelle.laws.energy import run_energy
from volvelle.laws.reliability.checkpoint_interval import best_interval
from volvelle.laws.reliability.emissions import operational_emissions
from volvelle.laws.reliability.hazards import time_between
from volvelle.quantities import DAY

_HOUR, _KWH, _MWH, _TONNE = 3600.0, 3.6e6, 3.6e9, 1000.0
LLAMA_DAYS, _LLAMA_PLANNED = 54, 47
"""Days in which interruptions were counted, and those that were planned."""
_CARD_HOURS, _CARD_WATTS, _CARD_GRAMS = 30.84e6, 700.0, 413.7
_BLOOM_HOURS, _BLOOM_GRAMS, _BLOOM_MWH, _BLOOM_TONNES = 1_082_990.0, 57.0, 433.0, 24.7


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFigure:
    """A published figure beside ours."""

    what: str
    published: float
    ours: float
    low: float | None = None
    """Ends of an interval, where it is a prediction."""
    high: float | None = None

    @property
    def off(self) -> float:
        """Relative."""
        return self.ours / self.published - 1.0

    @property
    def held(self) -> bool:
        """Whether the interval holds it; where there is none, nothing is asked."""
        return self.low is None or self.high is None or self.low <= self.published <= self.high


def llama_causes() -> dict[str, int]:
    """Unexpected interruptions of Llama 3 405B in 54 days, by category, as counted in its table 5."""
    found: dict[str, int] = {}
    for row in packaged_rows("measurements/interruptions.csv"):
        if row["study"] == "llama3-405b":
            found[row["category"]] = found.get(row["category"], 0) + int(row["count"])
    return found


def known_figures() -> tuple[KnownFigure, ...]:
    """All of them."""
    return (*_interruptions(), *_periods(), *_spares(), *_power_and_carbon())


def _interruptions() -> tuple[KnownFigure, ...]:
    cluster = Catalogue().cluster("dgx-h100/16384")
    prior, _ = prior_hazard(cluster)
    low, high = prior.at(np.array([0.1, 0.9])) * DAY
    counted = JobHazard(
        parts=tuple(
            PartHazard(part=name, count=1.0, rate=count / (LLAMA_DAYS * DAY)) for name, count in llama_causes().items()
        )
    )
    planned = counted.rate + _LLAMA_PLANNED / (LLAMA_DAYS * DAY)
    rsc = {hazard.study: hazard.rate.value for hazard in hazards() if hazard.part == "node"}
    all_causes = [hazard.rate.value for hazard in hazards() if hazard.study == "rsc-jobs"]
    one_rate = float(np.sqrt(all_causes[0] * all_causes[1]))
    return (
        KnownFigure(
            what="Llama 3, 16,384 H100, interruptions a day, from other systems alone",
            published=419 / LLAMA_DAYS,
            ours=prior.rate * DAY,
            low=float(low),
            high=float(high),
        ),
        KnownFigure(what="Llama 3, interruptions a day, by its causes", published=7.76, ours=counted.rate * DAY),
        KnownFigure(what="Llama 3, h between them", published=3.093, ours=float(time_between(counted.rate)) / _HOUR),
        KnownFigure(what="Llama 3, a day with planned ones", published=8.63, ours=planned * DAY),
        KnownFigure(what="Llama 3, h with planned ones", published=2.781, ours=float(time_between(planned)) / _HOUR),
        KnownFigure(what="RSC-1 projected to 16,384 GPUs, h", published=1.80, ours=1 / (2048 * rsc["rsc-1"]) / _HOUR),
        KnownFigure(
            what="RSC-1 projected to 131,072 GPUs, h", published=0.225, ours=1 / (16384 * rsc["rsc-1"]) / _HOUR
        ),
        KnownFigure(what="RSC jobs of 8 GPUs, every cause, days", published=47.7, ours=1 / one_rate / DAY),
        KnownFigure(what="RSC jobs of 1,024 GPUs, every cause, h", published=7.9, ours=1 / (128 * one_rate) / _HOUR),
    )


def _periods() -> tuple[KnownFigure, ...]:
    return tuple(
        KnownFigure(
            what=f"best checkpoint period of {int(row['processors']):,} processors, s",
            published=float(row["period_optimal_s"]),
            ours=float(best_interval(float(row["mtbf_s"]), float(row["checkpoint_s"]))) + float(row["checkpoint_s"]),
        )
        for row in packaged_rows("measurements/checkpoint_periods.csv")
    )


def _spares() -> tuple[KnownFigure, ...]:
    whole, rest = recorded_out(), recorded_out(200.0)
    found = [
        KnownFigure(what="trace: nodes out on average, by Little's law", published=whole.mean, ours=whole.by_little)
    ]
    for share in (0.95, 0.99):
        low, middle, high = spares_from_trace(share, until=200.0)
        found.append(
            KnownFigure(
                what=f"trace: spares for {100 * share:.0f} % after day 200, from the first 200 days",
                published=rest.quantile(share),
                ours=middle,
                low=low,
                high=high,
            )
        )
    return tuple(found)


def _power_and_carbon() -> tuple[KnownFigure, ...]:
    power, _ = site_power(Catalogue().cluster("dgx-h100/8"))
    assert power is not None, "the catalogue knows the power of an H100"
    card = float(run_energy(_CARD_HOURS * _HOUR, 1.0, chip_power=_CARD_WATTS, host_power=0.0))
    whole = float(run_energy(_CARD_HOURS * _HOUR, 1.0, chip_power=power.training, host_power=0.0, pue=power.pue))
    bloom = float(run_energy(_BLOOM_HOURS * _HOUR, 1.0, chip_power=400.0, host_power=0.0))
    intensity = _CARD_GRAMS / 1000.0 / _KWH
    return (
        KnownFigure(what="DGX H100 in training, kW", published=7.75, ours=8 * power.training / 1000.0),
        KnownFigure(what="Llama 3.1 405B as its card counts, MWh", published=21_588.0, ours=card / _MWH),
        KnownFigure(
            what="Llama 3.1 405B as its card counts, t CO2e",
            published=8930.0,
            ours=float(operational_emissions(card, intensity=intensity)) / _TONNE,
        ),
        KnownFigure(
            what="the same with hosts and PUE 1.2, MWh, over the card's", published=21_588.0, ours=whole / _MWH
        ),
        KnownFigure(what="BLOOM, MWh", published=_BLOOM_MWH, ours=bloom / _MWH),
        KnownFigure(
            what="BLOOM, t CO2e",
            published=_BLOOM_TONNES,
            ours=float(operational_emissions(bloom, intensity=_BLOOM_GRAMS / 1000.0 / _KWH)) / _TONNE,
        ),
    )
