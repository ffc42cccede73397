"""The streamed front is the front that comparing everything with everything finds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

pytest.importorskip("duckdb")

from volvelle.studies.answers.pareto import FrontSoFar

ROWS = st.integers(1, 4).flatmap(
    lambda columns: st.lists(st.tuples(*(st.integers(0, 6) for _ in range(columns))), min_size=1, max_size=80)
)


def brute(values: NDArray[np.float64]) -> dict[tuple[float, ...], tuple[int, int]]:
    """Values of the front → lowest number that has them, and how many do."""
    found: dict[tuple[float, ...], tuple[int, int]] = {}
    for number, row in enumerate(values):
        beaten = ((values <= row).all(axis=1) & (values < row).any(axis=1)).any()
        if not beaten:
            first, count = found.get(tuple(row), (number, 0))
            found[tuple(row)] = (first, count + 1)
    return found


def streamed(values: NDArray[np.float64], order: NDArray[np.intp], cuts: int) -> FrontSoFar:
    front = FrontSoFar(columns=values.shape[1])
    for part in np.array_split(order, cuts):
        front.add(values[part], part.astype(np.int64))
    return front


def as_found(front: FrontSoFar) -> dict[tuple[float, ...], tuple[int, int]]:
    kept = zip(front.values, front.numbers, front.counts, strict=True)
    return {tuple(row): (int(number), int(count)) for row, number, count in kept}


@given(rows=ROWS, cuts=st.integers(1, 5), seed=st.integers(0, 99))
def test_the_front_ties_and_lowest_numbers_are_those_of_brute_force(
    rows: list[tuple[int, ...]], cuts: int, seed: int
) -> None:
    values = np.array(rows, dtype=float)
    order = np.random.default_rng(seed).permutation(len(values))
    assert as_found(streamed(values, order, cuts)) == brute(values)


@pytest.mark.parametrize("columns", [1, 2, 3, 4])
def test_long_batches_are_thinned_before_they_are_sorted_and_nothing_is_lost(columns: int) -> None:
    generator = np.random.default_rng(columns)
    values = generator.random((40_000, columns)).round(3)
    order = np.arange(len(values))
    whole, parts = streamed(values, order, 1), streamed(values, order, 37)
    assert as_found(whole) == as_found(parts)
    front = whole.values
    for row in values[:500]:
        covered = (front <= row).all(axis=1).any()
        assert covered
    for row in front:
        assert not ((values <= row).all(axis=1) & (values < row).any(axis=1)).any()


def test_rows_that_are_not_numbers_do_not_count() -> None:
    front = FrontSoFar(columns=2)
    front.add(np.array([[np.nan, 0.0], [1.0, 1.0], [0.0, np.inf]]), np.array([0, 1, 2]))
    assert front.numbers.tolist() == [1]
    assert front.considered == 1
