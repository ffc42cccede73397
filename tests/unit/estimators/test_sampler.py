"""Columns of inputs: by name alone, evenly spread, the same wherever asked."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from volvelle.errors import DescriptionError
from volvelle.estimators.sampler import Sampler, Stratified
from volvelle.estimators.sobol_points import ScrambledSobol
from volvelle.spread import LogNormal, standard_normal

NAMES = [f"chip: number {place}" for place in range(20)]
SAMPLERS = pytest.mark.parametrize(
    "sampler", [Stratified(1024, 5), ScrambledSobol(1024, 5)], ids=lambda one: type(one).__name__
)


@SAMPLERS
def test_a_column_depends_on_its_name_and_the_seed_alone(sampler: Sampler) -> None:
    kind = type(sampler)
    columns = {name: sampler.column(name) for name in NAMES}
    backwards = Stratified(1024, 5) if kind is Stratified else ScrambledSobol(1024, 5, order=tuple(NAMES))
    assert all(np.array_equal(backwards.column(name), columns[name]) for name in reversed(NAMES))
    assert not np.array_equal(kind(1024, 6).column(NAMES[0]), columns[NAMES[0]])  # type: ignore[call-arg]
    assert np.array_equal(Stratified(1024, 5).column("alone"), Stratified(1024, 5).column("alone"))


@SAMPLERS
def test_two_threads_draw_the_same_digits_as_one(sampler: Sampler) -> None:
    for name in NAMES:
        sampler.column(name)
    with ThreadPoolExecutor(2) as pool:
        drawn = list(pool.map(sampler.column, NAMES))
    assert all(np.array_equal(column, sampler.column(name)) for name, column in zip(NAMES, drawn, strict=True))


@SAMPLERS
def test_every_slice_of_every_input_is_drawn_once_and_inputs_are_not_tied(sampler: Sampler) -> None:
    columns = np.array([sampler.column(name) for name in NAMES])
    assert all(len(set(np.floor(column * 1024).astype(int))) == 1024 for column in columns)
    assert float(np.abs(np.corrcoef(columns) - np.eye(len(NAMES))).max()) < 0.13


def test_sobol_points_scatter_less_over_seeds_than_stratified_ones() -> None:
    def scatter(kind: type[Stratified] | type[ScrambledSobol]) -> float:
        weights = [0.3, 0.1, 0.05, *[0.02] * 15]
        found = []
        for seed in range(12):
            sampler = kind(2048, seed)
            logs = sum(
                weight * standard_normal(sampler.column(name)) for weight, name in zip(weights, NAMES, strict=False)
            )
            found.append(np.quantile(np.exp(logs), [0.1, 0.9]))
        return float(np.std(found, axis=0).sum())

    assert scatter(ScrambledSobol) < 0.8 * scatter(Stratified)


def test_sobol_points_come_in_powers_of_two() -> None:
    with pytest.raises(DescriptionError, match="powers of two"):
        ScrambledSobol(1000)
    with pytest.raises(DescriptionError, match="at least 2"):
        Stratified(1)


def test_the_inverse_normal_is_that_of_the_standard_library_on_whole_columns() -> None:
    from statistics import NormalDist  # noqa: PLC0415

    shares = np.array([1e-12, 1e-9, 0.001, 0.0749, 0.0751, 0.3, 0.5, 0.9249, 0.9251, 0.99999, 1 - 1e-12])
    assert standard_normal(shares) == pytest.approx(
        [NormalDist().inv_cdf(share) for share in shares], rel=1e-14, abs=1e-15
    )
    assert standard_normal(np.array([0.0, 1.0])) == pytest.approx([-7.034, 7.034], abs=1e-3)
    assert LogNormal(2.0, 1.5).at(np.array([[0.5], [0.2]])).shape == (2, 1)


def test_an_input_more_leaves_stratified_columns_as_they_were_and_sobol_ones_before_it() -> None:
    for sampler in (Stratified(256), ScrambledSobol(256)):
        before = [sampler.column(name) for name in NAMES]
        sampler.column("one more")
        assert all(np.array_equal(sampler.column(name), column) for name, column in zip(NAMES, before, strict=True))
