"""Answers from results on disk are those that evaluating every point by hand gives."""

from pathlib import Path

import numpy as np
import pytest

from tests.small_studies import best_layouts, finished, small_study
from volvelle.errors import DescriptionError, UnknownNameError
from volvelle.studies.answers.answers import Answers, answer
from volvelle.studies.answers.best import best_by_facet, best_design
from volvelle.studies.answers.break_even import break_even
from volvelle.studies.answers.grids import facet_grids
from volvelle.studies.answers.invert import invert, requirement_of
from volvelle.studies.answers.pareto import pareto_front
from volvelle.studies.answers.pivot import pivot, profile, spread_of
from volvelle.studies.answers.sensitivity import sensitivity, steps, tornado
from volvelle.studies.design_space.design_study import DesignStudy
from volvelle.studies.design_space.evaluate import Evaluator
from volvelle.studies.design_space.expressions import Expression
from volvelle.studies.design_space.points import Slice
from volvelle.studies.sweep.manifest import Results
from volvelle.studies.sweep.query import Query


@pytest.fixture(scope="module")
def study() -> DesignStudy:
    return small_study()


@pytest.fixture(scope="module")
def results(study: DesignStudy, tmp_path_factory: pytest.TempPathFactory) -> Results:
    return finished(study, tmp_path_factory.mktemp("answers") / "results")


@pytest.fixture(scope="module")
def evaluator(study: DesignStudy) -> Evaluator:
    return Evaluator(study=study)


@pytest.fixture(scope="module")
def every(evaluator: Evaluator) -> Slice:
    return evaluator.rows(0, len(evaluator.study.grid))


@pytest.fixture(scope="module")
def met(every: Slice) -> np.ndarray:  # type: ignore[type-arg]
    return every.feasible & (every.columns["power"] <= 1.2e6)


@pytest.fixture(scope="module")
def gathered(results: Results, study: DesignStudy) -> Answers:
    return answer(results, study, seconds=2.0)


# -- the best and the front --------------------------------------------------------------------------------------


def test_the_best_design_is_the_first_of_the_points_with_the_least_days(results, study, every, met) -> None:  # type: ignore[no-untyped-def]
    with Query(results) as query:
        best = best_design(query, study)
    least = every.columns["days"][met].min()
    equal = np.flatnonzero(met & (every.columns["days"] == least))
    cheapest = min(equal, key=lambda row: (every.columns["machine_usd"][row], row))
    assert best.design is not None
    assert best.design.measures["days"] == least
    assert best.design.number == cheapest
    assert (best.considered, best.ties) == (met.sum(), len(equal) - 1)


def test_the_front_on_disk_is_that_of_brute_force(results, study, every, met) -> None:  # type: ignore[no-untyped-def]
    values = np.column_stack([every.columns["days"], every.columns["machine_usd"]])[met]
    beaten = [((values <= row).all(axis=1) & (values < row).any(axis=1)).any() for row in values]
    with Query(results) as query:
        front = pareto_front(query, study)
    wanted = {tuple(row) for row, out in zip(values, beaten, strict=True) if not out}
    assert {tuple(row) for row in front.values} == wanted
    assert [design.number for design in front.designs] == front.numbers.tolist()
    assert front.considered == met.sum()
    assert (np.diff(front.values[:, 0]) > 0).all()


def test_a_front_of_five_objectives_is_refused(results, study) -> None:  # type: ignore[no-untyped-def]
    with Query(results) as query, pytest.raises(DescriptionError, match="one to 4 objectives"):
        pareto_front(query, study, objectives=study.objectives * 3)


def test_where_nothing_meets_the_constraints_the_answer_says_by_how_much(study, results) -> None:  # type: ignore[no-untyped-def]
    best = invert(results, study, "days <= 3 and run_usd <= 1e9 and least power").best
    assert best.design is None
    assert best.unmet is not None
    by_name = {one.text: one for one in best.unmet.shortfalls}
    assert by_name["days <= 3"].failing == best.unmet.runs
    assert by_name["run_usd <= 1e9"].failing == 0
    assert by_name["days <= 3"].reached is not None
    assert by_name["days <= 3"].reached > 3
    assert best.unmet.nearest is not None
    assert best.unmet.miss == pytest.approx(best.unmet.nearest.measures["days"] / 3 - 1)
    assert any("relaxed by" in cure for cure in best.unmet.cures)
    assert best.unmet.reasons == {"memory": 24}


def test_where_nothing_runs_the_answer_gives_reasons_and_cures(tmp_path: Path) -> None:
    study = small_study(axes={"chip.memory.capacity": ["4 GB", "8 GB"]})
    found = answer(finished(study, tmp_path / "results"), study)
    assert found.best.design is None
    assert found.local is None
    assert found.best.unmet is not None
    assert found.best.unmet.reasons == {"memory": 2}
    assert any("chip.memory.capacity" in cure for cure in found.best.unmet.cures)
    assert len(found.front) == 0


def test_a_facet_is_answered_value_by_value(tmp_path: Path) -> None:
    study = small_study(facet="accelerators")
    results = finished(study, tmp_path / "results")
    with Query(results) as query:
        found = dict(best_by_facet(query, study))
    assert set(found) == {512, 1024}
    for chips, best in found.items():
        wanted = invert(results, study, f"accelerators == {chips} and least days").best
        assert best.design == wanted.design
        assert best.considered == wanted.considered


def test_every_point_of_a_facet_is_on_its_map(tmp_path: Path) -> None:
    axes = {
        "accelerators": [512, 1024],
        "chip.memory.rate": {"times": [1, 2, 4]},
        "scale_out.rate": {"times": [1, 2]},
        "scale_up.rate": {"times": [1, 2]},
    }
    study = small_study(facet="accelerators", axes=axes, constraints=[])
    with Query(finished(study, tmp_path / "results")) as query:
        found = facet_grids(query, study)
        rows = query.rows("SELECT * FROM points")
    assert [grid.value for grid in found] == [512, 1024]
    for grid in found:
        assert [*map(len, grid.down), len(grid.groups or []), *map(len, grid.within)] == [3, 2, 2]  # type: ignore[arg-type]
        for goal, values in grid.panels:
            mine = sorted(row[goal.name] for row in rows if row["accelerators"] == grid.value)
            assert sorted(values.ravel().tolist()) == mine


# -- from a requirement to a machine ------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["days <= 60 and machine_usd minimal", "least machine_usd, days<=60"])
def test_inversion_finds_the_cheapest_that_is_fast_enough_whatever_the_order(text, results, study, every, met) -> None:  # type: ignore[no-untyped-def]
    found = invert(results, study, text).best
    fast = met & (every.columns["days"] <= 60)
    assert found.design is not None
    assert found.design.measures["machine_usd"] == every.columns["machine_usd"][fast].min()
    assert found.considered == fast.sum()


def test_being_sure_never_costs_less_than_even_odds(tmp_path: Path) -> None:
    study = small_study(measures=["days.p50", "days.p90", "ettr", "run_usd.p50", "kwh.p90", "tco2e"], constraints=[])
    results = finished(study, tmp_path / "results")
    found = invert(results, study, "P(days<=40)>=0.9 and machine_usd minimal")
    assert found.design is not None
    assert found.median is not None
    assert found.median.design is not None
    assert found.design.measures["days.p90"] <= 40.0
    assert found.median.design.measures["days.p50"] <= 40.0
    assert found.design.measures["machine_usd"] >= found.median.design.measures["machine_usd"]
    assert found.design.measures["days"] < found.design.measures["days.p50"] < found.design.measures["days.p90"]
    assert 0.0 < found.design.measures["ettr"] < 1.0


def test_the_least_bandwidth_that_does_can_be_asked_for(results, study, every, met) -> None:  # type: ignore[no-untyped-def]
    found = invert(results, study, "chip.memory.rate minimal and mfu >= 40 %").best
    enough = met & (every.columns["mfu"] >= 0.4)
    rates = np.array(study.axes[1].columns["chip.memory.rate"])[every.positions["chip.memory.rate"]]
    assert found.design is not None
    assert found.design.fields["chip.memory.rate"] == rates[enough].min()
    assert found.ties == (enough & (rates == rates[enough].min())).sum() - 1


def test_a_measure_that_was_not_written_is_named_with_what_was(results, study) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(DescriptionError, match=r"no usd: the study writes time, memory.*add usd to its measures"):
        invert(results, study, "days <= 30 and usd minimal")
    with pytest.raises(UnknownNameError, match="did you mean 'days'"):
        invert(results, study, "dayz minimal")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("days <= 30", "no aim"),
        ("least days and most mfu", "2 aims"),
        ("soon and least days", "neither a condition nor an aim"),
    ],
)
def test_a_requirement_that_is_none_is_refused(text: str, said: str) -> None:
    with pytest.raises(DescriptionError, match=said):
        requirement_of(text)


def test_conditions_joined_by_and_come_apart() -> None:
    parts = Expression("days <= 30 and (mfu > 0.4 and chip.memory.rate < 3)").conjuncts()
    assert [part.sides() for part in parts] == [
        ('"days"', "<=", "30"),
        ('"mfu"', ">", "0.4"),
        ('"chip.memory.rate"', "<", "3"),
    ]
    assert Expression("days <= 3 or mfu > 1").sides() is None


# -- tables over axes --------------------------------------------------------------------------------------------


def test_a_pivot_holds_the_least_over_all_other_axes(results, study, every, met) -> None:  # type: ignore[no-untyped-def]
    axes = {axis.name: axis for axis in study.axes}
    with Query(results) as query:
        table = pivot(query, study, axes["chip.memory.capacity"], axes["chip.memory.rate"])
        joined = pivot(query, study, axes["chip.memory.capacity"], axes["chip.memory.rate"], most=2)
        line = profile(query, study, axes["accelerators"])
    for row in range(3):
        for column in range(4):
            here = met & (every.positions["chip.memory.capacity"] == row)
            here &= every.positions["chip.memory.rate"] == column
            best = every.columns["days"][here].min() if here.any() else np.nan
            np.testing.assert_equal(table.best[row, column], best)
            assert table.met[row, column] == here.sum()
    assert np.isnan(table.best[0]).all()
    assert joined.best.shape == (2, 2)
    assert np.nanmin(joined.best) == np.nanmin(table.best)
    assert joined.met.sum() == met.sum()
    assert line.best.min() == every.columns["days"][met].min()
    assert spread_of(line) == pytest.approx(line.best.max() / line.best.min() - 1)


# -- around the chosen design ------------------------------------------------------------------------------------


def test_elasticities_are_differences_of_the_model_itself(evaluator, gathered) -> None:  # type: ignore[no-untyped-def]
    design = gathered.best.design
    found = {(one.path, one.goal.name): one for one in sensitivity(evaluator, design).elasticities}
    rate = float(design.fields["scale_out.rate"])
    for factor, side in ((1.01, "up"), (0.99, "down")):
        days = evaluator.near(design.number, {"scale_out.rate": rate * factor}).columns["days"][0]
        wanted = (days / design.measures["days"] - 1) / 0.01
        assert getattr(found["scale_out.rate", "days"], side) == pytest.approx(wanted, rel=1e-9)
    more = found["scale_out.rate", "days"]
    assert more.up < 0 < more.down
    assert more.gain == -more.up
    assert more.price > 0
    assert more.per_million == pytest.approx(more.gain / (more.price / 1e6))


def test_what_the_price_does_not_depend_on_has_no_value_for_a_dollar(evaluator, gathered) -> None:  # type: ignore[no-untyped-def]
    found = {one.path: one for one in sensitivity(evaluator, gathered.best.design).of(gathered.best.goal)}
    assert found["scale_up.latency"].price == 0.0
    assert found["scale_up.latency"].per_million is None
    assert found["chip.memory.capacity"].per_million == pytest.approx(0.0, abs=1e-12)


def test_where_the_market_prices_no_variants_elasticities_of_time_remain(tmp_path: Path) -> None:
    study = small_study(axes={"scale_out.rate": {"times": [1, 2]}}, costs={"model": "market"}, constraints=[])
    found = answer(finished(study, tmp_path / "results"), study).local
    assert found is not None
    assert "price" in found.sensitivity.note
    by = {(one.path, one.goal.name): one for one in found.sensitivity.elasticities}
    assert by["chip.memory.rate", "days"].price is None
    assert ("chip.memory.rate", "machine_usd") not in by
    assert by["scale_out.rate", "days"].price > 0  # type: ignore[operator]
    assert ("scale_out.rate", "machine_usd") in by


def test_the_tornado_has_the_ends_of_every_axis(evaluator, study, every, gathered) -> None:  # type: ignore[no-untyped-def]
    design = gathered.best.design
    swings = {swing.path: swing for swing in tornado(evaluator, design)}
    assert set(swings) == {axis.name for axis in study.axes}
    own = {name: int(places[design.number]) for name, places in every.positions.items()}
    for axis in study.axes:
        for place, value in enumerate(swings[axis.name].found):
            number = study.grid.number([place if one.name == axis.name else own[one.name] for one in study.axes])
            assert value == (every.columns["days"][number] if every.feasible[number] else None)
    assert swings["chip.memory.capacity"].found[0] is None
    widths = [swing.high - swing.low for swing in tornado(evaluator, design)]
    assert widths == sorted(widths, reverse=True)


def test_one_step_more_of_chips_is_priced(evaluator, study, results) -> None:  # type: ignore[no-untyped-def]
    few = invert(results, study, "accelerators <= 512 and least days").best.design
    (step,) = steps(evaluator, few, evaluator.study.objectives[0])
    assert (step.path, step.before, step.after) == ("accelerators", 512, 1024)
    assert step.change < 0 < step.price


def test_on_a_break_even_line_the_model_gives_the_reference(evaluator, gathered) -> None:  # type: ignore[no-untyped-def]
    design = gathered.best.design
    target = 1.01 * design.measures["days"]
    line = break_even(evaluator, design, "chip.memory.rate", "scale_out.rate", reference=target, points=7)
    assert len(line.crossings) > 3
    for one in line.crossings:
        there = evaluator.near(design.number, {"chip.memory.rate": one.x, "scale_out.rate": one.y})
        assert there.columns["days"][0] == pytest.approx(target, rel=1e-3)
        assert not one.jump
    assert line.better_above is True


def test_a_line_needs_two_numeric_axes(evaluator, gathered) -> None:  # type: ignore[no-untyped-def]
    design = gathered.best.design
    with pytest.raises(UnknownNameError, match="accelerators"):
        break_even(evaluator, design, "accelerators", "scale_out.rate", reference=1.0)
    with pytest.raises(DescriptionError, match="twice"):
        break_even(evaluator, design, "scale_out.rate", "scale_out.rate", reference=1.0)


# -- all together ------------------------------------------------------------------------------------------------


def test_what_is_gathered_agrees_with_itself(gathered: Answers) -> None:
    assert gathered.census.points == 72
    assert gathered.census.reasons == {"memory": 24}
    assert gathered.census.runs - gathered.census.met == gathered.census.failing["power <= 1.2 MW"]
    best = gathered.best.design
    assert best is not None
    assert gathered.local is not None
    assert best.number in gathered.front.numbers
    assert gathered.balanced is not None
    assert gathered.balanced.number in gathered.front.numbers
    for one in gathered.breakdowns:
        assert one.time == pytest.approx(one.design.measures["time"])
        assert sum(one.resources.values()) == pytest.approx(one.time)
    for figure in gathered.local.ranges:
        assert figure.low <= figure.value <= figure.high
        assert figure.value == pytest.approx(best.measures[figure.name])
    assert all(one.reference is not None for one in gathered.local.assumptions)
    assert len(gathered.cloud) > 0


@pytest.mark.long
def test_layouts_are_found_anew_around_the_best_design(tmp_path: Path) -> None:
    study = best_layouts()
    found = answer(finished(study, tmp_path / "results"), study)
    assert found.best.design is not None
    assert found.local is not None
    (layout,) = found.breakdowns[0].layouts.values()
    chosen = found.breakdowns[0].design.layout
    assert (layout.tensor, layout.pipeline, layout.data) == tuple(chosen[n] for n in ("tensor", "pipeline", "data"))
    evaluator = Evaluator(study=study)
    again = evaluator.near(found.best.design.number, {}).columns["days"][0]
    assert again == pytest.approx(found.best.design.measures["days"])
