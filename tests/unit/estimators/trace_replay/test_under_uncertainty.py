"""Ranges of replayed traces: as wide as what is not known, and no wider."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.trace_files import MADE, written
from volvelle import Catalogue
from volvelle.applications.kernels.law_error import law_errors
from volvelle.estimators.trace_replay import under_uncertainty
from volvelle.estimators.trace_replay.replayed import replayed
from volvelle.estimators.trace_replay.under_uncertainty import (
    EXCHANGES,
    HOST,
    KERNELS,
    SCALED,
    UNTOLD,
    KernelLawError,
    LawErrors,
    ReplayRange,
    replay_range,
)
from volvelle.interchange.traces.reading import read_trace
from volvelle.spread import LogNormal
from volvelle.system.cluster import Cluster
from volvelle.workload.tensor_layout import Collective
from volvelle.workload.trace.values import Communication, Operation, Place, Trace, Work

CATALOGUE = Catalogue()
A100, H100 = (CATALOGUE.cluster(name) for name in ("dgx-a100/8", "dgx-h100/8"))
PRODUCT = Work("product", matrix_flop=2.0 * 4096**3, traffic=1e8, element="bf16", product=(4096.0, 4096.0, 4096.0, 1.0))
EXCHANGE = Communication(Collective.ALL_REDUCE, 1e8, 8)


def _trace(*operations: Operation) -> Trace:
    return Trace(format="made", operations=operations, streams=("device",))


def _operation(**more: Any) -> Operation:
    return Operation(name="one", node="1", stream=0, **more)


def _range(trace: Trace, on: Cluster, source: Cluster | None = None, **more: Any) -> ReplayRange:
    errors = more.pop("errors", None) or law_errors(on, source)
    return replay_range(replayed(trace, on, source=source), on, source=source, errors=errors, **more)


def _width(found: ReplayRange) -> float:
    return log(found.time.high / found.time.low)


def _errors(common: float, exchange: float = 0.1) -> LawErrors:
    def of_kernel(work: Work, *, ratio: bool) -> KernelLawError:
        return KernelLawError(common=common, single=0.0, inputs=0.0)

    def of_exchange(asked: Communication, along: Sequence[float]) -> tuple[str, float]:
        return "exchanges", exchange

    return LawErrors(kernel=of_kernel, exchange=of_exchange)


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("source", [None, "dgx-a100/8"])
def test_the_time_lies_in_its_range_and_shares_of_what_it_rests_on_sum_to_one(
    name: str, source: str | None, tmp_path: Path
) -> None:
    trace = read_trace(written(tmp_path, name), clock=1e9)
    came = None if source is None else CATALOGUE.cluster(source)
    found = _range(trace, H100, came)
    time = replayed(trace, H100, source=came).time
    assert found.time.low <= time <= found.time.high
    assert sum(found.shares.values()) == pytest.approx(1.0, rel=1e-9)


def test_a_kernel_by_the_law_is_less_sure_than_one_that_was_measured_on_another_chip() -> None:
    trace = _trace(_operation(work=PRODUCT, seconds=1e-3))
    by_law, scaled = _range(trace, H100), _range(trace, H100, A100)
    assert (list(by_law.shares), list(scaled.shares)) == ([KERNELS], [SCALED])
    assert 0.0 < _width(scaled) < _width(by_law)


def test_on_the_machine_that_it_was_recorded_on_kernels_have_no_range() -> None:
    trace = _trace(_operation(work=PRODUCT, seconds=1e-3), _operation(seconds=1e-3))
    found = _range(trace, H100, H100)
    assert found.time.low == pytest.approx(found.time.high, rel=1e-12)
    assert found.replays == 0


def test_a_small_change_of_the_same_chip_is_sure_to_as_much_as_it_changes() -> None:
    trace = _trace(_operation(work=PRODUCT, seconds=1e-3))
    faster = replace(
        H100.chip, matrix_rates={name: 1.05 * float(rate) for name, rate in H100.chip.matrix_rates.items()}
    )
    found = _range(trace, replace(H100, chip=faster), H100)
    assert 0.0 < _width(found) < 4.0 * log(1.05)


def test_an_exchange_keeps_its_range_on_the_same_machine_as_it_is_by_the_law() -> None:
    trace = _trace(_operation(communication=EXCHANGE, seconds=1e-3))
    found = _range(trace, H100, H100)
    assert list(found.shares) == [EXCHANGES]
    assert _width(found) > 0.05
    assert "measured collectives over these links" in found.time.varied


def test_what_is_not_understood_may_go_with_memories_or_with_matrix_units() -> None:
    trace = _trace(_operation(seconds=1e-3))
    found = _range(trace, H100, A100)
    assert list(found.shares) == [UNTOLD]
    faster = float(H100.chip.matrix_rate("bf16")) / float(A100.chip.matrix_rate("bf16"))
    assert 1e-3 / faster * 0.8 < found.time.low < 0.8e-3
    assert found.time.high == pytest.approx(1e-3)
    nobody_knows = _range(trace, H100)
    assert nobody_knows.time.low == nobody_knows.time.high == 1e-3


def test_what_the_host_did_stays_as_it_was() -> None:
    found = _range(_trace(_operation(place=Place.HOST, seconds=1e-3)), H100, A100)
    assert list(found.shares) == [HOST]
    assert found.time.low == found.time.high == 1e-3


@pytest.mark.parametrize("levels", [(0.5, 0.8), (0.8, 0.95)])
def test_a_higher_level_contains_a_lower_one(levels: tuple[float, float]) -> None:
    trace = _trace(_operation(work=PRODUCT), _operation(communication=EXCHANGE))
    inner, outer = (_range(trace, H100, level=level).time for level in levels)
    assert outer.low < inner.low < inner.high < outer.high


def test_a_wider_spread_never_narrows_the_range() -> None:
    trace = _trace(_operation(work=PRODUCT))
    widths = []
    for factor in (1.01, 1.1, 1.5, 2.0):
        figure = H100.chip.figures["matrix_rates.bf16"]
        wider = replace(figure, spread=LogNormal(figure.value, factor))
        chip = replace(H100.chip, figures={**H100.chip.figures, "matrix_rates.bf16": wider})
        widths.append(_width(_range(trace, replace(H100, chip=chip))))
    assert all(after >= before * 0.97 for before, after in pairwise(widths))
    assert widths[-1] > 1.3 * widths[0]


def test_a_law_that_is_further_off_widens_the_range() -> None:
    trace = _trace(_operation(work=PRODUCT), _operation(communication=EXCHANGE))
    kernels = [_width(_range(trace, H100, errors=_errors(common))) for common in (0.1, 0.3, 0.6)]
    exchanges = [_width(_range(trace, H100, errors=_errors(0.1, error))) for error in (0.1, 0.3, 0.6)]
    assert kernels == sorted(kernels)
    assert exchanges == sorted(exchanges)


def test_many_kernels_even_out_what_single_ones_are_off_by_and_not_what_all_are() -> None:
    error = KernelLawError(common=0.1, single=0.3, inputs=0.0)
    assert error.together(np.array([1.0])) == pytest.approx((0.1**2 + 0.3**2) ** 0.5)
    assert error.together(np.full(900, 1 / 900)) == pytest.approx((0.1**2 + 0.01**2) ** 0.5)


def test_works_beyond_the_most_that_vary_by_themselves_vary_with_the_longest_like_them(monkeypatch: Any) -> None:
    works = [PRODUCT._replace(product=(4096.0 + 64 * extra, 4096.0, 4096.0, 1.0)) for extra in range(8)]
    trace = _trace(*(_operation(work=work) for work in works))
    every = _range(trace, H100)
    monkeypatch.setattr(under_uncertainty, "MOST_WORKS", 2)
    few = _range(trace, H100)
    assert (few.time.low, few.time.high) == pytest.approx((every.time.low, every.time.high), rel=0.1)
    assert _width(few) >= _width(every), "single errors even out over fewer works"


def test_the_same_seed_gives_the_same_digits() -> None:
    trace = _trace(_operation(work=PRODUCT), _operation(communication=EXCHANGE))
    first, again, other = (_range(trace, H100, seed=seed) for seed in (0, 0, 1))
    assert first.time == again.time
    assert first.time != other.time


def test_a_family_of_chips_without_measured_products_is_no_surer_than_a_third() -> None:
    pod = CATALOGUE.cluster("tpu-v5p-pod/64")
    error = law_errors(pod, None).kernel(PRODUCT, ratio=False)
    assert error.common >= log(1.35)
