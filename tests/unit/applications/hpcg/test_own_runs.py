"""Runs of HPCG of one's own."""

from math import log
from pathlib import Path

import pytest

from volvelle import DescriptionError
from volvelle.applications.hpcg.application import HPCG, PlanHpcg
from volvelle.applications.hpcg.constants import hpcg_factors
from volvelle.applications.hpcg.estimator import Hpcg, HpcgFactors, HpcgModel
from volvelle.applications.hpcg.own_runs import own_factors
from volvelle.applications.hpcg.plan import hpcg_layout
from volvelle.catalogue import Catalogue
from volvelle.interchange.logs.logged import Log, LoggedGradients

FACTORS = hpcg_factors("ponte-vecchio")


def learned(catalogue: Catalogue, *ratios: float, devices: int = 6, said: bool = True) -> HpcgFactors:
    """Factors after runs that are so much faster than predicted."""
    machine = catalogue.cluster(f"aurora/{devices}")
    rate = float(HpcgModel(factors=FACTORS).rate(machine, hpcg_layout(machine, FACTORS)))
    runs = tuple(
        LoggedGradients(line=place, ranks=devices if said else None, grid=None, flop_rate=ratio * rate)
        for place, ratio in enumerate(ratios, 1)
    )
    log_file = Log(file="mine.txt", tool="hpcg", digest="", gradients=runs)
    return own_factors(FACTORS, log_file, machine=lambda count: catalogue.cluster(f"aurora/{count}"))


def half_width(factors: HpcgFactors, catalogue: Catalogue) -> float:
    cluster = catalogue.cluster("aurora/4608")
    spread = HpcgModel(factors=factors).estimate(Hpcg(), cluster, hpcg_layout(cluster, factors)).ranges["rate"]
    return log(spread.high / spread.low) / 2.0


def test_own_runs_are_followed_most_of_the_way_and_more_of_them_further(catalogue: Catalogue) -> None:
    moved = [log(learned(catalogue, *[0.8] * count).solver.value / FACTORS.solver.value) / log(0.8) for count in (1, 3)]
    assert 0.9 < moved[0] < moved[1] <= 1.0


def test_own_runs_narrow_the_range_and_runs_that_disagree_widen_it_again(catalogue: Catalogue) -> None:
    alone, three = (half_width(learned(catalogue, *[0.9] * count), catalogue) for count in (1, 3))
    assert three <= alone < 0.12 < half_width(FACTORS, catalogue)
    apart = learned(catalogue, 0.7, 1.0)
    assert half_width(apart, catalogue) > alone
    assert "disagree" in apart.own


def test_a_run_further_off_than_machines_lie_apart_is_asked_about(catalogue: Catalogue) -> None:
    assert "is it the machine that is named" in learned(catalogue, 0.4).own


def test_a_log_that_does_not_say_its_ranks_asks_for_them(catalogue: Catalogue) -> None:
    with pytest.raises(DescriptionError, match="--run-devices"):
        learned(catalogue, 1.0, said=False)


def test_a_log_of_something_else_says_what_it_is(catalogue: Catalogue) -> None:
    log_file = Log(file="hpl.txt", tool="hpl", digest="")
    with pytest.raises(DescriptionError, match=r"hpl.txt has no run of HPCG .* it is of hpl"):
        own_factors(FACTORS, log_file, machine=lambda count: catalogue.cluster(f"aurora/{count}"))


def test_a_plan_takes_runs_and_says_so(tmp_path: Path, catalogue: Catalogue) -> None:
    report = tmp_path / "mine.txt"
    report.write_text(
        "Machine Summary::Distributed Processes=12\n"
        "Final Summary::HPCG result is VALID with a GFLOP/s rating of=1700.0\n"
    )
    cluster = catalogue.cluster("aurora/4608")
    alone = HPCG.space(cluster, catalogue, PlanHpcg(on=cluster))
    known = HPCG.space(cluster, catalogue, PlanHpcg(on=cluster, runs=str(report), run_devices=6))
    assert known.calibration.solver.value < alone.calibration.solver.value
    assert not alone.calibration.own
    assert "1 own run of mine.txt" in known.calibration.own
