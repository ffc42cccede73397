"""Cycles of drafts as steps of the machine: the same memory and the same contexts, where a step yields several tokens.

The machine lets a sequence grow by one token a step. A cycle yields more, so that

- a context of the machine stands for a longer one: beyond the mean prompt, each step adds the tokens of a cycle;
- a block holds less: there are as many fewer blocks as requests hold more tokens than the machine counts, in the mean
  over the cycles of all requests, slots for drafts included; of rules that keep memory to the end, at the end.

Assumes that requests are at all stages of their answers at a time, and that prompts of those that run together are as
long as those of all. What is exact: cycles, their times, the token budget, and when each request starts and ends.
"""

from dataclasses import replace

import numpy as np

from volvelle.simulation.batching.costs import StepCosts
from volvelle.simulation.batching.rules import Eviction, Rules
from volvelle.simulation.batching.serving import OfferedRequests


def in_cycles(costs: StepCosts, rules: Rules, requests: OfferedRequests, *, lookahead: int) -> tuple[StepCosts, Rules]:
    """Costs and rules for requests whose steps are cycles; as they are where every step yields one token."""
    steps = requests.decode_steps.astype(float)
    prompts, answers = requests.input_tokens.astype(float), requests.output_tokens.astype(float)
    cycles = float(steps.sum())
    if cycles == 0.0 or (lookahead == 0 and np.array_equal(steps, answers - 1.0)):
        return costs, rules
    tokens = float((answers - 1.0).sum()) / cycles
    prompt = float((prompts * steps).sum()) / cycles
    nodes = np.where(
        costs.context_nodes > prompt, prompt + (costs.context_nodes - prompt) / tokens, costs.context_nodes
    )
    reached = 1.0 if rules.eviction is Eviction.NONE else 0.5
    counted = float((steps * (prompts + reached * (steps + 1.0))).sum())
    held = float((steps * (prompts + reached * answers + lookahead)).sum())
    largest = int(np.max(-(-(requests.input_tokens + requests.decode_steps + 1) // rules.block_tokens)))
    blocks = max(int(rules.kv_blocks * min(counted / held, 1.0)), min(largest, rules.kv_blocks))
    return replace(costs, context_nodes=nodes), replace(rules, kv_blocks=blocks)
