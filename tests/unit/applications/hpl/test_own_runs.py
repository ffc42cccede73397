"""Runs of Linpack of one's own."""

from dataclasses import replace
from math import log
from pathlib import Path

import pytest

from tests.conftest import ROOT
from volvelle import DescriptionError
from volvelle.applications.hpl.application import HPL
from volvelle.applications.hpl.constants import nearest_constants
from volvelle.applications.hpl.own_runs import constants_by_runs
from volvelle.applications.hpl.panels import HplConstants, PanelByPanel
from volvelle.applications.hpl.plan import hpl_runs
from volvelle.applications.hpl.questions import PlanHpl
from volvelle.catalogue import Catalogue
from volvelle.catalogue.own_calibrations import read_calibration
from volvelle.laws.hpl.closed_form import hpl_work
from volvelle.verbs.own_runs.calibrate import calibrate_from

AMPERE = nearest_constants("ampere")
N, NB, P, Q = 264_192, 384, 2, 4


def seconds(catalogue: Catalogue, constants: HplConstants = AMPERE) -> float:
    """What is predicted of the run on one node."""
    machine, ((problem, grid), *_) = hpl_runs(
        catalogue.cluster("dgx-a100/8"), blocks=(NB,), depths=(1,), order=N, rows=P, columns=Q
    )
    return PanelByPanel(constants=constants).estimate(problem, machine, grid).time


def report(folder: Path, catalogue: Catalogue, *faster: float) -> Path:
    """As HPL prints runs that are so much faster than predicted."""
    lines = ["T/V                N    NB     P     Q               Time                 Gflops"]
    for ratio in faster:
        time = round(seconds(catalogue) / ratio, 2)
        rate = float(hpl_work(float(N))) / time / 1e9
        lines += [
            f"WR03L2R4      {N}   {NB}     {P}     {Q}             {time:.2f}             {rate:.4e}",
            "||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=        0.0017256 ...... PASSED",
        ]
    file = folder / "HPL.out"
    file.write_text("\n".join([*lines, ""]), "utf-8")
    return file


def learned(folder: Path, catalogue: Catalogue, *faster: float) -> HplConstants:
    machine = catalogue.cluster("dgx-a100/64")
    return constants_by_runs(AMPERE, machine, catalogue, report(folder, catalogue, *faster))


def test_runs_as_predicted_change_nothing_but_the_range(tmp_path: Path, catalogue: Catalogue) -> None:
    found = learned(tmp_path, catalogue, 1.0)
    assert found.own_rate == pytest.approx(1.0, abs=1e-3)
    assert found.error < AMPERE.error
    assert found.tilt == 0.0, "runs of one's own do not tell it"
    assert replace(found, own_rate=1.0, error=AMPERE.error, tilt=AMPERE.tilt, own="") == AMPERE


def test_own_runs_are_followed_most_of_the_way_and_more_of_them_further(tmp_path: Path, catalogue: Catalogue) -> None:
    moved = [log(learned(tmp_path, catalogue, *[0.8] * count).own_rate) / log(0.8) for count in (1, 3, 12)]
    assert 0.5 < moved[0] < moved[1] < moved[2] <= 1.0


def test_every_part_of_the_time_is_slower_by_as_much(tmp_path: Path, catalogue: Catalogue) -> None:
    found = learned(tmp_path, catalogue, 0.8)
    assert seconds(catalogue, found) == pytest.approx(seconds(catalogue) / found.own_rate)


def test_runs_that_disagree_are_asked_about_and_widen_the_range_again(tmp_path: Path, catalogue: Catalogue) -> None:
    alike, apart = learned(tmp_path, catalogue, 0.9, 0.9), learned(tmp_path, catalogue, 0.6, 1.2)
    assert "disagree" in apart.own
    assert "disagree" not in alike.own
    assert apart.error > alike.error


def test_a_plan_takes_reports_or_what_was_kept_of_them_alike(tmp_path: Path, catalogue: Catalogue) -> None:
    log_file, kept = report(tmp_path, catalogue, 0.85), tmp_path / "mine.yaml"
    found = calibrate_from([log_file], on="dgx-a100", save=kept)
    assert found.linpack is not None
    assert found.fit is None
    machine = catalogue.cluster("dgx-a100/64")
    questions = (PlanHpl(on=machine, runs=str(file)) for file in (log_file, kept))
    by_report, by_file = (HPL.space(machine, catalogue, question).calibration for question in questions)
    assert by_file.own_rate == pytest.approx(by_report.own_rate, rel=1e-5)
    assert by_file.error == pytest.approx(by_report.error, rel=1e-3)
    assert read_calibration(kept).linpack is not None


def test_what_was_learned_of_one_chip_is_not_taken_for_another(tmp_path: Path, catalogue: Catalogue) -> None:
    kept = tmp_path / "mine.yaml"
    calibrate_from([report(tmp_path, catalogue, 0.9)], on="dgx-a100", save=kept)
    with pytest.raises(DescriptionError, match="h100-sxm"):
        HPL.space(catalogue.cluster("dgx-h100/8"), catalogue, PlanHpl(on="dgx-h100/8", runs=str(kept)))


def test_more_processes_than_the_machine_has_chips_are_refused(tmp_path: Path, catalogue: Catalogue) -> None:
    with pytest.raises(DescriptionError, match="2 × 4 processes"):
        calibrate_from([report(tmp_path, catalogue, 0.9)], on="dgx-a100/4")


def test_closed_forms_take_no_own_runs(tmp_path: Path, catalogue: Catalogue) -> None:
    question = PlanHpl(on="dgx-a100/8", runs="HPL.out", method="layered")
    with pytest.raises(DescriptionError, match="--method layered"):
        HPL.space(catalogue.cluster("dgx-a100/8"), catalogue, question)


def test_a_log_of_something_else_says_what_it_is_and_hpcg_where_it_is_taken(catalogue: Catalogue) -> None:
    other = ROOT / "tests" / "data" / "logs" / "hpcg-skylake.txt"
    with pytest.raises(DescriptionError, match="no run of HPL"):
        constants_by_runs(AMPERE, catalogue.cluster("dgx-a100/8"), catalogue, other)
    with pytest.raises(DescriptionError, match="plan hpcg --on SYSTEM --runs"):
        calibrate_from([other], on="dgx-a100")
