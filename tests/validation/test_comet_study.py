"""COMET's figures through the ordinary path of `explore`: the same as `reproduce comet` finds by its own arithmetic."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.conftest import ROOT
from volvelle.catalogue.published.comet import Comet, comet
from volvelle.estimators.training.layer_phases import FORWARD, INPUT_GRADIENT, WEIGHT_GRADIENT, layer_phases
from volvelle.mapping.parallelism import ParallelMapping
from volvelle.reproductions.comet.figures import (
    BASELINE,
    BEST,
    GIGA,
    Sweep,
    expanded_memory,
    per_node_memory,
    scaled_compute,
    scaled_network,
    strategies,
)
from volvelle.reproductions.comet.training import PHASES
from volvelle.studies.design_space.design_study import DesignStudy, read_study
from volvelle.studies.design_space.evaluate import Evaluator
from volvelle.studies.design_space.points import REASONS

STUDIES, CATALOGUE = ROOT / "examples" / "studies", ROOT / "examples" / "comet_catalogue"
WITHIN = 1e-9
CLUSTERS = {"dgx-a100": "comet-dgx-a100/1024", "tpu-v4": "comet-tpu-v4/4096", "dojo": "comet-dojo/64"}
Columns = Mapping[str, NDArray[Any]]


@pytest.fixture(scope="module")
def data() -> Comet:
    return comet()


@cache
def study(name: str) -> DesignStudy:
    return read_study(STUDIES / f"{name}.yaml", folders=(CATALOGUE,))


@cache
def rows(name: str) -> Columns:
    """Every point of a study: values of its axes, measures, and why it cannot run."""
    asked = study(name)
    found = Evaluator(study=asked).rows(0, len(asked.grid))
    axes = {
        path: np.array(values)[found.positions[axis.name]]
        for axis in asked.axes
        for path, values in axis.columns.items()
    }
    return {**axes, **found.columns, "reason": np.array(REASONS)[found.reason]}


def at(columns: Columns, measure: str, **wanted: object) -> float:
    """A measure at the only point with those values."""
    chosen = np.ones(len(columns["reason"]), dtype=bool)
    for name, value in wanted.items():
        column = columns[name.replace("__", ".")]
        chosen &= column == value if isinstance(value, str) else np.isclose(column, value)
    (row,) = np.flatnonzero(chosen)
    return float(columns[measure][row])


AS_IT_IS = {
    "workload__memory_limit": "ignored",
    "chip__expansion__capacity": 0.0,
    "chip__matrix_rate": 624e12,
    "scale_up__rate": 300e9,
    "scale_out__rate": 31.25e9,
}


def held(ours: float, theirs: float) -> None:
    assert ours == pytest.approx(theirs, rel=WITHIN, abs=0.0)


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_figures_7_and_12_every_split_on_every_cluster(data: Comet, cluster: str) -> None:
    figure, columns = strategies(data, cluster), rows("comet/clusters")
    for mp in figure.columns["mp"]:
        where = {"system": CLUSTERS[cluster], "mapping__tensor": mp, "workload__memory_limit": "ignored"}
        held(at(columns, "time_per_sample", **where, mapping__zero=2), figure.at("seconds_per_sample", mp=mp))
        held(at(columns, "memory", **where, mapping__zero=2), GIGA * figure.at("footprint_gb", mp=mp))


def test_figure_5_memory_of_a_node_by_stage_of_zero(data: Comet) -> None:
    figure, columns = per_node_memory(data), rows("comet/clusters")
    for zero, mp, gigabytes in zip(*(figure.columns[name] for name in ("zero", "mp", "footprint_gb")), strict=True):
        where = {"system": CLUSTERS["dgx-a100"], "workload__memory_limit": "ignored"}
        held(at(columns, "memory", **where, mapping__tensor=mp, mapping__zero=zero), GIGA * gigabytes)


def test_figure_8_memory_beyond_the_nodes_own(data: Comet) -> None:
    figure = expanded_memory(data)
    for mp, rate, seconds in zip(
        *(figure.columns[n] for n in ("mp", "expanded_gbs", "seconds_per_sample")), strict=True
    ):
        where = AS_IT_IS | {"chip__expansion__capacity": 2e12, "chip__expansion__rate": GIGA * rate}
        held(at(rows("comet"), "time_per_sample", **where, mapping__tensor=mp), seconds)


def test_figure_9_faster_and_slower_nodes(data: Comet) -> None:
    figure = scaled_compute(data)
    columns = (figure.columns[name] for name in ("expanded_gbs", "compute", "seconds_per_sample"))
    for rate, factor, seconds in zip(*columns, strict=True):
        where = AS_IT_IS | {"chip__expansion__capacity": 2e12, "chip__expansion__rate": GIGA * rate}
        where |= {"chip__matrix_rate": factor * 624e12}
        held(at(rows("comet"), "time_per_sample", **where, mapping__tensor=BEST), seconds)


@pytest.mark.parametrize("mp", [BASELINE, BEST])
def test_figure_10_faster_and_slower_networks(data: Comet, mp: float) -> None:
    figure = scaled_network(data, mp)
    columns = (figure.columns[name] for name in ("inside", "between", "seconds_per_sample"))
    for inside, between, seconds in zip(*columns, strict=True):
        where = AS_IT_IS | {"scale_up__rate": inside * 300e9, "scale_out__rate": between * 31.25e9}
        held(at(rows("comet"), "time_per_sample", **where, mapping__tensor=mp), seconds)


@pytest.mark.parametrize("mp", [1, 8, 64, 1024])
def test_each_phase_takes_what_it_takes_in_figure_7(data: Comet, mp: int) -> None:
    figure: Sweep = strategies(data, "dgx-a100")
    asked = study("comet")
    number = next(
        row
        for row in range(len(asked.grid))
        if at_place(asked, row)
        == {**{name.replace("__", "."): value for name, value in AS_IT_IS.items()}, "mapping.tensor": mp}
    )
    found = Evaluator(study=asked).explain(number)
    estimate, mapping = found.estimates[0], found.layouts[0]
    assert estimate is not None
    assert isinstance(mapping, ParallelMapping)
    phases = layer_phases(estimate.workload, found.cluster, mapping)
    run, samples = figure.at("seconds_per_sample", mp=mp) / figure.at("run_time", mp=mp), 32 * mapping.data
    for ours, theirs in zip((FORWARD, INPUT_GRADIENT, WEIGHT_GRADIENT), PHASES, strict=True):
        own = [row for row in phases if row.phase == ours]
        held(sum(row.step_time for row in own) / samples, run * figure.at(f"compute, {theirs}", mp=mp))
        exposed = sum(row.exchange_time(exposed=True) for row in own) / samples
        assert exposed == pytest.approx(run * figure.at(f"exposed, {theirs}", mp=mp), rel=WITHIN, abs=1e-15)


def at_place(asked: DesignStudy, row: int) -> dict[str, object]:
    """Values of the axes at a point, but for the rate of memory that it has none of."""
    positions = asked.grid.positions(np.array([row], dtype=np.int64))
    values = {
        path: values[int(positions[axis.name][0])] for axis in asked.axes for path, values in axis.columns.items()
    }
    return {path: value for path, value in values.items() if path != "chip.expansion.rate"}


def test_memory_enforced_forbids_what_does_not_fit_and_changes_no_time(data: Comet) -> None:
    figure, columns = strategies(data, "dgx-a100"), rows("comet")
    there = (columns["chip.expansion.capacity"] == 0) & (columns["workload.memory_limit"] == "enforced")
    for mp, gigabytes in zip(figure.columns["mp"], figure.columns["footprint_gb"], strict=True):
        reasons = set(columns["reason"][there & (columns["mapping.tensor"] == mp)])
        assert reasons == ({"memory"} if gigabytes > 80.0 else {""})


def test_degrees_that_do_not_divide_heads_are_told_and_skipped_elsewhere() -> None:
    columns = rows("comet/llama3-405b-clusters")
    skipped = columns["reason"] == "tensor split"
    assert set(columns["mapping.tensor"][skipped]) == {16, 32}  # it has 8 heads of keys and values
    assert np.isfinite(columns["time_per_sample"][columns["reason"] == ""]).all()
    assert len(set(columns["system"][columns["reason"] == ""])) == 3
