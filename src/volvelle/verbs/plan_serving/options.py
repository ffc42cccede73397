"""A way to serve a load, in full: replicas, latencies with ranges, how likely limits are kept, goodput, money."""

from dataclasses import dataclass, replace

import numpy as np

from volvelle.applications.serving.chance import ERRORS, Chance, chance
from volvelle.applications.serving.evidence.basis import ServingBasis, load_kind, serving_bases
from volvelle.applications.serving.goodput import AskedLoad, trial
from volvelle.applications.serving.instance import Instance
from volvelle.applications.serving.part_bounds import TimedPart
from volvelle.applications.serving.static_answer import prediction_errors, static_answer
from volvelle.applications.serving.under_load import LoadAnswer, answer_under_load
from volvelle.system.cluster import Cluster
from volvelle.verbs.plan_serving.candidates import is_full
from volvelle.verbs.plan_serving.screening import Screened, Search
from volvelle.verbs.plan_serving.spending import ChipHour, chip_hour
from volvelle.verbs.serving.cost import ServingCost
from volvelle.verbs.serving.question import ServingQuestion
from volvelle.workload.serving.limits import LatencyLimit
from volvelle.workload.serving.loads import AbstractSteadyRate, Closed

_MORE = 2
"""Replicas that are added where a longer run breaks the limits that a short one kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingOption:
    """A way to serve a load within limits."""

    question: ServingQuestion
    """Of ``volvelle serve``, about as many chips as are used: what launches it."""
    cluster: Cluster
    """All that there is."""
    instance: Instance
    replicas: int
    """The fewest that serve the load within limits."""
    load: LoadAnswer
    load_kind: str
    """Of the load, as measured runs are told apart by it."""
    chance: Chance
    share: float
    """The part of the load that one rank serves within limits, at most."""
    offered: float
    """Requests a second of the load, clients, or 1 for a trace."""
    edge: LatencyLimit
    """The limit that breaks first when the load grows."""
    longest_part: TimedPart
    """Where a decoding step goes."""
    hour: ChipHour
    spent: float
    """By which options are ranked: of all chips that are used."""
    unit: float
    """Of the same, of one instance."""

    @property
    def chips(self) -> int:
        """That are used."""
        return self.replicas * self.instance.layout.chips

    @property
    def full_precision(self) -> bool:
        """Whether weights and cache keep 16 bits."""
        return is_full(self.question)

    @property
    def bases(self) -> tuple[ServingBasis, ...]:
        """What ranges of the limited figures rest on: the error of TPOT through the queue, and those of the others."""
        found = serving_bases(self.instance, self.load_kind)
        limited = (ERRORS[one.limit.latency] for one in self.chance.figures)
        return tuple(found[name] for name in dict.fromkeys(("tpot", *limited)))

    @property
    def cost(self) -> ServingCost:
        """Dollars a million output tokens under the load."""
        tokens = (self.load.throughput or 0.0) * 3600.0 / 1e6
        owned, rented = (None if hour is None or not tokens else hour * self.chips / tokens for hour in self._hours)
        return ServingCost(owned=owned, rented=rented, rent_offered=self.hour.rent_offered)

    @property
    def _hours(self) -> tuple[float | None, float | None]:
        return self.hour.owned, self.hour.rented

    @property
    def machine_replicas(self) -> int:
        """That the whole machine has room for."""
        return self.cluster.accelerators // self.instance.layout.chips

    @property
    def goodput(self) -> float:
        """Requests a second (clients; times the trace) that the whole machine serves within limits, at most."""
        return self.machine_replicas * self.instance.layout.data * self.share * self.offered

    @property
    def goodput_per_chip(self) -> float:
        """Of each chip in an instance."""
        return self.instance.layout.data * self.share * self.offered / self.instance.layout.chips

    @property
    def goodput_per_unit(self) -> float:
        """Of each dollar an hour, chip or watt."""
        return self.instance.layout.data * self.share * self.offered / self.unit

    @property
    def tokens_per_chip(self) -> float:
        """Output tokens a second of a chip under the load."""
        return self.load.throughput_per_chip or 0.0

    @property
    def tokens_per_user(self) -> float:
        """Output tokens a second that a user gets after the first, in the mean."""
        tpot = self.load.latencies.get("tpot")
        return 1.0 / tpot.mean if tpot is not None and tpot.mean > 0 else 0.0


def offered_of(asked: AskedLoad) -> float:
    """What the load is counted in: requests a second, clients, or times itself."""
    load = asked.load
    return (
        load.rate if isinstance(load, AbstractSteadyRate) else float(load.clients) if isinstance(load, Closed) else 1.0
    )


def unit_of(asked: AskedLoad) -> str:
    """In words."""
    load = asked.load
    return (
        "requests/s"
        if isinstance(load, AbstractSteadyRate)
        else "clients"
        if isinstance(load, Closed)
        else "× the load"
    )


def served_option(search: Search, one: Screened) -> ServingOption | None:
    """A candidate in full, with as many replicas as a settled run needs; None: the machine has not as many."""
    assert one.replicas is not None, "it serves the load"
    assert one.at is not None, "it was tried"
    asked, limits, group = search.asked, search.limits, one.group
    instance = one.question.instance(search.catalogue, search.shape, group.cluster)
    for replicas in range(one.replicas, min(one.replicas + _MORE, group.replicas) + 1):
        load = answer_under_load(
            instance, asked.load, asked.shape, replicas=replicas, requests=asked.requests, seed=asked.seed
        )
        if load.metrics is None:
            continue
        ranks = replicas * instance.layout.data
        settled = replace(asked, settled=load.requests * ranks) if isinstance(asked.load, AbstractSteadyRate) else asked
        final = trial(instance, settled, limits, 1.0 / ranks)
        if not final.kept:
            continue
        ratios = [figure / limit.seconds for figure, limit in zip(one.at.figures, limits, strict=True)]
        likely = chance(
            lambda slower, share=1.0 / ranks: trial(instance, asked, limits, share, slower=slower),  # type: ignore[misc]
            limits,
            final.figures,
            prediction_errors(instance),
        )
        hour = chip_hour(group.cluster)
        kind = group.cluster.name.partition("/")[0]
        chips = replicas * instance.layout.chips
        return ServingOption(
            question=one.question.changed(on=f"{kind}/{chips}"),
            cluster=group.cluster,
            instance=instance,
            replicas=replicas,
            load=load,
            load_kind=load_kind(asked.load),
            chance=likely,
            share=one.share,
            offered=offered_of(asked),
            edge=limits[int(np.argmax(ratios))],
            longest_part=longest_part(instance, asked, load),
            hour=hour,
            spent=replicas * one.unit,
            unit=one.unit,
        )
    return None


def longest_part(instance: Instance, asked: AskedLoad, load: LoadAnswer) -> TimedPart:
    """Where most of a decoding step goes, of as many requests as run in the mean."""
    requests = asked.part(1.0)
    batch = max(1, round(load.occupancy.mean_running))
    static = static_answer(
        instance,
        batch=batch * instance.layout.data,
        input_tokens=int(np.mean(requests.input_tokens)),
        output_tokens=max(2, int(np.mean(requests.output_tokens))),
        replicas=1,
    )
    return static.decode[0]
