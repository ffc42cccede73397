"""What brings the doubt of a step, and what measuring it would leave."""

import pytest

from volvelle.catalogue.benchmarks_to_run import benchmark_for
from volvelle.errors import DescriptionError
from volvelle.estimators.calibration import CONSTANTS, ERRORS
from volvelle.verbs.why_unsure import MODEL, WhyUnsure, why_unsure


@pytest.fixture(scope="module")
def found() -> WhyUnsure:
    return why_unsure("llama3-405b", on="dgx-h100/2048", batch=2048, tensor=8, pipeline=16, zero=1, samples=1024)


def test_the_error_of_the_model_leads_all_and_matrix_efficiency_the_inputs(found: WhyUnsure) -> None:
    model, first = found.shares[:2]
    assert model.input == MODEL
    assert model.total > 0.5
    assert first.input == "h100-sxm: matrix efficiency"
    assert first.total / (1.0 - model.total) == pytest.approx(0.83, abs=0.06)


def test_measuring_what_brings_more_leaves_a_narrower_range(found: WhyUnsure) -> None:
    inputs = [one for one in found.shares if one.input != MODEL]
    after = [one.half_width_after for one in inputs]
    assert after == sorted(after)
    assert all(one.half_width_after <= found.half_width for one in found.shares)
    assert sum(one.first_order for one in found.shares) == pytest.approx(1.0, abs=0.05)


def test_between_two_layouts_their_own_errors_lead_and_the_chance_follows_the_lead() -> None:
    asked = {"on": "dgx-h100/64", "batch": 128, "zero": 3, "samples": 256}
    found = why_unsure("llama3-8b", against="tp2 zero3", **asked)  # type: ignore[arg-type]
    assert found.shares[0].input == "errors of the two layouts"
    assert found.ratio is not None
    assert found.chance is not None
    assert (found.ratio > 1.0) == (found.chance > 0.5)
    other = why_unsure("llama3-8b", against="zero3", **{**asked, "tensor": 2})  # type: ignore[arg-type]
    assert other.chance == pytest.approx(1.0 - found.chance, abs=0.02)


def test_sobol_points_are_asked_for_in_powers_of_two() -> None:
    with pytest.raises(DescriptionError, match="powers of two"):
        why_unsure("llama3-8b", on="dgx-h100/8", batch=64, zero=3, samples=1000)


def test_every_constant_that_is_fitted_has_a_benchmark_that_tells_it() -> None:
    unmeasured = {"sustained_clock", "memory_margin", *ERRORS}
    missing = [name for name in CONSTANTS if benchmark_for(f"chip: {name.replace('_', ' ')} (bf16)") is None]
    assert set(missing) == unmeasured
