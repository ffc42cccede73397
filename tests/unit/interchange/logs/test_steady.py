"""Steady steps: the start, checkpoints and evaluations are left out, stragglers do not move the middle."""

import pytest

from volvelle.interchange.logs.steady import steady_steps


def steady(seconds: list[float], *, interval: int = 1, begins: bool = True, disturbed: set[int] = frozenset()):  # type: ignore[assignment,no-untyped-def]
    steps = [interval * (place + 1) for place in range(len(seconds))]
    return steady_steps(
        seconds,
        steps,
        list(range(len(seconds))),
        disturbed=[place in disturbed for place in range(len(seconds))],
        begins=begins,
    )


def test_the_first_five_steps_or_a_tenth_are_left_out() -> None:
    assert steady([1.0] * 20).started == 5
    assert steady([1.0] * 200).started == 20
    assert steady([1.0] * 5) is None


def test_a_mean_over_an_interval_is_left_out_where_a_step_of_the_start_is_in_it() -> None:
    found = steady([9.0] + [1.0] * 4, interval=10)
    assert (found.started, found.steps, found.seconds) == (1, 40, 1.0)


def test_a_straggler_is_told_and_does_not_move_the_middle() -> None:
    found = steady([1.0] * 10 + [30.0] + [1.0] * 10)
    assert found.seconds == 1.0
    assert found.outliers == (10,)


def test_a_step_beside_a_checkpoint_is_left_out() -> None:
    found = steady([1.0] * 10 + [1.5] + [1.0] * 10, disturbed={10})
    assert (found.beside, found.outliers) == (1, ())


def test_the_spread_is_the_interquartile_range() -> None:
    found = steady([0.0] * 5 + [1.0, 2.0, 3.0, 4.0, 5.0])
    assert found.spread == pytest.approx(2.0 / 3.0)
