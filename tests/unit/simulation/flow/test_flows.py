"""Flows that share links: small cases by hand, refusals, and that Python and machine code agree."""

import numpy as np
import pytest

from volvelle import DescriptionError
from volvelle.simulation.flow.flows import Flows, RouteTable, flow_times

NOBODY = np.zeros((0, 2), dtype=np.int64)


def flows(routes: list[list[int]], size: list[float], before: object = NOBODY, **more: object) -> Flows:
    width = max((len(route) for route in routes), default=1)
    rows = np.array([[*route, *[-1] * (width - len(route))] for route in routes], dtype=np.int64).reshape(-1, width)
    count = len(routes)
    given = {"latency": np.zeros(count), "release": None} | more
    return Flows(
        routes=RouteTable.of(rows, given.pop("shares", None)),  # type: ignore[arg-type]
        route=np.arange(count),
        size=np.array(size, dtype=float),
        before=np.array(before, dtype=np.int64).reshape(-1, 2),
        **given,  # type: ignore[arg-type]
    )


def test_the_textbook_case_is_shared_max_min_fairly() -> None:
    """Bertsekas and Gallager, section 6.5.2: three links in a row, one flow over all and one over each."""
    found = flow_times([1.0, 2.0, 1.5], flows([[0, 1, 2], [0], [1], [2]], [1.0, 1.0, 1.0, 1.0]))
    # The first link gives ½ each; the second leaves 3/2 and the third 1 to their own flows.
    assert found.end == pytest.approx([2.0, 2.0, 1.0 / 1.5, 1.0])
    assert found.limited[0] == pytest.approx(4.0)  # it limits two flows for two seconds each


def test_what_a_flow_leaves_is_shared_out_again() -> None:
    found = flow_times([1.0], flows([[0], [0]], [1.0, 3.0]))
    assert found.end == pytest.approx([2.0, 4.0])


def test_a_flow_starts_its_latency_after_the_last_it_waits_for() -> None:
    late = flows([[0], [1], [0]], [1.0, 2.0, 1.0], [(0, 2), (1, 2)], latency=np.array([0.0, 0.5, 0.25]))
    found = flow_times([1.0, 1.0], late)
    assert found.begin == pytest.approx([0.0, 0.5, 2.75])
    assert found.end == pytest.approx([1.0, 2.5, 3.75])


def test_a_flow_is_not_sent_before_its_release() -> None:
    found = flow_times([1.0], flows([[0], [0]], [2.0, 1.0], release=np.array([0.0, 1.0])))
    assert found.end == pytest.approx([3.0, 3.0])


def test_flows_of_no_bytes_or_no_links_end_when_they_start() -> None:
    found = flow_times([1.0], flows([[0], [], [0]], [0.0, 5.0, 1.0], [(0, 1), (1, 2)], latency=np.full(3, 0.5)))
    assert found.end == pytest.approx([0.5, 1.0, 2.5])


def test_a_flow_that_is_spread_takes_its_part_of_every_way() -> None:
    shares = np.array([[0.5, 0.5], [1.0, 0.0]])
    found = flow_times([1.0, 1.0], flows([[0, 1], [0]], [2.0, 1.0], shares=shares))
    # Both at 2/3: the shared link carries 1/3 + 2/3; then the spread one has both ways alone, at 2.
    assert found.end == pytest.approx([2.0, 1.5])


def test_flows_that_wait_for_each_other_are_named() -> None:
    with pytest.raises(DescriptionError, match=r"2 of 3 flows never start: flow 1 waits for flow 2"):
        flow_times([1.0], flows([[0], [0], [0]], [1.0, 1.0, 1.0], [(1, 2), (2, 1)]))


@pytest.mark.parametrize(
    ("capacities", "made", "said"),
    [
        ([0.0], flows([[0]], [1.0]), "capacity of link 0 is 0.0"),
        ([1.0], flows([[0]], [-1.0]), "size of flow 0 is -1.0"),
        ([1.0], flows([[0]], [float("nan")]), "size of flow 0 is nan"),
        ([1.0], flows([[0]], [1.0], latency=np.array([np.inf])), "latency of flow 0 is inf"),
        ([1.0], flows([[3]], [1.0]), "link of crossing 0 is 3; there are 1"),
        ([1.0], flows([[0]], [1.0], [(0, 7)]), "flow of pair 1 is 7; there are 1"),
    ],
)
def test_what_cannot_be_is_refused_by_name(capacities: list[float], made: Flows, said: str) -> None:
    with pytest.raises(DescriptionError, match=said):
        flow_times(capacities, made)


def test_nothing_takes_no_time() -> None:
    assert flow_times([1.0], flows([], [])).time == 0.0
