"""HPCG: the law, the factors, the plan and the reader of rows."""

from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.conftest import small_cluster
from volvelle import Catalogue, DescriptionError, UnknownNameError
from volvelle.applications.hpcg.constants import hpcg_factors, hpcg_families
from volvelle.applications.hpcg.estimator import Hpcg, HpcgEstimate, HpcgLayout, HpcgModel
from volvelle.applications.hpcg.fit import EARLY
from volvelle.applications.hpcg.plan import hpcg_layout, local_grid
from volvelle.applications.hpcg.rows import hpcg_measurements, hpcg_question
from volvelle.laws.hpcg import few_ranks_efficiency, hpcg_memory, hpcg_rate, hpcg_scaling_efficiency

MACHINE, LAYOUT = small_cluster(256), HpcgLayout(nodes=256)


def estimated(family: str, **options: Any) -> HpcgEstimate:
    return HpcgModel(factors=hpcg_factors(family), **options).estimate(Hpcg(), MACHINE, LAYOUT)


def ends(estimate: HpcgEstimate) -> tuple[float, float]:
    assert estimate.rate_range is not None
    return estimate.rate_range.low, estimate.rate_range.high


def test_the_rate_is_the_product_of_its_factors() -> None:
    found = hpcg_rate(4, intensity=0.201, memory_rate=1e12, streaming=0.8, solver=0.75, scaling=0.9)
    assert found == pytest.approx(4 * 0.201 * 1e12 * 0.8 * 0.75 * 0.9)


def test_one_node_loses_nothing_to_scaling() -> None:
    assert hpcg_scaling_efficiency(1.0, step=0.07, doubling=0.01) == 1.0
    assert hpcg_scaling_efficiency(2.0, step=0.07, doubling=0.01) == pytest.approx(0.93 * 0.99)


def test_laws_of_hpcg_broadcast() -> None:
    nodes = np.array([1.0, 2.0, 1024.0])
    scaling = np.asarray(hpcg_scaling_efficiency(nodes, step=0.07, doubling=0.003))
    assert scaling.shape == (3,)
    assert np.all(np.diff(scaling) < 0)


def test_few_ranks_draw_less_of_a_nodes_memory() -> None:
    ranks = np.array([8.0, 16.0, 64.0, 1e6])
    found = np.asarray(few_ranks_efficiency(ranks, half=16.0))
    assert np.all(np.diff(found) > 0)
    assert found[1] == pytest.approx(2**-0.5)
    assert found[-1] == pytest.approx(1.0)
    assert few_ranks_efficiency(1.0, half=0.0) == 1.0


def test_a_point_takes_about_the_bytes_the_benchmark_reports() -> None:
    """HPCG prints some 715 bytes an equation for its reference storage."""
    assert hpcg_memory(1.0) == pytest.approx(715, rel=0.01)


def test_the_range_holds_the_central_rate_and_its_level_of_the_samples() -> None:
    found = estimated("ampere")
    low, high = ends(found)
    assert low < found.rate < high
    lower, higher = ends(estimated("ampere", level=0.5))
    assert low < lower < higher < high


def test_an_answer_depends_on_nothing_but_its_arguments() -> None:
    assert estimated("volta") == estimated("volta")


def test_a_family_that_was_never_fitted_is_less_sure() -> None:
    def width(family: str) -> float:
        low, high = ends(estimated(family))
        return high / low

    assert not hpcg_factors("hopper").fitted
    assert hpcg_factors("ampere").fitted
    assert width("hopper") > width("ampere")


def test_builds_of_ampere_before_2022_were_faster() -> None:
    early, late = (hpcg_factors("ampere", date=date) for date in (EARLY, "202206"))
    assert early.solver.value > late.solver.value
    assert hpcg_factors("ampere").solver.value == late.solver.value


def test_an_unknown_family_is_refused_by_name() -> None:
    with pytest.raises(UnknownNameError, match="family with constants of HPCG"):
        hpcg_factors("abacus")


def test_a_run_without_nodes_is_refused() -> None:
    with pytest.raises(DescriptionError, match="one or more nodes"):
        HpcgLayout(nodes=0)


def test_every_catalogue_family_with_hpcg_constants_is_an_accelerator_or_a_host(catalogue: Catalogue) -> None:
    known = {catalogue.chip_file(name).family for name in catalogue.names("chips")}
    assert set(hpcg_families().values()) == {"accelerator", "host"}
    assert {"ampere", "hopper", "cdna2", "a64fx"} <= known & set(hpcg_families())


def test_a_local_grid_has_sides_that_halve_three_times_and_fits() -> None:
    for memory in (1e8, 4e9, 40e9, 100e9):
        grid = local_grid(memory)
        assert all(side % 8 == 0 for side in grid)
        taken = float(hpcg_memory(grid[0] * grid[1] * grid[2]))
        assert 0.85 * memory < taken <= memory


def test_a_plan_uses_every_device_once(catalogue: Catalogue) -> None:
    cluster = catalogue.cluster("aurora/4608")
    factors = hpcg_factors("ponte-vecchio")
    layout = hpcg_layout(cluster, factors)
    assert layout.processes is not None
    assert prod(layout.processes) == 4608
    found = HpcgModel(factors=factors).estimate(Hpcg(), cluster, layout)
    assert found.rate_per_watt is not None
    assert found.memory_bytes < cluster.chip.memory.capacity


def test_the_talk_on_aurora_is_met_within_its_range(catalogue: Catalogue) -> None:
    """1259.94 TFLOP/s measured on 768 nodes; the talk's own model has 1264.58 in the mean."""
    cluster, factors = catalogue.cluster("aurora/4608"), hpcg_factors("ponte-vecchio")
    low, high = ends(HpcgModel(factors=factors).estimate(Hpcg(), cluster, hpcg_layout(cluster, factors)))
    assert low < 1259.94e12 < high


def test_every_row_names_a_source_and_a_split() -> None:
    table = hpcg_measurements()
    assert not table.unread
    assert len(table.rows) == 228
    assert all(row.head.source and row.head.split for row in table.rows)


def test_a_row_says_what_was_assumed(catalogue: Catalogue) -> None:
    row = next(row for row in hpcg_measurements().rows if row.head.split == "calibration" and row.nodes is None)
    asked = hpcg_question(row, catalogue)
    assert not isinstance(asked, str)
    assert "4 devices a node" in asked.assumed
    assert isinstance(hpcg_question(replace(row, device="abacus"), catalogue), str)


def test_a_file_of_ones_own_is_read_and_a_bad_row_is_said(tmp_path: Path) -> None:
    file = tmp_path / "own.csv"
    file.write_text(
        "row_id,unit_type,n_units,mem_bw_gbs_per_unit,hpcg_tflops\nA,H100,8,3350,4\nB,H100,many,3350,4\n", "utf-8"
    )
    table = hpcg_measurements(file)
    assert [row.head.split for row in table.rows] == ["given"]
    assert "many" in table.unread[0].reason
    file.write_text("row_id,n_units\nA,8\n", "utf-8")
    with pytest.raises(DescriptionError, match="lacks the columns unit_type"):
        hpcg_measurements(file)
