"""How far a model may be off: by rows left out of its fit, and outside what was fitted."""

import numpy as np
import pytest

from volvelle import Catalogue
from volvelle.applications.cross_validation import by_size, by_value, cross_validated, groups_error, rows_error
from volvelle.applications.model_error import ModelError
from volvelle.laws.model_error import combined_doubt, covering_error, few_groups_deviation
from volvelle.spread import standard_normal

DOUBT = ModelError(inside=1.1, chip=1.2, doubling=1.15, link=1.5, chips=("h100-sxm",), counts=(4, 8), links=("nvlink",))


def test_the_covering_error_counts_the_row_to_come() -> None:
    errors = np.array([0.1, -0.2, 0.3, -0.4])
    assert covering_error(errors, np.ones(4), level=0.5) == pytest.approx(0.3)
    assert covering_error(errors, np.ones(4), level=0.8) == pytest.approx(0.4)
    assert covering_error(errors[:2], np.ones(2), level=0.8) == pytest.approx(0.2), "too few: the largest"


def test_the_covering_error_holds_four_fifths_of_new_rows() -> None:
    generator = np.random.default_rng(0)
    held = [
        abs(row[-1]) <= covering_error(row[:-1], np.ones(19), level=0.8) for row in generator.normal(size=(4000, 20))
    ]
    assert np.mean(held) == pytest.approx(0.8, abs=0.02)


def test_few_groups_are_doubted_by_students_factor() -> None:
    generator = np.random.default_rng(0)
    for groups in (1, 2, 4):
        draws = generator.normal(size=(8000, groups + 1))
        reach = np.array([float(standard_normal(0.9)) * few_groups_deviation(row[:-1]) for row in draws])
        assert np.mean(np.abs(draws[:, -1]) <= reach) == pytest.approx(0.8, abs=0.02)


def test_doubts_combine_as_independent_ones() -> None:
    assert combined_doubt(1.1, []) == pytest.approx(1.1)
    assert combined_doubt(1.0, [(1.2, 1.0)]) == pytest.approx(1.2)
    assert np.log(combined_doubt(1.0, [(1.2, 4.0)])) == pytest.approx(2 * np.log(1.2))


def test_a_range_is_wider_on_machines_unlike_those_fitted(catalogue: Catalogue) -> None:
    like = catalogue.cluster("dgx-h100/8")
    assert DOUBT.on(like) == pytest.approx(1.1)
    assert DOUBT.outside(like) == ()
    several, more = catalogue.cluster("dgx-h100/16"), catalogue.cluster("dgx-h100/64")
    assert DOUBT.on(like) < DOUBT.on(several) < DOUBT.on(more)
    assert any("infiniband" in words for words in DOUBT.outside(several))
    other = catalogue.cluster("dgx-b200/8")
    assert DOUBT.outside(other) == ("no fitted run was on b200",)
    assert DOUBT.on(other) > DOUBT.on(like)
    assert "4 to 8 chips, not 1" in DOUBT.outside(catalogue.cluster("dgx-h100/1"))[0]


def test_every_group_is_predicted_without_itself() -> None:
    cases = [("a", 1.0), ("a", 1.2), ("b", 2.0)]

    def score(rest: object, out: object) -> list[float]:
        mean = np.mean([value for _, value in rest])  # type: ignore[attr-defined]
        return [mean - value for _, value in out]  # type: ignore[attr-defined]

    found = cross_validated(cases, by_value(cases, lambda case: case[0]), score)
    assert found == [pytest.approx([1.0, 0.8]), pytest.approx([-0.9])]
    assert rows_error(found) == pytest.approx(np.exp(1.0 / float(standard_normal(0.9))))
    assert rows_error([]) == groups_error([]) == 1.0


def test_sizes_are_left_out_a_doubling_at_a_time() -> None:
    large, small = by_size([2, 4, 8, 12, 16], float)
    assert [size for size in (2, 4, 8, 12, 16) if large(size)] == [12, 16]
    assert [size for size in (2, 4, 8, 12, 16) if small(size)] == [2]
