"""The DFModel paper, computed again: what was logged is found, or beaten with a proof."""

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest
from in_place import figures_in

from tests.conftest import ROOT
from tests.end_to_end.test_command import volvelle
from volvelle.catalogue import Catalogue
from volvelle.catalogue.prices import PriceBook
from volvelle.catalogue.published.dfmodel import DfModel, dfmodel
from volvelle.reproductions.dfmodel.design_space import WITHIN, DesignSpace, design_document, solve_design_space
from volvelle.reproductions.dfmodel.figures import (
    solve_calculon,
    solve_rail_only,
    solve_sram_sweep,
    solve_three_dimensional,
)
from volvelle.reproductions.dfmodel.machine import machine_of
from volvelle.reproductions.dfmodel.ratios import find_ratios
from volvelle.reproductions.dfmodel.runs import all_tiles, map_run, powers_of_two
from volvelle.reproductions.dfmodel.serving import layout_statements, served_pass, solve_layouts, with_text_links
from volvelle.reproductions.dfmodel.silicon import solve_silicon
from volvelle.reproductions.dfmodel.speculation import BRANCHES, LEVELS, solve_speculation, speculation_statements
from volvelle.reproductions.dfmodel.table6 import Table6, solve_intensities, solve_table6
from volvelle.reproductions.dfmodel.text import Reproduction


@pytest.fixture(scope="module")
def data() -> DfModel:
    return dfmodel()


@pytest.fixture(scope="module")
def table(data: DfModel) -> Table6:
    return solve_table6(data)


@pytest.fixture(scope="module")
def space(data: DfModel) -> DesignSpace:
    return solve_design_space(data)


# -- Table VI ------------------------------------------------------------------------------------------------------


def test_every_mapping_of_table_six_is_as_fast_as_logged_or_faster_and_proven(table: Table6) -> None:
    rows = table.with_constants("repository")
    assert [round(row.ours.time * 1e3, 3) for row in rows] == [22.138, 5.411, 4.640, 3.964, 3.586]
    for row in table.rows:
        assert row.ours.found.proven, row.name
        assert row.ours.seconds < 2.0, row.name
        assert row.difference is None or row.difference < 1e-6, row.name


def test_products_stay_where_the_paper_pins_them(table: Table6) -> None:
    _, vendor, pinned, *_ = table.with_constants("repository")
    for row, partition in ((vendor, 1), (pinned, 2)):
        answer = row.ours.found.answer
        assert answer is not None
        assert answer.fusion is not None
        assert answer.fusion.place("proj_gemm") == partition
        assert answer.fusion.place("ffn1") == 3


def test_the_printed_dram_rate_gives_another_table_because_only_kernels_by_themselves_gain(table: Table6) -> None:
    ours, printed = (table.with_constants(name) for name in ("repository", "text"))
    assert ours[0].ours.time / printed[0].ours.time > 1.5
    for a, b in zip(ours[1:], printed[1:], strict=True):
        assert 1.0 <= a.ours.time / b.ours.time < 1.05
    whole = table.speed_ups[-1]
    assert whole.repository == pytest.approx(whole.paper, rel=0.01)
    assert whole.text < 0.7 * whole.paper


# -- the design space ----------------------------------------------------------------------------------------------


def test_the_design_space_is_found_again_with_every_point_proven(space: DesignSpace) -> None:
    assert len(space.points) == 320
    assert space.proven == 320
    assert space.within_half_percent >= 300
    assert space.within_half_percent + space.better_than_logged == 320
    assert space.unexplained == 0
    assert space.seconds < 120


def test_no_point_is_worse_than_logged(space: DesignSpace) -> None:
    for found in space.points:
        assert found.differences[0] > -WITHIN, found.point.source
        assert found.apart_utilisation / found.point.apart_utilisation > 1 - WITHIN, found.point.source


def test_cost_and_power_are_those_logged(space: DesignSpace) -> None:
    for found in space.points:
        assert found.differences[1:] == pytest.approx((0.0, 0.0), abs=1e-6), found.point.source


def test_what_differs_is_explained_by_gaps_and_edited_inputs_that_the_data_show(space: DesignSpace) -> None:
    kinds = {one.kind for one in space.departures}
    assert kinds == {"solver stopped early", "edited input"}
    for one in space.departures:
        if one.kind == "solver stopped early":
            assert one.gap is not None
            assert one.gap > one.found.differences[0]
        else:
            assert one.found.point.cores is not None
            assert abs(one.found.described_utilisation / one.found.point.utilisation - 1) > WITHIN


def test_a_point_is_unexplained_where_no_log_says_why(space: DesignSpace, data: DfModel) -> None:
    (odd, *_) = [one for one in space.points if one.better and one.point.gap is not None]
    point = replace(odd.point, gap=0.0)
    alone = DesignSpace(points=(replace(odd, point=point),), problems=1, seconds=0.0)
    assert alone.unexplained == 1
    assert machine_of(point, data) == odd.machine


def test_dataflow_chips_fuse_freely_within_six_partitions(space: DesignSpace) -> None:
    for found in space.of("LLM"):
        if found.point.accelerator == "sn30":
            choices = found.problem.choices
            assert (choices.fuse, choices.partitions, choices.forward_first) == (True, 6, True)
            assert all(kernel.pinned is None for kernel in found.problem.kernels)
            assert found.answer.fusion is not None
            assert len(found.answer.fusion.partitions) <= 6


def test_the_ratios_of_section_six_come_out_as_printed(space: DesignSpace, data: DfModel) -> None:
    rows = find_ratios(data, space)
    assert len({(one.workload, one.comparison) for one in rows}) >= 15
    for one in rows:
        # Two or three printed digits: half of the last.
        assert one.ours == pytest.approx(one.paper, abs=0.0055), (one.workload, one.comparison, one.measure)


# -- the other figures ---------------------------------------------------------------------------------------------


def test_every_layout_compared_with_calculon_takes_the_time_logged(data: DfModel) -> None:
    found = solve_calculon(data)
    assert len(found) == 20
    for one in found:
        assert one.difference is None or abs(one.difference) < 1e-4, one.run.run
        assert sum(one.breakdown.values()) == pytest.approx(one.time)


def test_rails_have_the_network_time_logged_and_a_compute_time_within_the_logged_gap(data: DfModel) -> None:
    found = solve_rail_only(data)
    times = [one.time for one in found]
    assert times == sorted(times, reverse=True)  # more fast links are never slower
    for one in found:
        assert one.run.network is not None
        assert one.interval("network") == pytest.approx(one.run.network, rel=1e-4)
        assert one.difference is not None
        assert one.run.gap is not None
        assert -one.run.gap < one.difference < 0


def test_intensities_of_the_roofline_are_those_logged_or_higher(data: DfModel) -> None:
    for one in solve_intensities(data):
        assert one.proven
        assert one.memory > 0.97 * one.logged.memory
        assert one.network == pytest.approx(one.logged.network, rel=0.03)
        assert one.rate > one.logged_rate * (1 - 1e-6)


def test_the_exact_optimum_of_the_sram_sweep_beats_the_logged_dataflow(data: DfModel) -> None:
    gains = []
    for run in data.study("figure 19"):
        coarse = map_run(run, powers_of_two(run.sequence), tile_weights=True, free=True)
        assert coarse.found.proven
        assert run.utilisation is not None
        if run.style == "dataflow":
            gains.append(coarse.utilisation / run.utilisation - 1)
            assert gains[-1] > 0.07, run.run
        else:
            assert coarse.utilisation == pytest.approx(run.utilisation, rel=0.04), run.run
    assert len(gains) == 9


def test_every_tile_size_is_at_least_as_good_as_powers_of_two(data: DfModel) -> None:
    assert set(powers_of_two(2048)) <= set(all_tiles(2048))
    run = next(run for run in data.study("figure 22") if run.run == "3D/0.8")
    fine, coarse = (map_run(run, tiles, tile_weights=True, exchanged=True) for tiles in (all_tiles(2048), (32, 64)))
    assert fine.time <= coarse.time
    assert fine.found.proven


def test_sweeps_report_as_they_go(data: DfModel) -> None:
    seen: list[int] = []
    small = replace(data, runs=tuple(run for run in data.runs if run.run in ("DDR/0.8", "KBK/l_sram_l_dram")))
    solve_three_dimensional(small, advance=lambda: seen.append(1))
    solve_sram_sweep(small, advance=lambda: seen.append(1))
    assert len(seen) == 2


# -- serving and speculative decoding ------------------------------------------------------------------------------


def test_every_layout_of_figure_twenty_has_the_latency_and_throughput_logged(data: DfModel) -> None:
    found = solve_layouts(data)
    assert [one.name for one in found] == ["16×1", "8×2", "4×4", "2×8", "1×16"]
    assert [round(one.prefill.latency * 1e3, 2) for one in found] == [87.04, 87.82, 89.86, 95.06, 109.56]
    assert [round(one.decode.latency * 1e3, 4) for one in found] == [0.8419, 1.2214, 2.2108, 4.3052, 8.5524]
    for layout in found:
        for one in (layout.prefill, layout.decode):
            assert one.latency == pytest.approx(one.run.latency, rel=1e-4)
            assert one.tokens_per_second == pytest.approx(one.logged_tokens_per_second, rel=2e-3)
            assert sum(one.breakdown.values()) == pytest.approx(one.latency)
    assert found[0].decode.tokens_per_second == pytest.approx(1188, abs=0.5)  # as the paper prints it


def test_every_served_model_does_the_work_and_moves_the_bytes_logged(data: DfModel) -> None:
    for run in data.serving:
        one = served_pass(data, run)
        assert one.work * run.layers * run.requests == pytest.approx(run.flop, rel=1e-12), run.source
        assert one.traffic / run.tensor / run.memory_rate == pytest.approx(run.memory, rel=1e-6), run.source
        network = one.breakdown["network, bytes"] + one.breakdown["network, latency"]
        assert network / run.layers == pytest.approx(run.network, rel=1e-6), run.source


def test_more_stages_make_a_token_slower_and_tokens_more_frequent_against_the_paper_s_word(data: DfModel) -> None:
    said = [one.holds for one in layout_statements(solve_layouts(data))]
    assert said == [True, True, False, True, True]


def test_links_of_the_printed_rate_give_another_figure_twenty(data: DfModel) -> None:
    prefill = solve_layouts(data)[0].prefill
    assert with_text_links(data, prefill).latency > 1.9 * prefill.run.latency


def test_every_sequence_of_figure_twenty_one_has_the_rate_of_the_logged_steps(data: DfModel) -> None:
    found = solve_speculation(data)
    logged = [one for one in found.rates if one.logged is not None]
    assert len(logged) == 12
    for one in logged:
        assert one.rate == pytest.approx(one.logged, rel=2e-3), one
    assert found.alone == pytest.approx(33.4, abs=0.05)
    assert [round(one.logged or 0.0, 1) for one in logged if one.draft == "llama3-8b"] == [97.5, 109.0, 120.4, 131.9]


def test_measured_rates_are_within_the_twelve_per_cent_that_the_paper_states(data: DfModel) -> None:
    found = solve_speculation(data).measured
    assert [one.row.measured for one in found] == [1100, 457, 129]
    for one in found:
        assert abs(one.difference) < 0.12, one.row
        assert one.bounds is None or one.bounds[0] < one.row.measured < one.bounds[1]


def test_what_the_paper_says_of_drafts_and_windows_comes_out(data: DfModel) -> None:
    found = solve_speculation(data)
    assert all(one.holds for one in speculation_statements(found))
    best = found.best(BRANCHES, 0.7)
    assert [one.window for one in best.values()] == [4, 3, 2]
    assert [round(one.rate) for one in best.values()] == [112, 88, 50]


def test_a_drafter_that_makes_a_level_at_a_time_helps_the_larger_drafts_most(data: DfModel) -> None:
    found = solve_speculation(data)
    branches, levels = found.best(BRANCHES, 0.7), found.best(LEVELS, 0.7)
    gains = [levels[draft].rate / branches[draft].rate for draft in branches]
    assert gains == sorted(gains)
    assert gains[1] > 1.0


# -- the command ---------------------------------------------------------------------------------------------------


def test_the_command_prints_table_six_as_json() -> None:
    done = volvelle("reproduce", "dfmodel", "--only", "table6", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert len(found["rows"]) == 10
    for row in found["rows"]:
        assert {"mapping", "logged_ms", "ours_ms", "proven", "seconds", "constants"} <= set(row)
        assert row["logged_ms"] is None or row["ours_ms"] <= 1.01 * row["logged_ms"]
    assert {row["constants"] for row in found["rows"]} == {"repository", "text"}
    assert "GB/s" in found["why_text_differs"]
    assert found["stated_constants"]


@pytest.mark.long
def test_the_command_prints_the_design_space_as_json_and_draws_it(tmp_path: Path) -> None:
    words = ("--only", "dse", "--only", "fig10", "--only", "fig17", "--json", "--out", str(tmp_path))
    done = volvelle("reproduce", "dfmodel", *words)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["dse"]["points"] == 320
    assert found["dse"]["unexplained"] == 0
    assert len(found["dse"]["exceptions"]) == 10
    assert len(found["fig10"]["rows"]) == 80
    for name in ("fig10", "fig17"):
        picture = ET.fromstring((tmp_path / f"{name}.svg").read_text("utf-8"))
        assert picture.tag.endswith("svg")
        assert len((tmp_path / f"{name}.csv").read_text("utf-8").splitlines()) == 81
    assert "<figure>" not in (tmp_path / "dse.html").read_text("utf-8")


def test_the_command_explains_why_the_printed_constants_give_another_table() -> None:
    done = volvelle("reproduce", "dfmodel", "--only", "table6")
    assert done.returncode == 0, done.stderr
    words = " ".join(done.stdout.split())
    assert "bound by DRAM, so the printed rate makes it" in words
    assert "Constants used" in words


@pytest.mark.long
def test_the_command_prints_serving_and_speculation_as_json_and_draws_them(tmp_path: Path) -> None:
    done = volvelle("reproduce", "dfmodel", "--only", "fig20", "--only", "fig21", "--json", "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert len(found["fig20"]["rows"]) == 5
    assert len(found["fig21"]["rows"]) == 13
    for name in ("fig20", "fig21"):
        assert found[name]["stated_constants"]
        assert ET.fromstring((tmp_path / f"{name}.svg").read_text("utf-8")).tag.endswith("svg")


def test_what_cannot_be_reproduced_is_refused_with_what_can() -> None:
    done = volvelle("reproduce", "dfmodel", "--only", "fig6")
    assert done.returncode == 2
    assert "fig22" in done.stderr


@pytest.mark.long
def test_a_figure_of_the_design_space_states_its_constants(data: DfModel, space: DesignSpace) -> None:
    study = Reproduction(data)
    study._space = space
    item = study.item("fig16")
    stated = item.document["stated_constants"]
    assert isinstance(stated, list)
    assert any(one["text"] for one in stated), "some constants of the data are not those of the text"
    assert design_document(space)["points"] == 320


def test_the_page_quotes_figures_that_were_computed() -> None:
    page = (ROOT / "docs" / "validation" / "dfmodel.md").read_text("utf-8")
    quoted = {name: text for name, text in figures_in(page) if name.startswith("dfmodel_")}
    assert quoted
    assert all(quoted.values())
    for picture in re.findall(r"\((\.\./_generated/[\w-]+\.svg)\)", page):
        assert (ROOT / "docs" / "validation" / picture).is_file(), picture


def test_silicon_is_priced_by_the_lines_through_the_points_of_figure_9(data: DfModel) -> None:
    book = PriceBook(Catalogue()).figures
    found = solve_silicon(data)
    for law in found.laws:
        figure = book[f"logic.{law.kind}_exponent"]
        assert law.used == figure.value == pytest.approx(law.exponent, abs=0.005)
        low, high = figure.bounds(1.0)
        assert low <= law.low < law.exponent < law.high <= high
    assert [chip.key for chip in found.chips] == ["tpu", "sn30", "h100", "wse-2"]
