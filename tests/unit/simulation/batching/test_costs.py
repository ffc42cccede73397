"""Tables of times are looked at before a machine runs on them."""

from dataclasses import replace

import numpy as np
import pytest

from tests.unit.simulation.batching.small import flat_costs, requests
from volvelle.errors import DescriptionError
from volvelle.simulation.batching.rules import vllm
from volvelle.simulation.batching.serving import serve

RULES = vllm(kv_blocks=100, token_budget=64, max_sequences=8, block_tokens=4)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"tokens": np.full(65, np.nan)}, "tokens has an entry that is negative or no number"),
        ({"head": np.full(9, -1.0)}, "head has an entry"),
        ({"captured": np.ones(3)}, "captured has the shape"),
        ({"context_nodes": np.array([2.0, 1.0])}, "context_nodes must rise"),
        ({"tokens": np.zeros(65)}, "must take some time"),
        ({"decode": np.zeros(9)}, "decode must have 2 dimension"),
        ({"host": -1.0}, "host is -1.00 s"),
    ],
)
def test_a_table_that_is_none_is_refused(changed: dict[str, object], said: str) -> None:
    with pytest.raises(DescriptionError, match=said):
        replace(flat_costs(), **changed)  # type: ignore[arg-type]


def test_a_captured_step_is_replayed_where_there_is_one() -> None:
    captured = np.where(np.arange(65) <= 2, 0.5, np.inf)
    costs = replace(flat_costs(), captured=captured)
    served = serve(requests((0.0, 2, 3)), costs, RULES)
    assert served.first_token[0] == pytest.approx(1.02)
    assert served.end[0] == pytest.approx(1.02 + 2 * 0.5)
    replayed = serve(requests((0.0, 2, 3)), replace(costs, captures_prompts=True), RULES)
    assert replayed.first_token[0] == pytest.approx(0.5)


def test_launches_and_the_host_bound_a_step() -> None:
    slow = serve(requests((0.0, 10, 2)), replace(flat_costs(), launches=3.0), RULES)
    assert slow.end[0] == pytest.approx(6.0)
    apart = serve(requests((0.0, 10, 2)), replace(flat_costs(), host=0.5), RULES)
    assert apart.end[0] == pytest.approx(1.1 + 1.01 + 2 * 0.5)
    over = serve(requests((0.0, 10, 2)), replace(flat_costs(), host=1.05, host_overlapped=True), RULES)
    assert over.end[0] == pytest.approx(1.1 + 1.05)
    two = replace(flat_costs(), host=0.05, host_sequence=1.0, host_overlapped=True)
    assert serve(requests((0.0, 10, 2)), two, RULES).end[0] == pytest.approx(1.1 + 1.05)


def test_sequences_and_admissions_take_time_of_their_own() -> None:
    served = serve(requests((0.0, 10, 2)), replace(flat_costs(), per_sequence=0.1, per_admission=0.7), RULES)
    assert served.end[0] == pytest.approx(1.1 + 0.1 + 0.7 + 1.01 + 0.1)
