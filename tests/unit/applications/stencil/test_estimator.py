"""Stencils: what a step reads and sends, what hides, how it scales, and what published runs say."""

import hashlib
import json
from dataclasses import replace
from itertools import pairwise
from math import prod
from pathlib import Path

import pytest
from click.testing import CliRunner

from volvelle import DescriptionError
from volvelle.applications.measured_table import calibration_rows
from volvelle.applications.stencil.application import STENCIL
from volvelle.applications.stencil.constants import stencil_constants
from volvelle.applications.stencil.estimator import (
    Kernel,
    Sides,
    Stencil,
    StencilEstimate,
    StencilLayout,
    StencilModel,
    exchange_time,
)
from volvelle.applications.stencil.fit import fit_stencil
from volvelle.applications.stencil.rows import stencil_measurements
from volvelle.applications.stencil.scaling import BREAKS, broken_at, counts_up_to, cubic_layouts, layouts_of, scaled
from volvelle.applications.validation import validate
from volvelle.catalogue import Catalogue
from volvelle.cli import _volvelle
from volvelle.estimators.calibration import fitted_constants
from volvelle.laws.stencil import (
    halo_bytes,
    interior_share,
    plane_reads,
    stencil_traffic,
    stencil_work,
    step_launch_time,
)

CATALOGUE = Catalogue()


def step(
    grid: Sides = (1024, 1024, 1024),
    processes: Sides = (1, 1, 1),
    *,
    points: int = 7,
    element: str = "fp64",
    kernel: Kernel = "blocked",
    overlap: bool = True,
) -> StencilEstimate:
    machine = CATALOGUE.cluster(f"frontier/{prod(processes)}")
    model = StencilModel(constants=stencil_constants(kernel=kernel, overlap=overlap))
    work = Stencil(grid=grid, points=points, element=element)
    return model.estimate(work, machine, StencilLayout(processes=processes))


# -- laws ----------------------------------------------------------------------------------------------------------


def test_a_cell_is_read_once_while_its_planes_stay_in_cache_and_thrice_else() -> None:
    assert plane_reads(1e6, cache=3e6) == 1.0
    assert plane_reads(1e6, cache=2.9e6) == 3.0
    assert plane_reads(1e6, cache=4.9e6, radius=2.0) == 5.0


def test_traffic_work_and_halos_count_cells() -> None:
    assert stencil_traffic(100.0, word=8.0, reads=1.0) == 1600.0
    assert stencil_work(100.0, points=7.0) == 1300.0
    assert halo_bytes(64.0, word=8.0) == 1024.0
    assert interior_share((4.0, 4.0)) == pytest.approx(0.25)
    assert interior_share((2.0, 4.0)) == 0.0
    assert step_launch_time(8.0, launch=2e-6) == pytest.approx(16e-6)


# -- a step --------------------------------------------------------------------------------------------------------


def test_one_chip_sends_nothing_and_is_as_fast_as_its_memory() -> None:
    estimate = step()
    assert [part.name for part in estimate.contributions] == ["cells", "launches"]
    rate = CATALOGUE.cluster("frontier/1").chip.memory.rate
    assert estimate.facts["cell_updates"] * 16.0 < rate
    assert step(element="fp32").facts["cell_updates"] == pytest.approx(2.0 * estimate.facts["cell_updates"], rel=1e-3)


def test_planes_that_do_not_fit_the_cache_cost_a_plain_kernel_twice_the_traffic() -> None:
    small, large = step((512, 512, 512), kernel="plain"), step(kernel="plain")
    assert (small.facts["bytes_per_cell"], large.facts["bytes_per_cell"]) == (16.0, 32.0)
    assert step().facts["bytes_per_cell"] == 16.0


def test_overlap_hides_halos_and_never_slows_a_step() -> None:
    for grid in ((256, 256, 256), (2048, 2048, 2048)):
        shown, hidden = (step(grid, (4, 4, 4), overlap=overlap) for overlap in (False, True))
        assert hidden.time <= shown.time
        machine, launch = CATALOGUE.cluster("frontier/64"), stencil_constants().launch
        exchanged = exchange_time(shown.workload, machine, shown.decision, launch=launch)[0]
        for estimate in (shown, hidden):
            sent = sum(part.time for part in estimate.contributions if part.part == "communication")
            assert sent == pytest.approx(exchanged)
    assert shown.hidden == 0.0


def test_corners_make_27_points_send_more() -> None:
    machine, layout = CATALOGUE.cluster("frontier/64"), StencilLayout(processes=(4, 4, 4))
    faces, corners = (
        exchange_time(Stencil(grid=(256, 256, 256), points=points), machine, layout)[0] for points in (7, 27)
    )
    assert faces < corners < 1.1 * faces


def test_a_grid_that_does_not_fit_or_cannot_be_cut_is_refused() -> None:
    assert [each.name for each in step((4096, 4096, 4096)).violations] == ["memory"]
    assert [each.name for each in step((4, 4, 4), (8, 1, 1)).violations] == ["cut"]
    with pytest.raises(DescriptionError, match="a cell or more"):
        Stencil(grid=(0, 1, 1))
    with pytest.raises(DescriptionError, match="7 or 27"):
        Stencil(grid=(8, 8, 8), points=13)


# -- scaling -------------------------------------------------------------------------------------------------------


def test_every_cut_uses_all_processes() -> None:
    assert {prod(layout.processes) for layout in layouts_of(24)} == {24}
    assert len(layouts_of(8)) == 10
    assert {tuple(sorted(layout.processes)) for layout in cubic_layouts(32)} == {(2, 4, 4)}
    assert counts_up_to(12) == (1, 2, 4, 8, 12)


@pytest.mark.parametrize("growth", ["strong", "weak"])
def test_more_chips_never_update_fewer_cells_and_efficiency_falls(growth: str) -> None:
    work, machine = Stencil(grid=(1024, 1024, 1024)), CATALOGUE.cluster("frontier/512")
    steps = scaled(work, (128, 128, 128), machine, stencil_constants(), CATALOGUE)[growth]
    assert steps[0].scaling_efficiency == 1.0
    for before, after in pairwise(steps):
        assert after.cell_updates > before.cell_updates
        assert after.scaling_efficiency <= before.scaling_efficiency + 1e-9
    assert {prod(each.grid) / each.chips for each in steps} == (
        {128**3} if growth == "weak" else {1024**3 / each.chips for each in steps}
    )


def test_a_grid_is_followed_beyond_the_machine_to_where_it_scales_no_further() -> None:
    work, machine = Stencil(grid=(1024, 1024, 1024)), CATALOGUE.cluster("dgx-h100/64")
    told = scaled(work, (256, 256, 256), machine, stencil_constants(), CATALOGUE)
    broken = broken_at(told["strong"])
    assert broken == told["strong"][-1]
    assert broken.chips > machine.accelerators
    assert all(each.scaling_efficiency >= BREAKS for each in told["strong"][:-1])
    assert [each.chips for each in told["weak"]] == [each.chips for each in told["strong"]]


def test_starting_kernels_bounds_a_step_however_many_chips_share_it() -> None:
    machine = CATALOGUE.cluster("dgx-h100/4096")
    model = StencilModel(constants=stencil_constants())
    launch = fitted_constants(machine, "fp64", software=False).kernel_launch_time
    small = model.estimate(Stencil(grid=(64, 64, 64)), machine, StencilLayout(processes=(16, 16, 16)))
    assert launch > 0.0
    assert small.time > 8.0 * launch


# -- published runs ------------------------------------------------------------------------------------------------


def test_rows_are_split_by_the_hash_of_their_system() -> None:
    for row in stencil_measurements().rows:
        odd = int(hashlib.sha256(row.system.lower().encode()).hexdigest(), 16) % 2
        assert row.head.split == ("heldout" if odd else "calibration")


def test_the_constants_are_those_that_the_fit_finds() -> None:
    fit = fit_stencil(calibration_rows(stencil_measurements(), shipped=True), CATALOGUE)
    held = stencil_constants()
    assert {each.name for each in fit.constants} == {"plain", "blocked", "cache_share", "error"}
    for each in fit.constants:
        assert each.fitted == pytest.approx(getattr(held, each.name), rel=0.01)


def test_all_rows_are_scored_and_no_accuracy_is_claimed() -> None:
    validation = validate(STENCIL)
    assert len(validation.rows) == len(stencil_measurements().rows)
    told = next(iter(STENCIL.findings(validation)))
    assert "no accuracy is claimed" in told.lines[0]
    first = validation.rows[0]
    assert first.low is not None
    assert first.high is not None
    assert first.low < first.predicted < first.high


def test_a_faster_memory_is_a_faster_prediction() -> None:
    row = stencil_measurements().rows[0]
    asked = STENCIL.question(row, CATALOGUE)
    faster = STENCIL.question(replace(row, memory_rate=2.0 * (row.memory_rate or 0.0)), CATALOGUE)
    assert not isinstance(asked, str)
    assert not isinstance(faster, str)
    rates = [STENCIL.answer(each).first.facts["cell_updates"] for each in (asked, faster)]
    assert rates[1] == pytest.approx(2.0 * rates[0], rel=1e-2)


# -- the command ---------------------------------------------------------------------------------------------------


def test_a_plan_tells_both_scalings_and_draws_them(tmp_path: Path) -> None:
    asked = ["plan", "stencil", "512", "--on", "frontier/64", "--json", "--figure", str(tmp_path / "s.svg")]
    told = CliRunner().invoke(_volvelle, asked)
    assert told.exit_code == 0, told.output
    document = json.loads(told.stdout)
    for growth in ("strong", "weak"):
        assert 64 in {step["chips"] for step in document[f"{growth}_scaling"]}
    assert document["strong_scaling_breaks"] == document["strong_scaling"][-1]["chips"]
    assert "<svg" in (tmp_path / "s.svg").read_text("utf-8")
