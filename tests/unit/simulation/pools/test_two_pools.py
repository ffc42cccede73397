"""Two pools on cases that can be added up by hand."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from tests.unit.simulation.batching.small import flat_costs, requests
from volvelle.errors import DescriptionError
from volvelle.simulation.batching.rules import Rules, sglang, vllm
from volvelle.simulation.pools.side import Side
from volvelle.simulation.pools.two_pools import Pool, Router, serve_split

RULES = vllm(kv_blocks=100, token_budget=64, max_sequences=8, block_tokens=4)


@dataclass(frozen=True)
class Link:
    """So many seconds a cache, one after the other."""

    seconds: float = 0.0

    @property
    def least(self) -> float:
        return self.seconds

    def arrival(self, request: int, *, started: float, computed: float, free: float) -> float:
        return max(computed, free) + self.seconds


def pool(engines: int = 1, **changed: int) -> Pool:
    rules = vllm(**{"kv_blocks": 100, "token_budget": 64, "max_sequences": 8, "block_tokens": 4, **changed})
    return Pool(costs=flat_costs(), rules=rules, engines=engines)


def test_a_prompt_is_computed_sent_and_decoded() -> None:
    found = serve_split(requests((0.0, 10, 3)), pool(), pool(), Link(0.5))
    assert found.computed.tolist() == pytest.approx([1.1])
    assert found.arrived.tolist() == pytest.approx([1.6])
    assert found.delivered.tolist() == pytest.approx([1.6])
    assert found.end.tolist() == pytest.approx([1.6 + 2 * 1.01])
    assert found.first_at_prefill.mean == pytest.approx(1.1)
    assert found.measure().ttft.mean == pytest.approx(1.6)
    assert found.measure().tpot.mean == pytest.approx(1.01)


def test_caches_of_one_engine_wait_for_its_link_and_those_of_two_do_not() -> None:
    asked = requests((0.0, 10, 3), (0.0, 10, 3))
    one = serve_split(asked, pool(), pool(), Link(0.5))
    assert one.arrived.tolist() == pytest.approx([1.7, 2.2])
    two = serve_split(asked, pool(2), pool(), Link(0.5))
    assert two.arrived.tolist() == pytest.approx([1.6, 1.6])


def test_a_full_cache_keeps_those_waiting_that_come() -> None:
    asked = requests((0.0, 10, 3), (0.0, 10, 3))
    found = serve_split(asked, pool(), pool(kv_blocks=4), Link())
    assert found.delivered.tolist() == pytest.approx([1.2, 1.2 + 2 * 1.01])
    assert found.decode[0].least_free_blocks >= 0
    assert found.wait_for_room.mean == pytest.approx(1.01)


def test_the_least_loaded_engine_gets_the_next_request() -> None:
    asked = requests((0.0, 10, 30), (0.0, 10, 2), (10.0, 10, 3))
    taken = serve_split(asked, pool(), pool(2), Link(), router=Router.LEAST_LOADED)
    assert [one.output_tokens.tolist() for one in taken.decode] == [[30], [2, 3]]
    turns = serve_split(asked, pool(), pool(2), Link())
    assert [one.output_tokens.tolist() for one in turns.decode] == [[30, 3], [2]]


def test_a_client_sends_its_next_request_when_its_last_has_been_decoded() -> None:
    found = serve_split(requests((0.0, 10, 3), (0.0, 10, 1), clients=1), pool(), pool(), Link(0.5))
    assert found.sent[1] == found.end[0]
    assert found.end[1] == pytest.approx(found.end[0] + 1.1)


def test_many_more_requests_than_there_was_room_for_are_all_served() -> None:
    count = 500
    asked = requests(*((0.0, 5, 2) for _ in range(count)), clients=3)
    found = serve_split(asked, pool(3), pool(1), Link(0.01), router=Router.LEAST_LOADED)
    assert np.all(found.end > found.delivered)
    assert sum(one.sent.size for one in found.prefill) == count


@pytest.mark.parametrize("rules", [vllm, sglang])
def test_a_crowd_of_clients_is_worked_off_in_few_turns(
    monkeypatch: pytest.MonkeyPatch, rules: Callable[..., Rules]
) -> None:
    turns: list[float] = []

    def run(side: Side, until: float, go_on: Callable[[Side, float], None] = Side.run) -> None:
        turns.append(until)
        go_on(side, until)

    monkeypatch.setattr(Side, "run", run)
    own = rules(kv_blocks=100, token_budget=64, max_sequences=8, block_tokens=4)
    few = Pool(costs=flat_costs(own.most_tokens), rules=own, engines=1)
    asked = requests(*((0.0, 5, 3) for _ in range(2000)), clients=500)
    found = serve_split(asked, few, few, Link(0.01))
    assert np.all(found.end > found.delivered)
    assert len(turns) < 40


def test_a_pool_of_nothing_is_refused() -> None:
    with pytest.raises(DescriptionError, match="0 engines"):
        pool(0)
