"""A calibration of one's own is used where it holds, carried over with a wider range, or refused."""

from pathlib import Path

import pytest

import volvelle
from tests.own_logs import megatron_log, written
from tests.unit.interchange.logs.test_nccl_tests import as_text, sweeps
from tests.unit.verbs.own_runs.test_calibrate import asked, learned, with_file
from volvelle import Catalogue, DescriptionError
from volvelle.applications.collectives.fit import fitted_stage
from volvelle.applications.collectives.own_link import own_rows
from volvelle.applications.collectives.series import series_of
from volvelle.applications.collectives.stages import Constant, Stage
from volvelle.catalogue.own_calibrations import read_calibration
from volvelle.estimators.calibration import fitted_constants
from volvelle.estimators.sampler import Stratified
from volvelle.estimators.training.closed_form import ClosedForm
from volvelle.interchange.logs.readers import log_of
from volvelle.mapping.kinds import kind_of
from volvelle.studies.design_space.design_study import read_study
from volvelle.studies.design_space.structure import machine
from volvelle.verbs.layouts import Layout
from volvelle.verbs.likely_best import sampled_times
from volvelle.verbs.own_runs.calibrate import calibrate_from


def test_another_family_of_chips_is_refused(tmp_path: Path) -> None:
    learned(tmp_path, 1.1)
    with pytest.raises(DescriptionError, match=r"mine\.yaml is of h100-sxm \(hopper\), and the machine has a100"):
        with_file(tmp_path, on="dgx-a100/8")


def test_another_chip_of_the_family_is_carried_over_with_a_wider_range(tmp_path: Path) -> None:
    learned(tmp_path, 1.1, 1.1, 1.1)
    here, there = with_file(tmp_path), with_file(tmp_path, on="dgx-h200/8")
    errors = [fitted_constants(one.cluster, "bf16").step_error for one in (here, there)]
    assert errors[1] > errors[0]
    assert any("carried over to" in note for note in there.cluster.notes)


def test_another_element_type_keeps_the_catalogue_s_constants(tmp_path: Path) -> None:
    learned(tmp_path, 1.2, 1.2, 1.2)
    own, shipped = (fitted_constants(one.cluster, "fp8") for one in (with_file(tmp_path), asked()))
    assert (own.matrix_efficiency, own.step_error) == (shipped.matrix_efficiency, shipped.step_error)


def test_more_chips_than_own_runs_had_is_said(tmp_path: Path) -> None:
    learned(tmp_path, 1.1)
    answer = with_file(tmp_path, on="dgx-h100/64")
    assert any("own runs had 8 to 8 chips, not 64" in note for note in answer.cluster.notes)


def test_a_file_that_was_edited_is_refused(tmp_path: Path) -> None:
    learned(tmp_path, 1.1)
    file = tmp_path / "mine.yaml"
    text = file.read_text("utf-8")
    assert "runs: 1" in text
    file.write_text(text.replace("runs: 1", "runs: 9"), "utf-8")
    with pytest.raises(DescriptionError, match="not as it was written"):
        with_file(tmp_path)
    file.write_text("chip: h100-sxm\n", "utf-8")
    with pytest.raises(DescriptionError, match="Field required"):
        with_file(tmp_path)
    file.unlink()
    with pytest.raises(DescriptionError, match="does not exist; write one with volvelle calibrate from"):
        with_file(tmp_path)


def test_a_file_of_another_version_is_used_with_a_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("volvelle.verbs.own_runs.calibrate.this_version", lambda: "0.1.0")
    learned(tmp_path, 1.1)
    assert any("written by version 0.1.0" in note for note in with_file(tmp_path).cluster.notes)


def test_a_file_says_which_logs_it_was_made_from(tmp_path: Path) -> None:
    learned(tmp_path, 1.1, 1.2)
    file = read_calibration(tmp_path / "mine.yaml")
    assert [(one.file, one.tool, len(one.sha256)) for one in file.logs] == [
        ("run0.log", "megatron", 64),
        ("run1.log", "megatron", 64),
    ]


@pytest.mark.parametrize("group", ["azure-nd_a100_v4", "stas-a100"])
def test_one_sweep_moves_the_link_to_the_fit_of_the_same_rows(group: str, tmp_path: Path) -> None:
    catalogue = Catalogue()
    text = as_text("all_reduce", 8, sweeps()[group, "all_reduce", 8])
    found = calibrate_from(written(tmp_path, text), on="dgx-a100/8", save=tmp_path / "links.yaml")
    (link,) = found.links
    names = ("efficiency", "setup", "fill")
    stage = Stage(
        groups=("own",),
        constants=tuple(
            Constant(name=name, links=("nvlink3",), start=link.before[name], most=1.0 if name == "efficiency" else 1e9)
            for name in names
        ),
    )
    series = series_of(own_rows(log_of(text, "sweep").collectives, "dgx-a100", ranks=8), catalogue)
    alone = fitted_stage(stage, series, {"nvlink3": catalogue.link("nvlink3")})
    assert link.after["efficiency"] == pytest.approx(alone[0], rel=0.02)
    assert link.error_after <= link.error_before
    calibrated = asked(on="dgx-a100/8", stack=str(tmp_path / "links.yaml")).cluster
    assert calibrated.dimensions[0].link.efficiency == pytest.approx(link.after["efficiency"], rel=1e-5)
    whole = {"operation": "all-reduce", "size": "1GB", "on": "dgx-a100/8"}
    own, shipped = volvelle.collective(**whole, calibrated=tmp_path / "links.yaml"), volvelle.collective(**whole)
    assert own.time != shipped.time


def test_a_sweep_on_other_chips_than_the_machine_s_is_refused(tmp_path: Path) -> None:
    text = as_text("all_reduce", 8, [(2**26, 1000.0)]).replace("A Chip", "NVIDIA H100 80GB HBM3")
    with pytest.raises(DescriptionError, match="ran on NVIDIA H100 80GB HBM3, and dgx-a100 has a100"):
        calibrate_from(written(tmp_path, text), on="dgx-a100/8")


def test_a_saved_calibration_is_the_same_again(tmp_path: Path) -> None:
    learned(tmp_path, 1.1, 1.15)
    first = (tmp_path / "mine.yaml").read_text("utf-8")
    learned(tmp_path, 1.1, 1.15)
    assert (tmp_path / "mine.yaml").read_text("utf-8") == first
    assert megatron_log(1.0) == megatron_log(1.0)


def test_a_study_has_links_and_power_as_own_logs_have_them(tmp_path: Path) -> None:
    learned(tmp_path, 1.1, 1.1, watts=500.0)
    text = as_text("all_reduce", 8, [(2**size, 2.0**size / 60e3) for size in range(20, 31)])
    calibrate_from(written(tmp_path, text), on="dgx-h100/8", save=tmp_path / "links.yaml")
    form = {
        "name": "one",
        "system": "dgx-h100/8",
        "workloads": [{"train": "gpt2", "batch": 64}],
        "axes": {"accelerators": [8, 16]},
    }
    plain = read_study(form).base
    files = (str(tmp_path / name) for name in ("mine.yaml", "links.yaml"))
    powered, linked = (read_study({**form, "stack": file}).base for file in files)

    said = read_calibration(tmp_path / "mine.yaml").power
    assert said == pytest.approx(500.0, rel=0.01)
    assert powered.chip.power == with_file(tmp_path).cluster.chip.power != plain.chip.power
    (own,) = read_calibration(tmp_path / "links.yaml").links.items()
    inner = linked.dimensions[0].link
    assert (inner.name, inner.efficiency) == (own[0], own[1]["efficiency"])
    assert inner.efficiency != plain.dimensions[0].link.efficiency
    assert linked.dimensions[1].link.efficiency == plain.dimensions[1].link.efficiency


def test_an_axis_of_links_is_of_the_catalogue_s_whatever_own_logs_say(tmp_path: Path) -> None:
    text = as_text("all_reduce", 8, [(2**size, 2.0**size / 60e3) for size in range(20, 31)])
    calibrate_from(written(tmp_path, text), on="dgx-h100/8", save=tmp_path / "links.yaml")
    catalogue = Catalogue()
    found = machine(catalogue, "dgx-h100/8", {"scale_up.link": "nvlink5"}, stack=str(tmp_path / "links.yaml"))
    assert found.dimensions[0].link.efficiency == catalogue.link("nvlink5").efficiency


NEAR_FULL = {"micro_batch": 5, "batch": 80, "sequence": 4480}
"""Needs more of a chip than leaves the usual margin; more positions than it has there are more than there is."""


def near_full(folder: Path, **settings: object) -> None:
    shape = {"micro_batch_size": 5, "global_batch_size": 80, "seq_length": 4480, **settings}
    text = megatron_log(9.0, **shape)  # type: ignore[arg-type]
    calibrate_from(written(folder, text), on="dgx-h100/8", save=folder / "mine.yaml")


def test_a_layout_that_ran_is_not_said_to_be_unable_to(tmp_path: Path) -> None:
    near_full(tmp_path)
    shipped, own = asked(**NEAR_FULL), with_file(tmp_path, **NEAR_FULL)
    assert not shipped.estimate.feasible
    assert own.estimate.feasible
    assert own.estimate.memory_bytes == shipped.estimate.memory_bytes
    assert own.estimate.fits > 0.99
    assert shipped.estimate.fits < 0.5
    assert any("run0.log" in note and "less than the margin of 5 %" in note for note in own.cluster.notes)


def test_what_needs_less_than_a_run_that_ran_fits_too_though_less_surely(tmp_path: Path) -> None:
    near_full(tmp_path)
    less = {**NEAR_FULL, "sequence": 4416}
    shipped, own, itself = asked(**less), with_file(tmp_path, **less), with_file(tmp_path, **NEAR_FULL)
    assert not shipped.estimate.feasible
    assert own.estimate.feasible
    assert shipped.estimate.fits < own.estimate.fits < itself.estimate.fits


def test_what_needs_more_than_any_run_that_ran_is_refused(tmp_path: Path) -> None:
    near_full(tmp_path)
    more, itself = with_file(tmp_path, **{**NEAR_FULL, "sequence": 4608}), with_file(tmp_path, **NEAR_FULL)
    assert not more.estimate.feasible
    assert asked(**{**NEAR_FULL, "sequence": 4608}).estimate.fits < more.estimate.fits < 0.8 * itself.estimate.fits


def test_a_margin_that_is_asked_for_holds_whatever_ran(tmp_path: Path) -> None:
    near_full(tmp_path)
    asked_for = with_file(tmp_path, **NEAR_FULL, margin=0.05)
    assert not asked_for.estimate.feasible
    assert asked_for.estimate.fits > 0.99
    assert not any("margin" in note for note in asked_for.cluster.notes)


def test_a_run_that_needs_more_by_prediction_than_there_is_shows_that_it_fits(tmp_path: Path) -> None:
    near_full(tmp_path, seq_length=4992)
    own = with_file(tmp_path, **{**NEAR_FULL, "sequence": 4992})
    assert own.estimate.memory_bytes > own.estimate.capacity
    assert own.estimate.feasible
    assert own.estimate.left_free == 0.0


def test_less_memory_or_another_chip_is_not_what_ran(tmp_path: Path) -> None:
    near_full(tmp_path)
    smaller = with_file(tmp_path, **NEAR_FULL, set={"chip.memory.capacity": "0.95x"})
    assert not smaller.estimate.feasible
    assert smaller.estimate.fits < 0.9
    elsewhere = with_file(tmp_path, **NEAR_FULL, on="dgx-h200/8")
    assert fitted_constants(elsewhere.cluster, "bf16").ran == ()


def test_a_plan_s_chance_of_a_layout_that_ran_is_that_of_an_estimate(tmp_path: Path) -> None:
    near_full(tmp_path)
    own = with_file(tmp_path, **NEAR_FULL)
    mapping, times = own.estimate.mapping, {"time": own.estimate.time, "utilisation": own.estimate.utilisation}
    layout = Layout(mapping=mapping, kind=kind_of(mapping), memory_bytes=own.estimate.memory_bytes, **times)
    times_there, fits, chances = sampled_times(own.step, own.cluster, [layout], ClosedForm(), Stratified(64, 0))
    assert times_there.shape == fits.shape == (1, 64)
    assert fits.all()
    assert list(chances) == [own.estimate.fits]


def test_reserved_amounts_move_the_chance_to_fit_of_other_layouts_a_part_of_the_way(tmp_path: Path) -> None:
    layout = {"micro_batch": 4, "batch": 64}
    shipped = asked(**layout).estimate
    chances, ranges = [], []
    for place, ratio in enumerate((0.8, 1.25)):
        folder = tmp_path / str(place)
        folder.mkdir()
        learned(folder, 1.0, 1.0, reserved=ratio * float(asked().estimate.memory_bytes))
        told = with_file(folder, **layout).estimate
        chances.append(told.fits)
        ranges.append(told.ranges["memory"])
        found = read_calibration(folder / "mine.yaml")
        assert found.memory is not None
        assert found.memory_error is not None
        assert min(ratio, 1.0) < found.memory < max(ratio, 1.0)
        assert 1.0 < found.memory_error < 1.16
    assert chances[0] > shipped.fits > chances[1]
    assert ranges[0].high < ranges[1].high
