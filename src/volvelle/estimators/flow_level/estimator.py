"""The flow-level estimator: a replay whose exchanges take as long as their messages do on the links of the machine."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import final

import numpy as np
from numpy.typing import NDArray

from volvelle.errors import OutsideDomainError
from volvelle.estimators.calibration import Calibrations
from volvelle.estimators.collective_flows.exchange import Exchange, at_once, flows_of
from volvelle.estimators.contract import TrainingEstimator
from volvelle.estimators.event_driven.estimator import EventDriven, ReplayedStep
from volvelle.estimators.event_driven.stretch import Stretch
from volvelle.estimators.flow_level.step_exchanges import StepExchange, step_exchanges
from volvelle.estimators.result import TrainingEstimate
from volvelle.mapping.axes import DATA, PIPELINE, Axis
from volvelle.mapping.parallelism import MappingTable, ParallelMapping
from volvelle.simulation.flow.flows import Flows, flow_times
from volvelle.system.cluster import Cluster
from volvelle.system.network import Network
from volvelle.system.routing import Routing
from volvelle.workload.training import TrainingStep

Reals = NDArray[np.float64]
Engine = Callable[[Reals, Flows], Reals]
"""When flows end on links of given capacities."""
MOST_MESSAGES = 250_000
"""Of groups of one axis that are timed together: a few seconds."""
MOST_CHIPS = 65_536


def our_engine(capacities: Reals, flows: Flows) -> Reals:
    """Max-min fair rates, as `simulation.flow` finds them."""
    return flow_times(capacities, flows).end


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowFactor:
    """What the links of a machine make of the exchange of one axis."""

    exchange: StepExchange
    groups: int
    """Timed together, of all that the axis has."""
    messages: int
    law: float
    """Seconds by the law of the same messages, with nothing in the way."""
    alone: float
    """Seconds as flows, all these groups at once."""
    beside: float
    """The same, beside what other axes send at the time: gradients beside what stages hand over."""

    @property
    def factor(self) -> float:
        """By how much longer than its law it takes; what stages hand over meets gradients in the last slots only."""
        return (self.alone if self.exchange.axis is PIPELINE else self.beside) / self.law


@final
@dataclass(frozen=True, slots=True)
class FlowLevel(TrainingEstimator):
    """A replay with every exchange longer by what its flows lose on shared links.

    Of every axis the exchange that takes most of its time is run as messages, all groups of the axis at once, gradients
    beside what stages hand over; others of the axis are stretched alike. What software adds to a message is the closed
    form's. It knows no other jobs, and no messages of kernels that wait.
    """

    calibration: Calibrations | None = None
    """Constants fitted to runs; None: those that the machine comes with."""
    routing: Routing | None = None
    """A rule in place of those that the machine states."""
    engine: Engine = our_engine
    together: bool = True
    """All groups of an axis at once, and axes that meet; if not, one group of one axis at a time."""

    def estimate(self, workload: TrainingStep, system: Cluster, mapping: ParallelMapping) -> TrainingEstimate:
        """How one mapping does; of one that cannot exist what the replay says of it."""
        event = EventDriven(self.calibration)
        found = event.estimate(workload, system, mapping)
        if not found.could_exist:
            return found
        factors = self.factors(event.replayed(workload, system, mapping), workload, system, mapping)
        return EventDriven(self.calibration, stretch=stretch_of(factors)).estimate(workload, system, mapping)

    def factors(
        self, replayed: ReplayedStep, workload: TrainingStep, system: Cluster, mapping: ParallelMapping
    ) -> tuple[FlowFactor, ...]:
        """Of every axis that exchanges something."""
        if system.accelerators > MOST_CHIPS:
            raise OutsideDomainError(
                f"flows are timed on machines of up to {MOST_CHIPS:,} chips, not of {system.accelerators:,}; ask for "
                "closed and event there"
            )
        basis = replayed.closed.basis
        assert basis is not None, "a replay rests on a breakdown"
        network = Network(system, routing=self.routing)
        capacities = network.capacities()
        exchanges = step_exchanges(basis, workload, MappingTable.of([mapping]), chips=mapping.chips)
        most = MOST_MESSAGES if self.together else 1
        made = {each.axis: (each, *each.messages(system, most=most)) for each in exchanges}

        def ends(parts: Sequence[Exchange]) -> list[float]:
            found = self.engine(capacities, flows_of(at_once(parts), network))
            places = np.cumsum([0, *map(len, parts)])
            return [float(found[start:stop].max()) for start, stop in pairwise(places)]

        alone = {axis: ends([messages])[0] for axis, (_, messages, _) in made.items()}
        beside = dict(alone)
        if self.together and DATA in made and PIPELINE in made:
            both = [made[PIPELINE][1], made[PIPELINE][0].messages(system, most=most, back=True)[0]]
            beside |= zip((DATA, PIPELINE), ends([made[DATA][1], *both]), strict=False)
        return tuple(
            FlowFactor(
                exchange=each,
                groups=groups,
                messages=len(messages),
                law=each.ideal(system),
                alone=alone[axis],
                beside=beside[axis],
            )
            for axis, (each, messages, groups) in made.items()
        )


def stretch_of(factors: Sequence[FlowFactor]) -> Stretch:
    """What a replay takes from flows: nothing is shorter than the closed form says."""
    axes: dict[Axis, float] = {each.exchange.axis: max(each.factor, 1.0) for each in factors}
    return replace(Stretch(), axes=tuple(axes.items()))
