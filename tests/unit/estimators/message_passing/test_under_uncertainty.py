"""Ranges of MPI programs on another machine."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.mpi_traces import trace_of
from volvelle import Catalogue
from volvelle.estimators.message_passing.retimed import retimed
from volvelle.estimators.message_passing.under_uncertainty import (
    COLLECTIVES,
    COMPUTATION,
    MESSAGES,
    SAMPLES,
    RetimedRange,
    VaryingRatio,
    retimed_range,
)
from volvelle.spread import LogNormal
from volvelle.system.cluster import Cluster
from volvelle.workload.message_passing.trace import MessageTrace

MACHINE = Catalogue().cluster("dgx-h100/16")
MESSAGE = ("0 send 9 10000000 1 - 0.0001", "9 recv 0 10000000 1")
BOTH = (*MESSAGE, *(f"{rank} allreduce - 1000000" for rank in range(16)))


def _range(
    trace: MessageTrace, cluster: Cluster = MACHINE, *, error: float = 0.2, contended: bool = False, **more: Any
) -> RetimedRange:
    def off(size: float, along: Sequence[float]) -> tuple[str, float]:
        return "messages", error

    return retimed_range(retimed(trace, cluster, contended=contended), cluster, ratio=1.0, error=off, **more)


def _width(found: RetimedRange) -> float:
    return log(found.time.high / found.time.low)


@pytest.mark.parametrize("contended", [False, True])
def test_a_message_is_as_sure_as_measured_ones(tmp_path: Path, contended: bool) -> None:
    trace = trace_of(tmp_path, "0 send 9 10000000 1", "9 recv 0 10000000 1", ranks=16)
    widths = [_width(_range(trace, error=error, contended=contended)) for error in (0.1, 0.3, 0.6)]
    assert widths == sorted(widths)
    assert widths[-1] == pytest.approx(2 * 1.2816 * 0.6, rel=0.1)


@pytest.mark.parametrize("contended", [False, True])
def test_shares_are_of_what_the_longest_chain_holds(tmp_path: Path, contended: bool) -> None:
    found = _range(trace_of(tmp_path, *BOTH, ranks=16), contended=contended)
    assert set(found.shares) == {COMPUTATION, MESSAGES, COLLECTIVES}
    assert sum(found.shares.values()) == pytest.approx(1.0)


def test_where_nothing_shares_a_link_flows_are_as_sure_as_laws(tmp_path: Path) -> None:
    trace = trace_of(tmp_path, *BOTH, ranks=16)
    alone, shared = (_range(trace, contended=contended) for contended in (False, True))
    assert shared.replays > 0
    assert (shared.time.low, shared.time.high) == pytest.approx((alone.time.low, alone.time.high), rel=1e-3)


def test_a_wider_spread_of_a_link_never_narrows_the_range(tmp_path: Path) -> None:
    trace = trace_of(tmp_path, *MESSAGE, ranks=16)
    widths = []
    for factor in (1.01, 1.2, 1.5, 2.0):
        inner, outer = MACHINE.dimensions
        figure = replace(outer.link.figures["rate"], spread=LogNormal(outer.link.figures["rate"].value, factor))
        link = replace(outer.link, figures={**outer.link.figures, "rate": figure})
        wider = replace(MACHINE, dimensions=(inner, replace(outer, link=link)))
        widths.append(_width(_range(trace, wider)))
    assert all(after >= 0.97 * before for before, after in pairwise(widths))
    assert widths[-1] > 1.5 * widths[0]


def test_a_higher_level_contains_a_lower_one(tmp_path: Path) -> None:
    trace = trace_of(tmp_path, *BOTH, ranks=16)
    inner, outer = (_range(trace, level=level).time for level in (0.8, 0.95))
    assert outer.low < inner.low < inner.high < outer.high


def test_computation_that_varies_widens_the_range_by_its_share(tmp_path: Path) -> None:
    trace = trace_of(tmp_path, "0 barrier - - - - 0.1", "1 barrier - - - - 0.1")
    ratios = np.exp(np.linspace(-0.5, 0.5, SAMPLES))
    found = _range(trace, varying=VaryingRatio(ratios=ratios, varied=("the chip",)))
    assert found.time.varied[0] == "the chip"
    assert _width(found) == pytest.approx(0.8, rel=0.01)
