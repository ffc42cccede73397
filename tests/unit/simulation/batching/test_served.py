"""The curve of what runs, what waits and what is used."""

import numpy as np

from tests.unit.simulation.batching.small import flat_costs, requests
from volvelle.simulation.batching.rules import vllm
from volvelle.simulation.batching.serving import serve


def test_the_curve_counts_who_runs_and_who_waits() -> None:
    rules = vllm(kv_blocks=10, token_budget=64, max_sequences=1, block_tokens=4)
    served = serve(requests((1.0, 8, 3), (1.0, 8, 3)), flat_costs(), rules)
    running, waiting, used = served.curve(np.array([0.5, 1.5, 100.0]))
    assert running.tolist() == [0, 1, 0]
    assert waiting.tolist() == [0, 1, 0]
    assert used.tolist() == [0.0, 0.2, 0.0]
    assert served.duration == served.end[1]
