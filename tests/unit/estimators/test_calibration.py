"""Fitted constants: who is asked first, what a machine brings with it, and what is refused."""

from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conftest import small_chip, small_cluster
from volvelle import Catalogue, ClosedForm, ParallelMapping, TrainingStep, UnderUncertainty
from volvelle.applications.training.measurements import training_measurements
from volvelle.applications.training.rows import training_question
from volvelle.errors import DescriptionError, OutsideDomainError, UnknownNameError
from volvelle.estimators.calibration import (
    CONSTANTS,
    Calibration,
    Calibrations,
    FittedConstants,
    calibrated,
    fitted_constants,
    with_constants,
)
from volvelle.spread import Evidence, Figure, Interval
from volvelle.system.cluster import Cluster

LAYOUT = ParallelMapping(tensor=8, data=4)
CHIP = small_chip(family="toys")


def entry(share: float, **key: str) -> Calibration:
    return Calibration(constants={"matrix_efficiency": share}, **key)


EVERY = (
    entry(0.1),
    entry(0.2, family="toys"),
    entry(0.3, chip="toy"),
    entry(0.4, chip="toy", element="fp8"),
    entry(0.5, chip="toy", element="fp8", stack="megatron"),
)


@pytest.mark.parametrize("known", range(5))
def test_the_narrowest_calibration_that_fits_is_asked_first(known: int) -> None:
    book = Calibrations(entries=EVERY[: known + 1], stack="megatron")
    assert book.constants(CHIP, "fp8").matrix_efficiency == pytest.approx(0.1 * (known + 1))


def test_other_element_types_stacks_and_families_are_not_asked() -> None:
    book = Calibrations(entries=EVERY)
    assert book.constants(CHIP, "fp8").matrix_efficiency == 0.4
    assert book.constants(CHIP, "bf16").matrix_efficiency == 0.3
    general = Calibrations(entries=EVERY[:2])
    assert general.constants(small_chip(family="tools"), "bf16").matrix_efficiency == 0.1


def test_each_constant_falls_back_by_itself() -> None:
    wide = Calibration(chip="toy", constants={"matrix_efficiency": 0.8, "kernel_launch_time": 2e-6})
    found = Calibrations(entries=(wide, entry(0.6, chip="toy", element="fp8"))).constants(CHIP, "fp8")
    assert (found.matrix_efficiency, found.kernel_launch_time) == (0.6, 2e-6)
    assert found.memory_efficiency == FittedConstants().memory_efficiency == 1.0


def test_products_kept_in_16_bits_go_by_the_constants_of_16_bits(step: TrainingStep) -> None:
    chip = small_chip(matrix_rates={"bf16": 300e12, "fp8": 600e12})
    narrow = replace(step, element="fp8")
    plain = Calibrations(entries=(entry(0.5, chip="toy"), entry(0.9, chip="toy", element="fp8")))
    alone = Calibrations(entries=(entry(0.9, chip="toy"),))
    cluster = small_cluster(chip=chip)
    mixed, fast = (ClosedForm(calibration=book).estimate(narrow, cluster, LAYOUT).time for book in (plain, alone))
    assert mixed > fast


def test_an_estimator_with_a_calibration_of_its_own_goes_by_that(step: TrainingStep) -> None:
    cluster = small_cluster(matrix_efficiency=0.8)
    slow = ClosedForm(calibration=Calibrations.of(matrix_efficiency=0.4, memory_efficiency=0.8))
    assert slow.estimate(step, cluster, LAYOUT).time > ClosedForm().estimate(step, cluster, LAYOUT).time
    same = with_constants(cluster, {"matrix_efficiency": 0.4})
    assert slow.estimate(step, cluster, LAYOUT) == ClosedForm().estimate(step, same, LAYOUT)


def test_a_calibration_of_the_estimators_own_is_varied_too(step: TrainingStep) -> None:
    figure = Figure(value=0.6, evidence=Evidence.ASSUMED, source="a guess", spread=Interval(0.4, 0.8))
    own = Calibrations(
        entries=(
            Calibration(constants={"matrix_efficiency": 0.6, "step_error": 1.0}, figures={"matrix_efficiency": figure}),
        )
    )
    sure = UnderUncertainty(estimator=ClosedForm(calibration=own), samples=16)
    found = sure.estimate(step, small_cluster(), LAYOUT)
    assert found.time_range is not None
    assert found.time_range.low < found.time < found.time_range.high
    assert "toy: matrix efficiency" in found.time_range.varied


def test_a_machine_without_calibration_is_ideal() -> None:
    bare = Cluster(name="bare", chip=CHIP, dimensions=small_cluster().dimensions)
    assert fitted_constants(bare, "bf16") == FittedConstants()


def test_calibrations_of_another_chip_are_refused() -> None:
    cluster = calibrated(small_cluster(chip=small_chip(name="other")), Calibrations(entries=EVERY))
    with pytest.raises(OutsideDomainError, match="calibrations at hand are of toy and the machine has 'other'"):
        fitted_constants(cluster, "bf16")


def test_keys_that_no_question_could_find_are_refused() -> None:
    with pytest.raises(DescriptionError, match="name the chip"):
        entry(0.5, family="toys", element="fp8")
    with pytest.raises(DescriptionError, match="name the chip"):
        entry(0.5, element="fp8")
    with pytest.raises(DescriptionError, match="name its element type too"):
        entry(0.5, chip="toy", stack="megatron")
    with pytest.raises(UnknownNameError, match="matrix_efficiency"):
        Calibration(constants={"matrix_eficiency": 0.5})
    with pytest.raises(UnknownNameError, match="host_dispatch_time"):
        Calibrations().with_values({"host_dispatch": 1e-6})


# -- the catalogue's own -------------------------------------------------------------------------------------------


def test_every_chip_of_the_catalogue_has_a_calibration_and_every_calibration_a_chip(catalogue: Catalogue) -> None:
    chips = set(catalogue.names("chips"))
    named = {catalogue.calibration_file(name).chip for name in catalogue.names("calibrations")} - {""}
    assert named == chips
    for name in chips:
        constants = catalogue.calibrations(name).constants(catalogue.chip(name), "bf16")
        assert set(constants.figures) <= set(CONSTANTS)
        assert {"matrix_efficiency", "memory_efficiency"} <= set(constants.figures)


def test_domains_are_those_of_the_runs_that_constants_were_fitted_to(catalogue: Catalogue) -> None:
    counts: dict[str, list[tuple[int, str, str]]] = defaultdict(list)
    for run in training_measurements().rows:
        asked = training_question(run, catalogue) if run.head.split == "calibration" else ""
        if not isinstance(asked, str) and run.seconds is not None:
            counts[asked.system.chip.family].append((asked.system.accelerators, asked.work.element, run.head.group))
    stated = 0
    for name in catalogue.names("chips"):
        for calibration in catalogue.calibrations(name).entries:
            domain = calibration.domain
            if domain.chips is None:
                continue
            runs = counts[catalogue.chip(name).family]
            assert domain.runs == len(runs)
            assert domain.chips == (min(run[0] for run in runs), max(run[0] for run in runs))
            assert set(domain.elements) == {run[1] for run in runs}
            assert set(domain.publications) == {run[2] for run in runs}
            stated += 1
    assert stated > 0


def _own_chip(folder: Path, **more: object) -> None:
    from ruamel.yaml import YAML  # noqa: PLC0415 - of this test alone

    datum = {"kind": "assumed", "source": "volvelle-assumption"}
    chip = {
        "name": "own",
        "title": "One's own",
        "vendor": "nobody",
        "family": "owned",
        "launched": "2026",
        "matrix_rate": {"bf16": {"value": "100 TFLOP/s", **datum}},
        "vector_rate": {"fp32": {"value": "10 TFLOP/s", **datum}},
        "buffer": {"value": "10 MB", **datum},
        "memories": [{"name": "HBM", "capacity": {"value": "80 GB", **datum}, "rate": {"value": "1 TB/s", **datum}}],
        **more,
    }
    (folder / "chips").mkdir()
    with (folder / "chips" / "own.yaml").open("w") as out:
        YAML(typ="safe", pure=True).dump(chip, out)


def test_a_chip_is_one_file_and_gets_the_constants_of_any_chip(tmp_path: Path) -> None:
    _own_chip(tmp_path)
    catalogue = Catalogue(tmp_path)
    constants = catalogue.calibrations("own").constants(catalogue.chip("own"), "bf16")
    assert constants.figures["matrix_efficiency"].evidence is Evidence.ASSUMED
    assert 0 < constants.matrix_efficiency < 1
    assert constants.step_error is None


def test_a_fitted_constant_in_a_chips_file_is_told_where_it_belongs(tmp_path: Path) -> None:
    datum = {"value": "80 %", "kind": "assumed", "source": "volvelle-assumption"}
    _own_chip(tmp_path, matrix_efficiency=datum)
    with pytest.raises(DescriptionError, match=r"state it in calibrations/NAME.yaml under constants.matrix_efficiency"):
        Catalogue(tmp_path).chip("own")


def test_a_calibrations_file_is_named_by_what_it_is_of(tmp_path: Path) -> None:
    (tmp_path / "calibrations").mkdir()
    (tmp_path / "calibrations" / "h100-sxm.fp8.yaml").write_text("name: h100-sxm.fp8\nchip: h100-sxm\nconstants: {}\n")
    with pytest.raises(DescriptionError, match="is of 'h100-sxm' by its chip, family, element and stack"):
        Catalogue(tmp_path).calibrations("h100-sxm")


def test_another_chip_comes_with_its_own_calibration(catalogue: Catalogue) -> None:
    other = catalogue.with_chip(catalogue.cluster("dgx-h100/8"), "a100-sxm4-80gb")
    expected = fitted_constants(catalogue.cluster("dgx-a100/8"), "bf16")
    assert fitted_constants(other, "bf16") == expected
