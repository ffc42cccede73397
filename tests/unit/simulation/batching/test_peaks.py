"""The fullest second."""

from tests.unit.simulation.batching.small import flat_costs, requests
from volvelle.simulation.batching.peaks import most_requests, most_tokens
from volvelle.simulation.batching.rules import vllm
from volvelle.simulation.batching.serving import serve


def test_the_fullest_second_has_the_tokens_of_all_that_decode_in_it() -> None:
    rules = vllm(kv_blocks=100, token_budget=64, max_sequences=8, block_tokens=4)
    served = serve(requests((0.0, 10, 3), (0.0, 10, 3), (0.0, 10, 1)), flat_costs(), rules)
    assert most_tokens(served, start=0.0) == 3
    assert most_requests(served.sent, served.end) == 3
