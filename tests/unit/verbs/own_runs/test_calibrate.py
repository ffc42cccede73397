"""Own logs move predictions towards what was measured, as far as they can be believed, and say what they cover."""

from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

import volvelle
from tests.conftest import ROOT
from tests.own_logs import QUESTION, megatron_log, written
from volvelle import Catalogue, DescriptionError
from volvelle.applications.own_machine import with_own_links
from volvelle.catalogue.own_calibrations import read_calibration
from volvelle.estimators.calibration import calibrations_of, fitted_constants
from volvelle.estimators.training.closed_form import ClosedForm
from volvelle.verbs.own_runs.calibrate import Calibrated, calibrate_from
from volvelle.workload.families.shape import Transformer

MODEL = Transformer(
    name="7B",
    layers=32,
    hidden=4096,
    heads=32,
    kv_heads=32,
    head_dim=128,
    ffn=11008,
    vocabulary=32000,
    sequence=4096,
    activation="swiglu",
)

LOGS = ROOT / "tests" / "data" / "logs"


def asked(**other: Any) -> Any:
    return volvelle.estimate(MODEL, **{"on": "dgx-h100/8", **QUESTION, **other})


@cache
def predicted() -> float:
    return float(asked().estimate.time)


def learned(folder: Path, *factors: float, **settings: Any) -> Calibrated:
    texts = [megatron_log(factor * predicted(), **settings) for factor in factors]
    return calibrate_from(written(folder, *texts), on="dgx-h100", save=folder / "mine.yaml")


def with_file(folder: Path, **other: Any) -> Any:
    return asked(**{"stack": str(folder / "mine.yaml"), **other})


def test_three_slow_runs_move_the_prediction_most_of_the_way(tmp_path: Path) -> None:
    found = learned(tmp_path, 1.20, 1.21, 1.19)
    after = with_file(tmp_path).estimate.time
    assert 1.12 < after / predicted() < 1.21
    assert found.file.report["after"] < 0.5 * found.file.report["before"]
    assert found.alike is not None
    assert found.before is not None
    assert found.alike < found.before


def test_one_run_moves_it_a_part_of_the_way(tmp_path: Path) -> None:
    found = learned(tmp_path, 1.2)
    one = with_file(tmp_path).estimate.time / predicted()
    learned(tmp_path, 1.2, 1.2, 1.2, 1.2)
    four = with_file(tmp_path).estimate.time / predicted()
    assert 1.05 < one < four < 1.2
    assert any("one run" in note for note in found.notes)


def test_runs_as_predicted_change_nothing(tmp_path: Path) -> None:
    learned(tmp_path, 1.0, 1.0, 1.0)
    assert with_file(tmp_path).estimate.time == pytest.approx(predicted(), rel=2e-3)


def test_the_start_and_the_checkpoint_do_not_count(tmp_path: Path) -> None:
    (run,) = learned(tmp_path, 1.1).runs
    assert run.run.seconds == pytest.approx(1.1 * predicted(), rel=2e-3)


def test_a_rate_of_another_flop_convention_does_not_count(tmp_path: Path) -> None:
    first = learned(tmp_path, 1.1).factors
    text = megatron_log(1.1 * predicted()).replace("999.9", "133.3")
    other = calibrate_from(written(tmp_path, text), on="dgx-h100").factors
    assert first == other


def test_all_runs_of_one_shape_leave_other_shapes_a_wide_range(tmp_path: Path) -> None:
    found = learned(tmp_path, 1.2, 1.2, 1.2)
    assert found.alike is not None
    assert found.elsewhere is not None
    assert found.elsewhere > found.alike
    assert found.file.error == pytest.approx(found.elsewhere, rel=1e-3)
    assert any("one shape" in note for note in found.notes)


def test_more_chips_and_another_kind_of_model_than_own_runs_had_widen_the_range(tmp_path: Path) -> None:
    learned(tmp_path, 1.0, 1.0, 1.0)
    machine = Catalogue().cluster("dgx-h100/64", stack=str(tmp_path / "mine.yaml"))
    error = partial(calibrations_of(machine).step_error, machine.chip, "bf16")
    most = read_calibration(tmp_path / "mine.yaml").covers["chips"][1]
    within = error(mixture=False, chips=most)
    assert not within.left
    for beyond, word in (
        (error(mixture=False, chips=8 * most), "size"),
        (error(mixture=True, chips=most), "kind of model"),
    ):
        assert list(beyond.left) == [word]
        assert beyond.factor > within.factor


def test_runs_that_disagree_are_shown_and_not_averaged(tmp_path: Path) -> None:
    found = learned(tmp_path, 1.0, 2.2)
    assert len(found.disagreeing) == 2
    assert found.factors == {}
    assert any("not averaged" in note for note in found.notes)
    assert found.elsewhere is not None
    assert found.before is not None
    assert found.elsewhere > found.before


def test_one_of_four_that_is_far_off_is_shown_and_counts_little(tmp_path: Path) -> None:
    found = learned(tmp_path, 1.1, 1.1, 1.1, 2.2)
    assert [place.partition(",")[0] for place, _ in found.disagreeing] == ["run3.log"]
    assert found.fit is not None
    assert found.fit.posterior.weights[3] < 0.1
    assert 1.04 < with_file(tmp_path).estimate.time / predicted() < 1.13


def test_one_run_beside_products_is_compared_with_no_other_run(tmp_path: Path) -> None:
    products = tmp_path / "gemm.csv"
    peak = Catalogue().chip("h100-sxm").matrix_rate("bf16")
    seconds = 2 * 8192**3 / (0.7 * peak)
    products.write_text(f"m,n,k,element,seconds\n8192,8192,8192,bf16,{seconds}\n")
    files = [*written(tmp_path, megatron_log(1.5 * predicted())), products]
    found = calibrate_from(files, on="dgx-h100", save=tmp_path / "mine.yaml")
    assert found.disagreeing == ()
    assert with_file(tmp_path).estimate.time > 1.1 * predicted()


def test_what_sweeps_tell_of_a_link_steps_do_not_tell_again(tmp_path: Path) -> None:
    sweep = LOGS / "nccl-h100-two-nodes.txt"
    links = calibrate_from([sweep], on="dgx-h100/16", save=tmp_path / "links.yaml").links
    assert links
    layouts = ({"tensor": 1, "zero": 1}, {"tensor": 2, "zero": 1}, {"tensor": 8, "zero": 1})
    kept = {**{name: value for name, value in QUESTION.items() if name != "tensor"}, "on": "dgx-h100/16"}
    told = {one.link: one.after for one in links}
    cluster = with_own_links(Catalogue().cluster("dgx-h100/16", stack="megatron-core"), told)
    times = []
    for layout in layouts:
        one = volvelle.estimate(MODEL, **{**kept, **layout})
        times.append(float(ClosedForm().estimate(one.step, cluster, one.estimate.mapping).time))
    texts = [
        megatron_log(time, world_size=16, tensor_model_parallel_size=layout["tensor"])
        for time, layout in zip(times, layouts, strict=True)
    ]
    both = calibrate_from([sweep, *written(tmp_path, *texts)], on="dgx-h100/16", save=tmp_path / "mine.yaml")
    assert all(abs(factor - 1.0) < 0.02 for factor in both.factors.values()), both.factors
    for time, layout in zip(times, layouts, strict=True):
        after = volvelle.estimate(MODEL, **{**kept, **layout, "stack": str(tmp_path / "mine.yaml")}).estimate.time
        assert after == pytest.approx(time, rel=0.01)


def test_linpack_of_another_kind_of_machine_is_refused() -> None:
    with pytest.raises(DescriptionError, match=r"hpl-epyc\.txt, line 3: 1\.12 TFLOP/s by 1 × 1 processes"):
        calibrate_from([LOGS / "hpl-epyc.txt"], on="dgx-h100/8")


def test_a_sweep_over_another_network_than_the_machine_s_is_told() -> None:
    found = calibrate_from([LOGS / "nccl-h100-two-nodes.txt"], on="dgx-h100/16")
    assert any("another network than that of dgx-h100" in note for note in found.notes)


def test_logs_are_taken_as_a_folder_finds_them(tmp_path: Path) -> None:
    files = written(tmp_path, megatron_log(1.1 * predicted()), megatron_log(1.2 * predicted()))
    found = calibrate_from((file for file in files), on="dgx-h100")  # type: ignore[arg-type]
    assert found.factors == calibrate_from(files, on="dgx-h100").factors
    with pytest.raises(DescriptionError, match="no log is given"):
        calibrate_from(tmp_path.glob("*.none"), on="dgx-h100")  # type: ignore[arg-type]


def test_a_log_that_contradicts_the_machine_is_refused(tmp_path: Path) -> None:
    files = written(tmp_path, megatron_log(1.0))
    with pytest.raises(DescriptionError, match=r"lines .*: it ran on 8 chips, which is not on='dgx-h100/16'; give"):
        calibrate_from(files, on="dgx-h100/16")
    with pytest.raises(DescriptionError, match=r"it ran with tensor=2, and the question states 4; leave that out"):
        calibrate_from(files, on="dgx-h100/8", tensor=4)
    with pytest.raises(DescriptionError, match=r"its model has 32 layers, and llama3-70b has 80"):
        calibrate_from(files, on="dgx-h100/8", model="llama3-70b")


def test_what_a_log_does_not_say_must_be_told(tmp_path: Path) -> None:
    log = megatron_log(8.0, seq_length=8192)
    text = "\n".join(line for line in log.split("\n") if " ... " not in line and ".. " not in line)
    files = written(tmp_path, text)
    with pytest.raises(
        DescriptionError, match=r"the log does not name the model: give model, a name or a config\.json"
    ):
        calibrate_from(files, on="dgx-h100/8")
    found = calibrate_from(files, on="dgx-h100/8", model="llama3-8b", tensor=2)
    assert found.runs[0].settings["batch"] == 64


def test_runs_of_two_element_types_are_calibrated_apart(tmp_path: Path) -> None:
    files = written(tmp_path, megatron_log(4.0), megatron_log(2.8, fp8="hybrid"))
    with pytest.raises(DescriptionError, match="the element type fp8"):
        calibrate_from(files, on="dgx-h100/8")


def test_watts_and_reserved_memory_are_learned(tmp_path: Path) -> None:
    answer = asked()
    reserved = 1.15 * float(answer.estimate.memory_bytes)
    learned(tmp_path, 1.0, 1.0, watts=650.0, reserved=reserved)
    file = read_calibration(tmp_path / "mine.yaml")
    assert file.power == 650.0
    assert file.memory is not None
    alike = fitted_constants(answer.cluster, "bf16").memory_alike
    assert alike > 0.1
    assert file.memory == pytest.approx(1.15**alike, rel=2e-3)
    after = with_file(tmp_path)
    assert after.cluster.chip.power == pytest.approx(650.0 / 0.85)
    assert after.estimate.margin > answer.estimate.margin


def test_products_of_ones_own_move_the_chip(tmp_path: Path) -> None:
    file = tmp_path / "gemm.csv"
    rows = "".join(f"8192,8192,8192,bf16,{2 * 8192**3 / 450e12}\n" for _ in range(5))
    file.write_text("m,n,k,element,seconds\n" + rows, "utf-8")
    found = calibrate_from([file], on="dgx-h100/8")
    assert found.products is not None
    assert found.products < 0.9
    assert found.factors["matrix_efficiency"] < 1.0


def test_a_log_without_anything_to_learn_says_so(tmp_path: Path) -> None:
    file = written(tmp_path, megatron_log(1.0, steps=4))
    with pytest.raises(DescriptionError, match=r"nothing can be learned from run0\.log.*no steady step"):
        calibrate_from(file, on="dgx-h100/8")
