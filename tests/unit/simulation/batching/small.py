"""A small machine whose times can be added up by hand."""

import numpy as np

from volvelle.simulation.batching.costs import StepCosts
from volvelle.workload.serving.requests import Requests


def flat_costs(tokens: int = 64, sequences: int = 8, **changed: float) -> StepCosts:
    """1 s a step and 0.01 s a token, whatever the context."""
    return StepCosts(
        tokens=1.0 + 0.01 * np.arange(tokens + 1, dtype=np.float64),
        captured=np.full(tokens + 1, np.inf),
        head=np.zeros(sequences + 1),
        chunk_nodes=np.array([0.0]),
        past_nodes=np.array([0.0]),
        chunk=np.zeros((1, 1)),
        context_nodes=np.array([0.0]),
        decode=np.zeros((sequences + 1, 1)),
        **changed,
    )


def requests(*rows: tuple[float, int, int], clients: int = 0) -> Requests:
    """Rows of arrival, prompt and answer."""
    return Requests(
        arrival=np.array([row[0] for row in rows]),
        input_tokens=np.array([row[1] for row in rows]),
        output_tokens=np.array([row[2] for row in rows]),
        clients=clients,
    )
