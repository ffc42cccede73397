"""High-Performance Linpack: laws, models, plan, files."""

import csv
import json
from collections.abc import Iterator
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from ruamel.yaml import YAML

from volvelle import Catalogue, Cluster
from volvelle.applications.hpl.closed_forms import LayeredHpl, OriginalHpl
from volvelle.applications.hpl.constants import equivalent_core, hpl_constants
from volvelle.applications.hpl.contract import AbstractHplModel
from volvelle.applications.hpl.fit import family_runs, fit_hpl
from volvelle.applications.hpl.layers import layers_of
from volvelle.applications.hpl.panels import PanelByPanel, panel_groups
from volvelle.applications.hpl.plan import hpl_runs, largest_order
from volvelle.applications.hpl.rows import hpl_measurements, hpl_question
from volvelle.applications.hpl.servers import node_facts, port_rate
from volvelle.applications.measured_table import calibration_rows
from volvelle.cli import _volvelle
from volvelle.errors import DescriptionError, MappingError, OutsideDomainError, UnknownNameError
from volvelle.estimators.contract import Ranking
from volvelle.interchange.hpl_dat import hpl_dat
from volvelle.laws.hpl.closed_form import (
    doublings,
    hpl_calculation_time,
    hpl_latency_time,
    hpl_memory,
    hpl_transfer_time,
    hpl_work,
)
from volvelle.laws.hpl.layers import (
    equivalent_core_rate,
    layer_boundary,
    layer_broadcast_time,
    layer_pivot_time,
    layer_update_time,
    padded_order,
)
from volvelle.laws.hpl.panels import (
    hidden_swap_time,
    least_network_time,
    panel_broadcast_time,
    panel_factorisation_time,
    panel_staging_time,
    power_limited_rate,
    row_swap_time,
    spilled_share,
    spilled_update_time,
    trailing_update_time,
)
from volvelle.mapping.process_grid import Broadcast, ProcessGrid, nearly_square, usable_grid
from volvelle.workload.families.hpl import Hpl


def problem(order: int, block: int = 256) -> Hpl:
    return Hpl(name="test", order=order, block=block)


# -- laws ----------------------------------------------------------------------------------------------------


def test_the_counted_work_and_the_memory_are_those_of_the_benchmark() -> None:
    assert hpl_work(1000.0) == pytest.approx(2e9 / 3 + 1.5e6)
    assert hpl_memory(1000.0) == 8e6
    assert doublings(8.0) == 3.0
    assert doublings(1.0) == 0.0


def test_the_equivalent_core_of_a_p100_sees_thirteen_gigabytes_a_second() -> None:
    assert equivalent_core_rate(732.2e9, cores=3584.0, words=64.0) == pytest.approx(13.07e9, rel=0.001)


def test_boundaries_are_whole_blocks() -> None:
    assert padded_order(1000.0, block=256.0) == 1024.0
    assert layer_boundary(1024.0, 3.0, block=256.0) == 512.0


def test_equation_3_is_the_sum_of_its_three_terms() -> None:
    calculation = hpl_calculation_time(1e5, 4.0, 8.0, block=256.0, rate=1e12)
    latency = hpl_latency_time(1e5, 4.0, block=256.0, latency=1e-6)
    transfer = hpl_transfer_time(1e5, 4.0, 8.0, block=256.0, element=1e-9)
    assert calculation == pytest.approx(2e15 / (3 * 32) / 1e12)
    assert latency == pytest.approx(1e-6 * 1e5 * (257 * 2 + 4) / 256)
    assert transfer == pytest.approx(1e-9 * 1e10 * (12 + 8) / 64)


def test_layers_have_the_three_communications_of_the_paper() -> None:
    link = {"block": 256.0, "latency": 1e-6, "element": 1e-9}
    assert layer_pivot_time(1024.0, 4.0, **link) == pytest.approx(2 * (1e-6 + 516e-9) * 1024)
    assert layer_broadcast_time(1024.0, 4.0, **link) == pytest.approx(4e-6 + 1e-9 * (1024**2 - 1024 * 256) / 8)
    assert layer_update_time(1024.0, 4.0, 2.0, **link) == pytest.approx(
        1e-6 * 5 * 4 + 3e-9 * (1024**2 + 1024 * 256) / 4
    )


def test_a_chip_is_limited_by_its_clock_or_by_its_power() -> None:
    limits = {"efficiency": 0.9, "work_per_joule": 50e9}
    assert power_limited_rate(20e12, power=1000.0, **limits) == 18e12
    assert power_limited_rate(20e12, power=300.0, **limits) == 15e12


def test_the_update_slows_down_with_thin_panels_and_small_matrices() -> None:
    chip = {"rate": 1e13, "memory": 1e12, "waiting": 0.6, "units": 100.0, "tile": 8192.0}

    def rate(side: float, block: float) -> float:
        return float(2 * block * side**2 / trailing_update_time(side, side, block=block, **chip))

    assert rate(20000.0, 128.0) < rate(20000.0, 512.0) < 1e13
    assert rate(1000.0, 512.0) < rate(20000.0, 512.0)


def test_panels_cost_by_the_column_and_by_the_row() -> None:
    link = {"latency": 1e-6, "sending": 1e10}
    short = panel_factorisation_time(1e4, 1.0, block=256.0, column=1e-5, rate=1e12, **link)
    assert short == pytest.approx(256e-5 + 256**2 * 1e4 / 1e12)
    assert panel_broadcast_time(1e4, block=256.0, messages=1.0, copies=1.0, **link) == pytest.approx(1e-6 + 8 * 2.56e-4)
    assert row_swap_time(1e4, 2.0, block=256.0, **link) == pytest.approx(2e-6 + 8 * 256e4 / 1e10)
    assert panel_staging_time(1e4, 1e4, 2.0, block=256.0, host=1e10) == pytest.approx(8 * 256 * 2e4 / 1e10)
    assert spilled_update_time(1e3, 1e3, share=0.5, host=1e10) == pytest.approx(4e6 / 1e10)


def test_a_swap_hides_only_where_look_ahead_leaves_room() -> None:
    assert hidden_swap_time(1.0, 5.0, 2.0, share=0.9) == 0.9
    assert hidden_swap_time(1.0, 2.5, 2.0, share=0.9) == 0.5
    assert hidden_swap_time(1.0, 1.0, 2.0, share=0.9) == 0.0


# -- grids and panels ----------------------------------------------------------------------------------------


def test_a_node_takes_whole_columns_where_they_fit() -> None:
    grid = ProcessGrid.for_nodes(4, 2, node=4)
    assert (grid.node_rows, grid.node_columns) == (4, 1)
    assert ProcessGrid.for_nodes(16, 16, node=8).node_rows == 4


def test_a_number_with_a_large_prime_factor_leaves_some_processes_idle() -> None:
    assert nearly_square(23536) == (16, 1471)
    small, large = usable_grid(23536)
    assert large <= 1.6 * small
    assert small * large >= 0.97 * 23536


def test_a_grid_without_rows_is_refused() -> None:
    with pytest.raises(MappingError, match="at least one row"):
        ProcessGrid(rows=0, columns=1)


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (3, 1), (1, 4), (4, 6)])
def test_groups_hold_every_panel_once_with_the_share_of_the_fullest_process(rows: int, columns: int) -> None:
    asked = problem(10_000, 128)
    found = panel_groups(asked, ProcessGrid(rows=rows, columns=columns))
    left = np.arange(79, 0, -1)
    assert found.count.sum() == 79
    assert np.repeat(found.rows, found.count.astype(int)).tolist() == (np.ceil(left / rows) * 128).tolist()
    assert np.repeat(found.columns, found.count.astype(int)).tolist() == (np.ceil(left / columns) * 128).tolist()


def test_ten_million_rows_on_a_hundred_thousand_processes_are_a_few_hundred_groups() -> None:
    found = panel_groups(problem(10_000_000, 384), ProcessGrid(rows=250, columns=400))
    assert len(found.count) < 300


# -- models --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def frontier() -> object:
    return Catalogue().cluster("frontier/512")


def test_every_model_answers_the_same_question_with_parts_that_sum_to_the_time(frontier) -> None:  # type: ignore[no-untyped-def]
    grid = ProcessGrid.for_nodes(16, 32, node=8)
    for model in (OriginalHpl(), LayeredHpl(), PanelByPanel(constants=hpl_constants("cdna2"))):
        answer = model.estimate(problem(1_000_000, 512), frontier, grid)
        assert answer.time == pytest.approx(sum(part.time for part in answer.contributions if part.exposed))
        assert 0 < answer.utilisation < 1
        assert answer.rate_per_watt is not None


def test_a_grid_larger_than_the_cluster_is_refused(frontier) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(MappingError, match="needs 1024 accelerators"):
        OriginalHpl().estimate(problem(10_000), frontier, ProcessGrid(rows=32, columns=32))


def test_a_matrix_beyond_memory_needs_a_link_to_the_host() -> None:
    cluster = replace(Catalogue().cluster("dgx-a100/8"), host_rate=None)
    with pytest.raises(OutsideDomainError, match="does not fit"):
        PanelByPanel(constants=hpl_constants("ampere")).estimate(
            problem(500_000), cluster, ProcessGrid.for_nodes(4, 2, node=8)
        )


def test_look_ahead_and_a_modified_ring_are_never_slower() -> None:
    cluster, model = Catalogue().cluster("dgx-h100/64"), PanelByPanel(constants=hpl_constants("hopper"))
    asked, grid = problem(700_000, 512), ProcessGrid.for_nodes(8, 8, node=8)
    time = model.estimate(asked, cluster, grid).time
    assert time <= model.estimate(asked, cluster, replace(grid, depth=0)).time
    assert time <= model.estimate(asked, cluster, replace(grid, broadcast=Broadcast.RING)).time


def test_layers_end_with_the_whole_matrix() -> None:
    cluster = Catalogue().cluster("summit/1536")
    layers = layers_of(cluster, ProcessGrid(rows=32, columns=48), equivalent_core("v100-sxm2-16gb"))
    assert [layer.row_parts for layer in layers] == [32, 16, 16, 1]
    with pytest.raises(DescriptionError, match="no layer"):
        layers_of(Catalogue().cluster("hd-pex/1"), ProcessGrid(rows=1, columns=1), None)


# -- constants, rows, fit ------------------------------------------------------------------------------------


def numbers(written: dict[str, Any], where: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every number of a file by its place."""
    for name, part in written.items():
        if isinstance(part, dict):
            yield from ((f"{where}{name}", part),) if "value" in part else numbers(part, f"{where}{name}.")


def test_every_constant_has_a_known_source_and_assumed_ones_a_reason() -> None:
    file = resources.files("volvelle.catalogue") / "data" / "benchmarks" / "hpl.yaml"
    written, references = YAML(typ="safe", pure=True).load(file.read_text("utf-8")), Catalogue().references
    data = dict(numbers(written))
    assert len(data) > 50
    for place, datum in data.items():
        assert datum["source"] in references, place
        assert datum["kind"] != "assumed" or datum["note"], place
    for family in written["families"]:
        assert hpl_constants(family).error > 1.0
    with pytest.raises(UnknownNameError, match="ampere"):
        hpl_constants("amperes")


def test_early_builds_have_smaller_blocks() -> None:
    assert hpl_constants("ampere", date="202106").block == 288
    assert hpl_constants("ampere", date="202306").block == 1024


def test_names_of_servers_and_networks_tell_nodes_and_ports() -> None:
    dgx = node_facts(
        computer="NVIDIA DGX A100, AMD EPYC", processor="EPYC 64C ", network="Infiniband HDR", family="ampere", cores=16
    )
    assert (dgx.accelerators, dgx.ports, dgx.assumed) == (8, 8, ())
    other = node_facts(
        computer="Some box", processor="Xeon 14C 2.6GHz", network="Infiniband EDR", family="volta", cores=3.5
    )
    assert (other.accelerators, other.ports) == (8, 1)
    assert other.assumed
    assert port_rate("Dual-rail Mellanox EDR Infiniband", "volta") == (12.5e9, True)
    assert port_rate("Infiniband", "ampere") == (25e9, False)


def test_every_row_is_asked_or_says_why_not() -> None:
    catalogue = Catalogue()
    rows = hpl_measurements().rows
    assert len(rows) == 1188
    for row in rows:
        if row.head.split == "excluded":
            assert row.head.excluded_because
            continue
        asked = hpl_question(row, catalogue)
        if isinstance(asked, str):
            assert asked
        else:
            assert asked.decision.processes <= asked.system.accelerators


def test_a_network_needs_at_least_the_time_of_what_is_sent() -> None:
    """4 × 8 processes, N 1000, 1 MB/s: 4 N² bytes over P along rows, and 1.5 times 4 N² over Q down columns."""
    time = least_network_time(1000.0, 4.0, 8.0, down=1e6, across=1e6)
    assert time == pytest.approx(4.0 / 4 + 1.5 * 4.0 / 8)
    assert least_network_time(1000.0, 4.0, 8.0, down=np.inf, across=1e6) == pytest.approx(1.0)


def test_a_listed_peak_of_half_tells_plain_units_or_half_of_the_accelerators() -> None:
    rows, catalogue = {row.head.row_id: row for row in hpl_measurements().rows}, Catalogue()
    plain, fewer = (hpl_question(rows[name], catalogue) for name in ("T0986", "T0860"))
    assert not isinstance(plain, str)
    assert not isinstance(fewer, str)
    assert plain.system.chip.matrix_rate("fp64") == plain.system.chip.vector_rates["fp64"]
    assert fewer.system.accelerators == 304
    assert "as the listed peak" in " ".join((*plain.assumed, *fewer.assumed))


def test_a_fit_refuses_families_without_runs() -> None:
    rows = calibration_rows(hpl_measurements(), shipped=True)
    with pytest.raises(DescriptionError, match="no calibration run"):
        fit_hpl("cdna4", rows, Catalogue())
    assert {run.asked.calibration.family for run in family_runs("volta", rows, Catalogue())} == {"volta"}


# -- plan, files, commands -----------------------------------------------------------------------------------


def planned(cluster: Cluster, model: AbstractHplModel, *, top: int = 8, **options: Any) -> Ranking[Hpl, ProcessGrid]:
    machine, runs = hpl_runs(cluster, **options)
    return model.rank(runs, machine, top=top)


def test_a_plan_fills_the_memory_it_may_and_ranks_by_rate() -> None:
    cluster = Catalogue().cluster("dgx-a100/16")
    plan = planned(cluster, PanelByPanel(constants=hpl_constants("ampere")), memory=0.8, top=5)
    rates = [answer.rate for answer in plan.best]
    assert rates == sorted(rates, reverse=True)
    first = plan.best[0]
    assert hpl_memory(float(first.workload.order)) <= 0.8 * 16 * cluster.chip.memory.capacity
    assert first.workload.order == largest_order(cluster, 16, memory=0.8, block=first.workload.block)
    with pytest.raises(DescriptionError, match="share of memory"):
        planned(cluster, PanelByPanel(constants=hpl_constants("ampere")), memory=1.5)


def test_what_the_chips_do_not_keep_spills() -> None:
    assert spilled_share(100.0, kept=25.0) == 0.75
    assert spilled_share(100.0, kept=100.0) == 0.0
    assert spilled_share(100.0, kept=400.0) == 0.0


def test_summit_gains_by_a_matrix_in_host_memory_as_its_listed_run_did() -> None:
    """Listed: N 16 473 600 and 148.6 PFLOP/s; the run is held out, and nothing is fitted to it."""
    cluster, model = Catalogue().cluster("summit/27648"), PanelByPanel(constants=hpl_constants("volta"))
    within = planned(cluster, model, blocks=(768,))
    beyond = planned(cluster, model, host=80e9, blocks=(768,))
    assert within.best[0].facts["in_host_memory"] == 0.0
    assert 0.5 < beyond.best[0].facts["in_host_memory"] < 1.0
    assert beyond.best[0].workload.order > 2 * within.best[0].workload.order
    assert within.best[0].utilisation < beyond.best[0].utilisation < 1
    names = {part.name for part in beyond.best[0].contributions}
    assert "host memory" in names
    assert "host memory" not in {part.name for part in within.best[0].contributions}


def test_a_thin_link_to_the_host_is_exposed_and_not_chosen() -> None:
    model, grid = PanelByPanel(constants=hpl_constants("ampere")), ProcessGrid.for_nodes(4, 2, node=8)
    cluster = replace(Catalogue().cluster("dgx-a100/8"), host_rate=1e9)
    answer = model.estimate(problem(500_000, 1024), cluster, grid)
    exposed = {part.name: part.time for part in answer.contributions if part.exposed}
    assert exposed["host memory"] > exposed["update"]
    plan = planned(cluster, model, host=200e9, blocks=(1024,))
    assert plan.best[0].facts["in_host_memory"] == 0.0


def test_host_memory_needs_a_link_and_a_size() -> None:
    cluster, model = Catalogue().cluster("dgx-a100/8"), PanelByPanel(constants=hpl_constants("ampere"))
    with pytest.raises(DescriptionError, match="no link to host memory"):
        planned(replace(cluster, host_rate=None), model, host=80e9)
    with pytest.raises(DescriptionError, match="no less than 0"):
        planned(cluster, model, host=-1.0)


def test_the_input_file_says_what_was_planned() -> None:
    text = hpl_dat(problem(92160, 1024), ProcessGrid(rows=4, columns=2, broadcast=Broadcast.LONG_MODIFIED))
    values = [line.split()[0] for line in text.splitlines()]
    assert values[5] == "92160"
    assert values[7] == "1024"
    assert (values[10], values[11], values[22], values[24]) == ("4", "2", "5", "1")
    assert len(values) == 31


def run(*words: str) -> str:
    done = CliRunner().invoke(_volvelle, list(words), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_plan_hands_over_to_the_benchmark_and_still_plans_models(tmp_path: Path) -> None:
    file = tmp_path / "HPL.dat"
    assert "HPL on dgx-a100/8" in run("plan", "hpl", "--on", "dgx-a100/8", "--nb", "512", "--emit", str(file))
    assert "Ns" in file.read_text("utf-8")
    assert "--schedule" in run("plan", "--help")
    assert "hpl" in run("plan", "--help")


def test_a_plan_says_which_memory_it_keeps_to() -> None:
    words = ("plan", "hpl", "--on", "summit/1536", "--nb", "768", "--top", "1")
    assert "keeps to the accelerators' memory" in " ".join(run(*words).split())
    within = json.loads(run(*words, "--json"))
    assert "--host-memory" in within["notes"][0]
    assert within["plans"][0]["figures"]["in_host_memory"]["value"] == 0.0
    beyond = json.loads(run(*words, "--host-memory", "80 GB", "--json"))
    assert beyond["asked"]["host_memory"] == 80e9
    assert not beyond["notes"]
    assert beyond["plans"][0]["figures"]["in_host_memory"]["value"] > 0.5
    assert "of itself in host memory" in " ".join(run(*words, "--host-memory", "80 GB").split())
    slower = run("plan", "hpl", "--on", "dgx-a100/8", "--nb", "128", "--host-memory", "200 GB")
    assert "would make it slower" in " ".join(slower.split())


def test_rows_of_ones_own_are_validated(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    with file.open("w", encoding="utf-8", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(["row_id", "accel", "n_accel", "N", "NB", "P", "Q", "rmax_tflops"])
        table.writerow(["mine", "A100-SXM4-80GB", "1", "92160", "1024", "1", "1", "16.98"])
        table.writerow(["none", "A100-SXM4-80GB", "1", "", "1024", "1", "1", "16.98"])
    shown = run("validate", "hpl", "--data", str(file), "--json")
    assert '"rows": 1' in shown
    assert "the row states no N" in shown


def test_the_paper_is_computed_again_with_pictures(tmp_path: Path) -> None:
    shown = run("reproduce", "mcl-hpl", "--only", "table-5", "--only", "figure-3", "--out", str(tmp_path))
    assert "Table 5" in shown
    assert "Table 1" not in shown
    assert (tmp_path / "figure-3.svg").read_text("utf-8").startswith("<svg")
    assert (tmp_path / "mcl-hpl.json").exists()


def test_figures_of_the_cluster_and_readings_are_shown_and_written(tmp_path: Path) -> None:
    shown = run("reproduce", "mcl-hpl", "--only", "figure-6", "--only", "readings", "--out", str(tmp_path))
    assert "1N4G, MCL-HPL" in shown
    assert "Not published, and taken here" in shown
    assert (tmp_path / "figure-6.svg").read_text("utf-8").startswith("<svg")
    assert len(json.loads((tmp_path / "mcl-hpl.json").read_text("utf-8"))["readings"]) == 5
