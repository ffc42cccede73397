"""Forms over the rank count are the simplest that fit."""

import pytest

from volvelle.workload.message_passing.scaling.forms import exact_form, grid_sides, time_form, total_form


@pytest.mark.parametrize(
    ("ranks", "dimensions", "sides"),
    [
        (4, 2, (2, 2)),
        (8, 2, (4, 2)),
        (32, 2, (8, 4)),
        (7, 2, (7, 1)),
        (8, 3, (2, 2, 2)),
        (4000, 2, (80, 50)),
        (1, 3, (1, 1, 1)),
    ],
)
def test_sides_of_a_grid_are_those_of_mpi_dims_create(ranks: int, dimensions: int, sides: tuple[int, ...]) -> None:
    assert grid_sides(ranks, dimensions) == sides


@pytest.mark.parametrize(
    ("values", "said", "at_32"),
    [
        ({4: 5, 8: 5, 16: 5}, "5", 5),
        ({4: 3, 8: 7, 16: 15}, "P - 1", 31),
        ({4: 512, 8: 256, 16: 128}, "2048 × 1/P", 64),
        ({4: 2, 8: 3, 16: 4}, "log2 P", 5),
        ({4: 100, 8: 50, 16: 50}, "200 × 1/p1", 25),
        ({4: 18, 8: 26, 16: 42}, "10 + 2 × P", 74),
    ],
)
def test_the_simplest_form_that_is_exact_is_taken(values: dict[int, int], said: str, at_32: int) -> None:
    form = exact_form(values)
    assert form is not None
    assert (str(form), round(form(32))) == (said, at_32)


def test_numbers_of_no_form_have_none() -> None:
    assert exact_form({4: 17, 8: 3, 16: 90}) is None


def test_times_that_are_about_one_are_a_constant_and_others_fall_or_grow() -> None:
    assert time_form({4: 1.0, 8: 1.05, 16: 0.98})(1000) == pytest.approx(1.01, rel=0.01)
    assert time_form({4: 8.0, 8: 2.0, 16: 0.5})(32) == pytest.approx(0.125)
    assert time_form({4: 3.0, 8: 5.0, 16: 9.0})(32) == pytest.approx(17.0)
    assert time_form({4: 0.0, 8: 0.0})(32) == 0.0


def test_totals_are_the_same_of_every_rank_or_those_of_a_plane() -> None:
    assert total_form({4: 24.0, 8: 48.0, 16: 96.0})(4000) == pytest.approx(24_000)
    touching = {4: 12.0, 8: 32.0, 16: 84.0}  # eight neighbours of a square, fewer at the edge
    assert total_form(touching)(32) == pytest.approx(188, rel=0.05)
