"""Axes, expressions and slices of a study: the same points whoever evaluates them, and however they are cut."""

from collections.abc import Mapping
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("duckdb")

import duckdb

from tests.sweeps import QUICK, SEARCHED, study
from volvelle.errors import DescriptionError
from volvelle.estimators.training.closed_form import ClosedForm
from volvelle.search.exhaustive import search
from volvelle.studies.design_space.axes import Axis, Grid
from volvelle.studies.design_space.evaluate import REASONS, Evaluator, Slice
from volvelle.studies.design_space.expressions import Expression
from volvelle.studies.design_space.fields import with_values
from volvelle.studies.design_space.layout_policy import layout_space
from volvelle.workload.families.transformer import transformer
from volvelle.workload.training import TrainingStep

LENGTHS = st.lists(st.integers(1, 9), min_size=1, max_size=4)


def grid(lengths: list[int], *, seed: int = 0, samples: int | None = None) -> Grid:
    axes = tuple(
        Axis(name=f"axis-{place}", columns={f"field-{place}": tuple(float(value) for value in range(length))})
        for place, length in enumerate(lengths)
    )
    return Grid(axes=axes, seed=seed, samples=samples)


@given(lengths=LENGTHS, seed=st.integers(0, 2**32))
def test_drawing_points_repeats_none_and_misses_none(lengths: list[int], seed: int) -> None:
    count = prod(lengths)
    nearly_all = grid(lengths, seed=seed, samples=max(1, count - 1))
    drawn = nearly_all.numbers(0, count)  # one more row than the samples: the renumbering itself is one-to-one

    assert sorted(drawn.tolist()) == list(range(count))


@given(lengths=LENGTHS, seed=st.integers(0, 99), cuts=st.lists(st.integers(0, 200), max_size=5))
def test_a_row_is_the_same_point_however_rows_are_cut(lengths: list[int], seed: int, cuts: list[int]) -> None:
    whole = grid(lengths, seed=seed, samples=max(1, prod(lengths) // 2))
    ends = sorted({0, len(whole), *(min(cut, len(whole)) for cut in cuts)})

    pieces = [whole.numbers(start, stop) for start, stop in pairwise(ends)]

    assert np.concatenate(pieces).tolist() == whole.numbers(0, len(whole)).tolist()


@given(lengths=LENGTHS)
def test_positions_and_numbers_are_each_others_inverse(lengths: list[int]) -> None:
    whole = grid(lengths)
    numbers = whole.numbers(0, len(whole))
    positions = whole.positions(numbers)

    found = [whole.number(row) for row in zip(*(places.tolist() for places in positions.values()), strict=True)]

    assert found == numbers.tolist()


def test_other_seeds_draw_other_points() -> None:
    first, second = (grid([100, 100], seed=seed, samples=50).numbers(0, 50).tolist() for seed in (1, 2))

    assert first != second


def joined(pieces: list[Slice]) -> dict[str, Any]:
    columns = {name: np.concatenate([piece.columns[name] for piece in pieces]) for name in pieces[0].columns}
    numbers = np.concatenate([piece.numbers for piece in pieces])
    return {"point": numbers, "reason": np.concatenate([piece.reason for piece in pieces]), **columns}


def same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """To the last bit; what is not a number is in the same places."""
    return one.keys() == other.keys() and all(one[name].tobytes() == other[name].tobytes() for name in one)


SLICED = Evaluator(study=study(QUICK, samples=120, seed=5))
SLICED_WHOLE = joined([SLICED.rows(0, 120)])
SMALL_SEARCH = {
    **SEARCHED,
    "axes": {
        "accelerators": [512, 1024],
        "chip.memory.rate": {"times": [0.5, 1.0, 2.0]},
        "chip.memory.capacity": ["30 GB", "80 GB", "160 GB"],
    },
}
SEARCHING = Evaluator(study=study(SMALL_SEARCH))
SEARCHING_WHOLE = joined([SEARCHING.rows(0, 18)])


@given(cuts=st.lists(st.integers(1, 119), max_size=6))
@settings(max_examples=25)
def test_rows_do_not_depend_on_how_they_are_cut(cuts: list[int]) -> None:
    ends = sorted({0, 120, *cuts})

    pieces = [SLICED.rows(start, stop) for start, stop in pairwise(ends)]

    assert same(joined(pieces), SLICED_WHOLE)


@given(cuts=st.lists(st.integers(1, 17), max_size=4))
@settings(max_examples=8)
def test_rows_with_a_search_each_do_not_depend_on_how_they_are_cut(cuts: list[int]) -> None:
    ends = sorted({0, 18, *cuts})

    pieces = [SEARCHING.rows(start, stop) for start, stop in pairwise(ends)]

    assert same(joined(pieces), SEARCHING_WHOLE)


def test_the_best_layout_of_a_point_is_that_of_an_exhaustive_search() -> None:
    asked = SEARCHING.study
    shape = asked.catalogue.model("gpt3-175b")
    step = TrainingStep(model=transformer(shape, sequence=shape.sequence), batch=1536, element="bf16")
    space = layout_space(asked.form.mapping.choices)
    whole = SEARCHING.rows(0, 18)
    axes = {axis.name: axis for axis in asked.axes}

    for row in range(18):
        chosen = {name: axes[name].columns[name][whole.positions[name][row]] for name in axes}
        cluster = asked.catalogue.cluster(f"dgx-a100/{chosen.pop('accelerators')}")
        cluster = with_values(cluster, {name: float(value) for name, value in chosen.items()})
        best = search(space, step, cluster, ClosedForm(), top=1).best
        assert bool(best) == bool(whole.feasible[row])
        if best:
            assert whole.columns["time"][row] == best[0].time
            assert whole.columns["memory"][row] == pytest.approx(best[0].memory)
        else:
            assert REASONS[whole.reason[row]] in ("memory", "layout")


def test_linked_fields_move_together_as_one_axis() -> None:
    pair = {"linked": {"chip.memory.rate": ["2 TB/s", "4 TB/s"], "chip.memory.capacity": ["80 GB", "160 GB"]}}
    apart = study(QUICK, axes={"chip.memory.rate": ["2 TB/s", "4 TB/s"], "chip.memory.capacity": ["80 GB", "160 GB"]})
    together = study(QUICK, axes={"memory": pair})

    rows, corners = Evaluator(study=together).rows(0, 2), Evaluator(study=apart).points(np.array([0, 3]))

    assert len(together.grid) == 2
    assert rows.columns["time"].tolist() == corners.columns["time"].tolist()


def test_linked_fields_need_as_many_values_each() -> None:
    pair = {"linked": {"chip.memory.rate": ["2 TB/s", "4 TB/s"], "chip.memory.capacity": ["80 GB"]}}

    with pytest.raises(DescriptionError, match=r"chip.memory.rate has 2, chip.memory.capacity has 1"):
        study(QUICK, axes={"memory": pair})


@pytest.mark.parametrize(
    "text",
    [
        "days + 2 * mfu",
        "-days ** 2 / mfu",
        "2 ** 3 ** 2 - days",
        "max(days, 3) + min(days, mfu)",
        "sqrt(days) + log2(mfu) + log(days) + exp(mfu) + ceil(days) - floor(mfu) + abs(-days)",
        "days < 3",
        "not days < 3 and mfu > 0.3 or days == 5",
        "1 < days <= 5",
        "chip.memory.rate <= 2 TB/s",
        "chip.memory.rate / 1 TB/s > days",
    ],
)
def test_an_expression_is_worth_the_same_here_and_in_sql(text: str) -> None:
    names = {
        "days": np.array([1.0, 2.5, 5.0, 7.25]),
        "mfu": np.array([0.25, 0.5, 0.125, 0.4]),
        "chip.memory.rate": np.array([1e12, 2e12, 3e12, 4e12]),
    }
    expression = Expression(text)
    points = zip(*(column.tolist() for column in names.values()), strict=True)
    rows = ", ".join(f"({', '.join(f'{value!r}::DOUBLE' for value in point)})" for point in points)
    listed = ", ".join(f'"{name}"' for name in names)

    here = np.broadcast_to(expression.value(names), (4,))
    there = duckdb.sql(f"SELECT {expression.sql()} FROM (VALUES {rows}) AS points({listed})").fetchall()

    assert here.tolist() == pytest.approx([row[0] for row in there], rel=1e-15)


def test_words_in_quotes_are_left_as_they_are() -> None:
    for word in ("torus-3d", "pcie-4.0", "10 GB"):
        expression = Expression(f"scale_out.topology == '{word}' and chip.memory.rate >= 2 TB/s")
        wanted = f"""(("scale_out.topology" = '{word}') AND ("chip.memory.rate" >= 2000000000000.0))"""
        assert expression.sql() == wanted


@pytest.mark.parametrize("text", ["days +", "__import__('os')", "days.__class__()", "[1, 2]", "lambda: 1"])
def test_what_is_no_expression_is_refused(text: str) -> None:
    with pytest.raises(DescriptionError):
        Expression(text)


def test_software_is_a_setting_of_a_study_or_an_axis_of_it() -> None:
    asked: dict[str, Any] = {
        **QUICK,
        "system": "dgx-h100/512",
        "axes": {"accelerators": [512]},
        "mapping": {"policy": "fixed", "tensor": 8, "pipeline": 8, "micro_batch": 1},
    }
    names = ("nemo", "fsdp", "torchtitan")
    alone = [Evaluator(study=study(asked, stack=name)).rows(0, 1).columns["days"][0] for name in names]
    axis = Evaluator(study=study(asked, axes={"stack": list(names)})).rows(0, 3)
    assert axis.columns["days"].tolist() == pytest.approx(alone)
    assert len(set(alone)) == len(names)
    usual = Evaluator(study=study(asked)).rows(0, 1).columns["days"][0]
    assert usual == alone[0]
    with pytest.raises(DescriptionError, match="software stack"):
        Evaluator(study=study(asked, stack="nemoo")).rows(0, 1)
