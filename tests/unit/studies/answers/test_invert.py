"""The worked example of being sure: how many accelerators, by an even chance and with nine chances in ten."""

from pathlib import Path

import pytest

from tests.small_studies import finished
from volvelle.errors import DescriptionError
from volvelle.report.documents.explore import InversionDocument
from volvelle.report.explore.text import certainty_lines
from volvelle.studies.answers.invert import Inversion, invert, requirement_of
from volvelle.studies.design_space.design_study import DesignStudy, read_study
from volvelle.studies.design_space.evaluate import Evaluator

FILE = Path("examples/studies/how-sure-measured.yaml")
WANTED = "P(days<=30)>=0.9 and run_usd.p50 minimal"


@pytest.fixture(scope="module")
def study() -> DesignStudy:
    return read_study(FILE)


@pytest.fixture(scope="module")
def inversion(study: DesignStudy, tmp_path_factory: pytest.TempPathFactory) -> Inversion:
    return invert(finished(study, tmp_path_factory.mktemp("sure") / "results"), study, WANTED)


def test_being_sure_takes_1280_accelerators_where_an_even_chance_takes_1024(inversion: Inversion) -> None:
    assert inversion.design is not None
    assert inversion.median is not None
    assert inversion.median.design is not None
    assert inversion.design.fields["accelerators"] == 1280
    assert inversion.median.design.fields["accelerators"] == 1024
    costs = inversion.certainty_costs
    assert costs["accelerators"] == pytest.approx(0.25)
    assert costs["days.p50"] == pytest.approx(-0.19, abs=0.01)
    assert costs["run_usd.p50"] == pytest.approx(0.02, abs=0.005)


def test_1152_accelerators_are_done_in_time_in_seven_cases_of_eight(study: DesignStudy, inversion: Inversion) -> None:
    (chance,) = inversion.requirement.chances
    evaluator = Evaluator(study=study)
    chances = [chance.of(evaluator.explain(number).outcome) for number in range(5)]
    assert chances == sorted(chances)  # type: ignore[type-var]
    assert chances[2] == pytest.approx(0.876, abs=0.01)
    (found,) = inversion.certainties
    assert (found.median_chance, found.chance) == (chances[1], chances[3])


def test_the_document_has_the_median_answer_and_what_certainty_costs(inversion: Inversion) -> None:
    document = InversionDocument.model_validate(inversion)
    assert document.design is not None
    assert document.median is not None
    assert document.median.design is not None
    assert document.median.design.fields["accelerators"] == 1024
    assert document.certainty_costs == inversion.certainty_costs
    assert document.certainties[0].chance == inversion.certainties[0].chance
    said = certainty_lines(inversion)
    assert said[0].startswith("P(days<=30)>=0.9: 9")
    assert "accelerators +25.0 %" in said[1]


def test_rent_is_what_runs_cost_and_owning_is_what_machines_cost(study: DesignStudy) -> None:
    outcome = Evaluator(study=study).explain(1).outcome
    assert outcome.dollars_per_second == pytest.approx(1024 * 3.29 / 3600)
    assert outcome.costs.tco > 1e7


def stated(**changes: object) -> DesignStudy:
    fields = read_study(FILE).form.model_dump(by_alias=True, exclude_unset=True)
    return read_study({**fields, **changes})


def test_spares_are_paid_for_and_too_few_are_waited_for() -> None:
    failures = {"hazard": "4.1e-3 1/d", "restart": "720 s", "stall": "5 s", "write": "0 s"}
    pool, few, many = (
        Evaluator(study=stated(failures={**failures, **more})).near(1, {}).columns
        for more in ({}, {"spares": 1}, {"spares": 30})
    )
    assert few["days.p50"] > 1.5 * many["days.p50"]
    assert many["days.p50"] == pytest.approx(pool["days.p50"], rel=0.01)
    assert many["run_usd.p50"] == pytest.approx(pool["run_usd.p50"] * (1 + 240 / 1024), rel=0.01)


def test_two_tiers_that_survive_more_are_done_sooner() -> None:
    failures = {"hazard": "0.1 1/d", "recovery": "two-tier", "stall": "2 s", "storage_stall": "60 s"}
    days = [
        float(Evaluator(study=stated(failures={**failures, "survived": share})).near(1, {}).columns["days.p50"][0])
        for share in ("10 %", "60 %", "95 %")
    ]
    assert days == sorted(days, reverse=True)
    with pytest.raises(DescriptionError, match="peer's memory survives"):
        Evaluator(study=stated(failures=failures))


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"failures": {"hazard_factor": 2.0}}, "state hazard too"),
        ({"failures": {"restart": "-5 s"}}, "restart"),
        ({"failures": {"hazard": "4.1e-3"}}, "hazard"),
        ({"workloads": [{"pace": {"tokens_per_s": 410, "exponent": -0.06}, "batch": 8, "sequence": 8}]}, "among how"),
        ({"workloads": [{"pace": {"tokens_per_s": 410}, "batch": 8}]}, "training at a stated pace needs sequence"),
        ({"workloads": [{"pace": {"tokens_per_s": 0}, "batch": 8, "sequence": 8}]}, "tokens_per_s"),
        ({"costs": {"rent": "3.29"}}, "rent"),
    ],
)
def test_what_is_stated_wrongly_is_told(changes: dict[str, object], told: str) -> None:
    with pytest.raises(DescriptionError, match=told):
        stated(**changes)


def test_a_bound_with_a_unit_has_the_chance_of_the_plain_number(study: DesignStudy) -> None:
    outcome = Evaluator(study=study).explain(1).outcome
    chances = [
        requirement_of(f"P(run_usd <= {bound}) >= 0.9 and days minimal").chances[0].of(outcome)
        for bound in ("2.5 MUSD", "2500000", "accelerators")
    ]
    assert chances[0] is not None
    assert chances[0] == chances[1]
    assert chances[2] is None
