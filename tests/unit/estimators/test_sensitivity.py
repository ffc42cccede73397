"""Sobol indices against a function that has them in closed form, and against another program."""

from collections.abc import Callable

import numpy as np
import pytest

from volvelle.estimators.sampler import Column, Sampler, Stratified
from volvelle.estimators.sensitivity import sobol_indices
from volvelle.estimators.sobol_points import ScrambledSobol

A, B = 7.0, 0.1


def ishigami(x: Column, y: Column, z: Column) -> Column:
    return np.asarray(np.sin(x) + A * np.sin(y) ** 2 + B * z**4 * np.sin(x))


def drawn(function: Callable[..., Column], names: str) -> Callable[[Sampler], Column]:
    return lambda sampler: function(*(np.pi * (2.0 * sampler.column(name) - 1.0) for name in names))


def test_indices_of_the_ishigami_function_are_those_of_its_closed_form() -> None:
    found, variance = sobol_indices(drawn(ishigami, "xyz"), "xyz", ScrambledSobol(2**14))
    first = 0.5 * (1 + B * np.pi**4 / 5) ** 2
    second, both = A**2 / 8, B**2 * np.pi**8 * (1 / 18 - 1 / 50)
    whole = first + second + both
    assert variance == pytest.approx(whole, rel=0.01)
    assert [found[name].alone for name in "xyz"] == pytest.approx([first / whole, second / whole, 0.0], abs=0.01)
    assert [found[name].total for name in "xyz"] == pytest.approx(
        [(first + both) / whole, second / whole, both / whole], abs=0.01
    )


def test_indices_are_those_of_scipy() -> None:
    from scipy.stats import sobol_indices as theirs  # noqa: PLC0415
    from scipy.stats import uniform  # noqa: PLC0415

    def product(*columns: Column) -> Column:
        return np.asarray(np.prod([1.0 + (place + 1) * column / 9.0 for place, column in enumerate(columns)], axis=0))

    spans = [uniform(loc=-np.pi, scale=2 * np.pi)] * 4
    told = theirs(func=lambda x: product(*x), n=2**12, dists=spans, rng=np.random.default_rng(1))
    found, _ = sobol_indices(drawn(product, "abcd"), "abcd", ScrambledSobol(2**12))
    assert [found[name].alone for name in "abcd"] == pytest.approx(told.first_order, abs=0.02)
    assert [found[name].total for name in "abcd"] == pytest.approx(told.total_order, abs=0.02)


def test_an_input_that_nothing_rests_on_brings_nothing_and_no_doubt_is_no_share() -> None:
    found, _ = sobol_indices(lambda sampler: sampler.column("one"), ("one", "other"), Stratified(256))
    assert found["other"].alone == found["other"].total == 0.0
    assert found["one"].total == pytest.approx(1.0, abs=0.1)
    nothing, variance = sobol_indices(lambda sampler: np.zeros(64), ("one",), Stratified(64))
    assert (variance, nothing["one"].total) == (0.0, 0.0)
