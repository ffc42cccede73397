"""Linpack in mixed precision: what its parts are made of, and what may not make it faster or slower."""

import hashlib
from dataclasses import replace

import pytest

from volvelle import OutsideDomainError
from volvelle.applications.hpl_mxp.application import HPL_MXP
from volvelle.applications.hpl_mxp.constants import mxp_constants, mxp_families, shared_constants
from volvelle.applications.hpl_mxp.estimator import FACTORS, MixedPrecisionHpl, MxpEstimate
from volvelle.applications.hpl_mxp.fit import fit_mxp, stated_rate
from volvelle.applications.hpl_mxp.rows import mxp_measurements
from volvelle.applications.measured_table import calibration_rows
from volvelle.applications.validation import validate
from volvelle.catalogue import Catalogue
from volvelle.laws.hpl.closed_form import hpl_work
from volvelle.laws.hpl.refinement import refinement_time
from volvelle.mapping.process_grid import ProcessGrid
from volvelle.workload.families.hpl import Hpl

CATALOGUE = Catalogue()
GRID = ProcessGrid.for_nodes(2, 4, node=8)


def run(order: int = 400_000, *, kept: str = "device", element: str = "fp16", **changed: float) -> MxpEstimate:
    constants = replace(mxp_constants("cdna2"), kept=kept, **changed)  # type: ignore[arg-type]
    problem = Hpl(name="run", order=order, block=2048, element=element)
    return MixedPrecisionHpl(constants=constants).estimate(problem, CATALOGUE.cluster("dgx-h200/8"), GRID)


def test_factorisation_and_refinement_are_the_whole_run() -> None:
    estimate = run()
    assert estimate.time == pytest.approx(estimate.facts["factorisation"] + estimate.facts["refinement"])
    assert estimate.rate == pytest.approx(float(hpl_work(400_000.0)) / estimate.time)


def test_the_factorisation_is_no_faster_than_its_products() -> None:
    estimate = run(efficiency=0.5)
    assert estimate.work / estimate.facts["factorisation"] < 0.5 * 8 * 989e12


def test_a_matrix_in_host_memory_slows_refinement_and_nothing_else() -> None:
    kept, device, again = (run(kept=kept) for kept in ("host", "device", "regenerated"))
    assert kept.facts["refinement"] > device.facts["refinement"] > again.facts["refinement"]
    assert kept.facts["factorisation"] == pytest.approx(again.facts["factorisation"])
    assert (kept.facts["in_host_memory"], again.facts["in_host_memory"]) == (1.0, 0.0)


def test_fewer_bits_are_faster_and_a_larger_matrix_has_a_higher_rate() -> None:
    assert run(element="fp8").rate > run().rate
    assert run(kept="regenerated").rate > run(200_000, kept="regenerated").rate


def test_refinement_adds_up_its_reads_and_its_columns() -> None:
    asked = {"iterations": 2.0, "memory": 1e12, "host": 1e10, "word": FACTORS}
    reads = refinement_time(1e5, 4.0, spilled=0.0, column=0.0, **asked)
    assert reads == pytest.approx(2.0 * 12.0 * 1e10 / 4.0 / 1e12)
    spilled = refinement_time(1e5, 4.0, spilled=1.0, column=0.0, **asked)
    assert spilled - reads == pytest.approx(2.0 * 8.0 * 1e10 / 4.0 * (1e-10 - 1e-12))
    columns = refinement_time(1e5, 4.0, spilled=0.0, column=1e-6, **asked)
    assert columns - reads == pytest.approx(2.0 * 2.0 * 1e5 * 1e-6)


def test_factors_that_do_not_fit_are_refused_with_their_size() -> None:
    with pytest.raises(OutsideDomainError, match="the factors of a matrix"):
        run(700_000)


def test_rows_are_split_by_the_hash_of_their_system() -> None:
    for row in mxp_measurements().rows:
        odd = int(hashlib.sha256(row.system.lower().encode()).hexdigest(), 16) % 2
        assert row.head.split == ("excluded" if row.head.excluded_because else "heldout" if odd else "calibration")


def test_the_constants_are_those_that_the_fit_finds() -> None:
    fit = fit_mxp(calibration_rows(mxp_measurements(), shipped=True), CATALOGUE)
    found = {(each.of, each.name): each.fitted for each in fit.constants}
    for name, held in shared_constants().items():
        assert found["all", name] == pytest.approx(held, rel=0.01)
    assert {of for of, _ in found} - {"all"} == set(mxp_families())
    for family, held in mxp_families().items():
        assert found[family, "share of the peak"] == pytest.approx(held, rel=0.01)


def test_a_row_that_states_its_factorisation_is_held_against_that() -> None:
    row = next(row for row in mxp_measurements().rows if row.figure == "factorisation")
    estimate = run()
    assert stated_rate(row, estimate) == pytest.approx(estimate.work / estimate.facts["factorisation"])
    assert HPL_MXP.predicted(row, estimate).value == pytest.approx(stated_rate(row, estimate))


def test_few_held_out_systems_are_said_and_no_accuracy_is_claimed() -> None:
    validation = validate(HPL_MXP)
    told = next(iter(HPL_MXP.findings(validation)))
    systems = {row.within["system"] for row in validation.rows if row.head.split == "heldout"}
    assert told.value == {"systems": sorted(systems), "enough": len(systems) >= 8}
    assert "no accuracy is claimed" in told.lines[0]
