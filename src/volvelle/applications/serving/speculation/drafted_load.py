"""A load of an instance that drafts: requests whose steps are cycles, and what a cycle costs; as it is without."""

from dataclasses import replace

import numpy as np

from volvelle.applications.serving.instance import Instance
from volvelle.simulation.batching.costs import StepCosts
from volvelle.simulation.batching.cycles import in_cycles
from volvelle.simulation.batching.rules import Rules
from volvelle.simulation.batching.serving import check_requests
from volvelle.workload.serving.requests import Requests


def drafted(instance: Instance, requests: Requests, *, seed: int) -> Requests:
    """The requests with the cycles that their answers take; as they are where nothing is drafted."""
    drafts = instance.speculation
    return requests if drafts is None else drafts.drawn(requests, seed)


def cycle_costs(instance: Instance, first: Requests, costs: StepCosts, rules: Rules) -> tuple[StepCosts, Rules]:
    """Costs and rules of cycles, for requests like the `first`; as they are where nothing is drafted."""
    drafts = instance.speculation
    if drafts is None:
        return costs, rules
    check_requests(replace(first, decode_steps=np.zeros(0, np.int64)), rules)
    return in_cycles(costs, rules, first, lookahead=drafts.lookahead)
