"""Candidates one by one: what a closed form leaves of them, and the largest part of the load that they serve."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import ceil

from volvelle.applications.serving.goodput import AskedLoad, Trial, largest_share, replicas_for, trial
from volvelle.applications.serving.rate_bounds import RateBounds, StepFloors, bounds_under
from volvelle.catalogue import Catalogue
from volvelle.estimators.serving.step_tables import step_costs
from volvelle.simulation.batching.costs import StepCosts
from volvelle.verbs.plan_serving.candidates import Group
from volvelle.verbs.serving.question import ServingQuestion
from volvelle.workload.families.shape import Transformer
from volvelle.workload.serving.limits import LatencyLimit

Key = tuple[float, float]
"""What serving the load takes, and less what of the load is served for each unit spent: the least is best."""
TrialKey = tuple[str, float]
"""A candidate's command, and its part of the load."""
_CAPTURED = 16
"""Sequences of which a multiple is a size of captured graphs: tables of more hold those of fewer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What all candidates have in common; of plain values, for other processes."""

    catalogue: Catalogue
    shape: Transformer
    asked: AskedLoad
    limits: tuple[LatencyLimit, ...]
    chip_cost: Mapping[str, float]
    """Of one chip of each machine, by the machine's name."""
    bounded: bool = True
    """Whether closed forms and what was found before spare trials; without, every candidate is followed."""

    def unit(self, group: Group) -> float:
        """What one instance of a group costs."""
        return self.chip_cost[group.cluster.name] * group.layout.chips


@dataclass(frozen=True, slots=True, kw_only=True)
class Screened:
    """What is known of a candidate."""

    question: ServingQuestion
    group: Group
    unit: float
    bound: float
    """The part of the load that a rank serves at most."""
    share: float = 0.0
    """The part that it serves within limits; 0: none, or it was not looked for."""
    replicas: int | None = None
    """That serve all of the load; None: more than the machine holds, or not looked for."""
    at: Trial | None = None
    """The trial of that part, or of what broke the limits."""
    reason: str = ""
    """Why nothing is served within limits, where a closed form says so."""
    floors: tuple[float, ...] = ()
    """What is limited is at least this, by a closed form."""

    @property
    def key(self) -> Key:
        """By which candidates are ranked."""
        assert self.replicas is not None, "it serves the load"
        return self.replicas * self.unit, -self.per_unit

    @property
    def per_unit(self) -> float:
        """Part of the load for each unit that is spent."""
        return self.share * self.group.layout.data / self.unit


def wanted_share(best: Key | None, group: Group, unit: float) -> float:
    """The part of the load that a rank must serve for a candidate to come before another; infinite: it cannot."""
    data, room = group.layout.data, group.replicas
    if best is None:
        return 1.0 / (room * data)
    cost, rate = best[0], -best[1]
    found = [float("inf")]
    fewer = ceil(cost / unit - 1e-9) - 1
    if fewer >= 1:
        found.append(1.0 / (min(fewer, room) * data))
    equal = round(cost / unit)
    if 1 <= equal <= room and abs(equal * unit - cost) <= 1e-9 * cost:
        found.append(max(1.0 / (equal * data), rate * unit / data))
    return min(found)


class GroupScreen:
    """The candidates of one group, which share times of steps."""

    def __init__(self, search: Search, group: Group, known: dict[TrialKey, Trial]) -> None:
        self.search, self.group, self.known = search, group, known
        self.fresh: dict[TrialKey, Trial] = {}
        """Trials that were not known before."""
        base = group.questions[0].instance(search.catalogue, search.shape, group.cluster)
        held = base.kv_blocks * base.memory.block
        self.unit = search.unit(group)
        self.floors = StepFloors(base, search.asked.part(1.0), seed=search.asked.seed)
        # What a chip holds is the same whatever the engine is told of steps.
        self.instances = {
            question: replace(base, settings=replace(question.settings, kv_tokens=held)) for question in group.questions
        }
        self.rules = {question: instance.rules() for question, instance in self.instances.items()}
        self._costs: dict[int, StepCosts] = {}

    def bounds(self, question: ServingQuestion) -> tuple[RateBounds, float]:
        """What a closed form says of a candidate, and the part of the load that it allows."""
        return bounds_under(self.search.asked.load, self.rules[question], self.floors, self.search.limits)

    def costs(self, question: ServingQuestion) -> StepCosts:
        """Of steps of a candidate: tables that several share, where captured graphs are the same."""
        most = self.rules[question].max_sequences
        if most % _CAPTURED == 0:
            most = max(one.max_sequences for one in self.rules.values() if one.max_sequences % _CAPTURED == 0)
        if most not in self._costs:
            tokens = max(one.most_tokens for one in self.rules.values())
            iteration = self.instances[question].iteration
            self._costs[most] = step_costs(iteration, most_tokens=tokens, most_sequences=most)
        return self._costs[most]

    def tried(self, question: ServingQuestion) -> Callable[[float], Trial]:
        """Trials of a candidate, each made once."""
        name = question.command

        def one(share: float) -> Trial:
            key = (name, share)
            if key not in self.known:
                found = self.trial(question, share)
                self.known[key] = self.fresh[key] = found
            return self.known[key]

        return one

    def trial(self, question: ServingQuestion, share: float, *, whole: bool = False) -> Trial:
        """A part of the load on one rank of a candidate; to its end where its figures are wanted."""
        search, instance = self.search, self.instances[question]
        return trial(
            instance,
            search.asked,
            search.limits,
            share,
            costs=self.costs(question),
            hasty=search.bounded and not whole,
        )

    def screened(self, question: ServingQuestion, best: Key | None) -> Screened | None:
        """What is known of a candidate; None: it does not come before what was found."""
        found, bound = self.bounds(question)
        plain = Screened(
            question=question,
            group=self.group,
            unit=self.unit,
            bound=bound,
            reason=found.reason,
            floors=found.floors,
        )
        if not found.possible:
            return plain
        tried = self.tried(question)
        data, room = self.group.layout.data, self.group.replicas
        known = None
        if self.search.bounded:
            wanted = wanted_share(best, self.group, self.unit)
            if wanted > bound:
                return None if best is not None else replace(plain, at=tried(1.0 / (room * data)))
            first = tried(wanted)
            if not first.kept:
                return None if best is not None else replace(plain, at=first)
            known = wanted
        kept = largest_share(tried, bound=bound, known=known)
        if kept.share == 0.0:
            return replace(plain, at=kept.at)
        replicas = replicas_for(kept.share, tried, data=data)
        fits = replicas <= room
        at = kept.at if fits else tried(1.0 / (room * data))
        return replace(plain, share=kept.share, replicas=replicas if fits else None, at=at)
