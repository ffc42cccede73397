"""What ranges do when spreads grow, whatever number they are on."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import small_chip, small_cluster, small_gpt
from volvelle import ClosedForm, ParallelMapping, TrainingStep, UnderUncertainty, step_costs, transformer
from volvelle.estimators.calibration import Calibration, Calibrations, calibrated, fitted_constants
from volvelle.estimators.result import Range
from volvelle.estimators.uncertainty import sampled
from volvelle.spread import Evidence, Figure, LogNormal
from volvelle.system.cluster import Cluster

STEP = TrainingStep(model=transformer(small_gpt()), batch=64)
LAYOUT = ParallelMapping(tensor=8, data=4)
CONSTANTS = {
    "matrix_efficiency": 0.8,
    "memory_efficiency": 0.8,
    "gemm_k_half": 100.0,
    "kernel_launch_time": 2e-6,
    "host_dispatch_time": 2e-5,
    "attention_efficiency": 0.7,
    "attention_kv_half": 300.0,
    "communication_sm_share": 0.1,
}
CHIP_NUMBERS = ("matrix_rates.bf16", "vector_rates.fp32", "buffer", "memories.0.capacity", "memories.0.rate", "power")
LINK_NUMBERS = ("rate", "latency", "setup", "efficiency")
PLACES = st.sampled_from(
    [
        *(("chip", name) for name in (*CHIP_NUMBERS, "price", "units", "tile")),
        *(("constant", name) for name in CONSTANTS),
        *(("link", name) for name in LINK_NUMBERS),
        ("cluster", "host_power"),
        ("cluster", "pue"),
    ]
)


def uncertain(place: tuple[str, str], factor: float) -> Cluster:
    """A small machine on which one number is in doubt, by so much."""
    where, name = place
    chip = small_chip(units=100.0, tile=1024.0)
    cluster = replace(small_cluster(chip=chip), host_power=100.0, pue=1.2)

    def doubted(value: float) -> dict[str, Figure]:
        spread = LogNormal(value, factor)
        return {name: Figure(value=value, evidence=Evidence.ASSUMED, source="a guess", spread=spread)}

    figures = {}
    if where == "chip":
        values = {
            "matrix_rates.bf16": 300e12,
            "vector_rates.fp32": 20e12,
            "memories.0.capacity": 80e9,
            "memories.0.rate": 2e12,
        }
        value = values[name] if name in values else getattr(chip, name)
        cluster = replace(cluster, chip=replace(chip, figures=doubted(value)))
    elif where == "constant":
        figures = doubted(CONSTANTS[name])
    elif where == "link":
        inner, outer = cluster.dimensions
        link = replace(outer.link, figures=doubted(getattr(outer.link, name)))
        cluster = replace(cluster, dimensions=(inner, replace(outer, link=link)))
    else:
        cluster = replace(cluster, figures=doubted(getattr(cluster, name)))
    constants = {**CONSTANTS, "step_error": 1.0, "memory_error": 1.0}
    return calibrated(cluster, Calibrations(entries=(Calibration(constants=constants, figures=figures),)))


def ranges(cluster: Cluster) -> dict[str, Range]:
    estimate, samples = UnderUncertainty(estimator=ClosedForm(), samples=32).with_samples(STEP, cluster, LAYOUT)
    return {**estimate.ranges, **step_costs(estimate, cluster, samples=samples).ranges}


@given(PLACES, st.floats(1.0, 1.5), st.floats(1.0, 1.5))
def test_a_wider_spread_never_gives_a_narrower_range(place: tuple[str, str], first: float, second: float) -> None:
    narrow, wide = (ranges(uncertain(place, factor)) for factor in sorted((first, second)))
    assert set(narrow) == set(wide) == {"time", "memory", "headroom", "power", "energy", "dollars"}
    for name, span in narrow.items():
        assert wide[name].low <= span.low * (1 + 1e-12)
        assert wide[name].high >= span.high * (1 - 1e-12)


@given(PLACES)
def test_every_range_holds_the_central_figure(place: tuple[str, str]) -> None:
    cluster = uncertain(place, 1.3)
    estimate = ClosedForm().estimate(STEP, cluster, LAYOUT)
    found = ranges(cluster)
    costs = step_costs(estimate, cluster)
    for name, value in (("time", estimate.time), ("memory", estimate.memory_bytes), ("power", costs.power)):
        assert value is not None
        assert found[name].low * (1 - 1e-9) <= value <= found[name].high * (1 + 1e-9)


def test_a_link_in_two_dimensions_varies_as_one_and_keeps_the_share_of_each() -> None:
    cluster = uncertain(("link", "rate"), 1.3)
    inner, outer = cluster.dimensions
    half = replace(outer.link, rate=outer.link.rate / 2)
    twice = replace(cluster, dimensions=(replace(inner, link=half), outer))
    variants, varied = sampled(twice, samples=16, seed=0)
    first, second = (dimension.link.rate for dimension in variants.dimensions)
    assert second == pytest.approx(2 * first)
    assert varied == ["slow: rate"]


def test_a_spread_on_a_fact_leaves_the_columns_of_fitted_constants_as_they_were() -> None:
    plain = uncertain(("constant", "matrix_efficiency"), 1.3)
    facts = uncertain(("chip", "matrix_rates.bf16"), 1.3).chip
    columns = [
        fitted_constants(sampled(machine, samples=8, seed=3)[0], "bf16").matrix_efficiency
        for machine in (plain, replace(plain, chip=facts))
    ]
    assert columns[0] == pytest.approx(columns[1])
