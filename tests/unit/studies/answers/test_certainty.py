"""Studies that map graphs, asked to be sure: ranges of the answer, quantiles and probabilities in a requirement."""

import pickle
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.small_studies import finished
from volvelle.errors import DescriptionError
from volvelle.report.documents.explore import ExploreDocument, InversionDocument
from volvelle.report.explore.text import certainty_lines
from volvelle.studies.answers.answers import answer
from volvelle.studies.answers.invert import invert
from volvelle.studies.design_space.design_study import DesignStudy, read_study
from volvelle.studies.sweep.manifest import Results
from volvelle.verbs.map import map as map_graph

GRAPH = ROOT / "examples" / "graphs" / "unet.yaml"


@pytest.fixture(scope="module")
def study() -> DesignStudy:
    return read_study(
        {
            "name": "sure of a graph",
            "workloads": [{"map": str(GRAPH), "name": "unet", "micro_batches": 64, "execution": "dataflow"}],
            "system": "sn30-node",
            "axes": {"accelerators": [2, 4, 8]},
            "objectives": ["time"],
            "measures": ["chips", "time.p10", "time.p50", "time.p90", "samples_per_s.p10"],
        }
    )


@pytest.fixture(scope="module")
def results(study: DesignStudy, tmp_path_factory: pytest.TempPathFactory) -> Results:
    return finished(study, tmp_path_factory.mktemp("mapped") / "results")


def between(study: DesignStudy, results: Results, even: int, sure: int) -> str:
    """A bound that so many accelerators meet by an even chance, and so many with nine chances in ten."""
    points = {int(point["accelerators"]): point for point in answer(results, study).points()}
    low = max(float(points[even]["time.p50"]), float(points[sure]["time.p90"]))
    high = min(float(points[even]["time.p90"]), float(points[even // 2]["time.p50"]))
    assert low < high
    return f"{(low * high) ** 0.5!r} s"


def test_being_sure_of_a_step_takes_more_chips_than_an_even_chance(study: DesignStudy, results: Results) -> None:
    bound = between(study, results, 4, 8)
    found = invert(results, study, f"P(time <= {bound}) >= 0.9 and chips minimal")

    assert found.design is not None
    assert found.median is not None
    assert found.median.design is not None
    assert (found.design.fields["accelerators"], found.median.design.fields["accelerators"]) == (8, 4)
    (certain,) = found.certainties
    assert certain.chance is not None
    assert certain.median_chance is not None
    assert 0.5 <= certain.median_chance < 0.9 <= certain.chance
    assert certainty_lines(found)[0].startswith("P(time")


def test_a_quantile_is_a_condition_and_an_aim(study: DesignStudy, results: Results) -> None:
    bound = between(study, results, 4, 8)
    sure = invert(results, study, f"time.p90 <= {bound} and chips minimal").design
    fast = invert(results, study, "chips <= 4 and most samples_per_s.p10").design

    assert sure is not None
    assert fast is not None
    assert (sure.fields["accelerators"], fast.fields["accelerators"]) == (8, 4)


def test_a_quantile_that_was_not_written_is_asked_for_by_name(study: DesignStudy, results: Results) -> None:
    with pytest.raises(DescriptionError, match=r"add mfu\.p20 to its measures"):
        invert(results, study, "P(mfu >= 30 %) >= 0.8 and chips minimal")


def test_answers_and_requirements_have_the_range_of_the_verb_and_what_it_rests_on(
    study: DesignStudy, results: Results
) -> None:
    asked = map_graph(GRAPH, on="sn30-node/8", execution="dataflow", micro_batches=64).sure
    assert asked is not None
    whole = ExploreDocument.model_validate(answer(results, study)).around_best
    met = InversionDocument.model_validate(invert(results, study, "chips >= 8 and least time"))

    assert whole is not None
    for entry in (whole, met):
        (time,) = (figure for figure in entry.ranges if figure.measure == "time")
        assert (time.low, time.high) == (asked.ranges["time"].low, asked.ranges["time"].high)
        assert time.level == asked.ranges["time"].level
        (basis,) = entry.range_basis
        assert (basis.workload, basis.weakest_evidence) == ("unet", asked.basis.weakest_evidence)
        assert basis.model_error is None
    assert whole.elasticities == []


def test_answers_of_a_mapped_study_survive_pickling(study: DesignStudy, results: Results) -> None:
    found = answer(results, study)
    again = pickle.loads(pickle.dumps(found))
    assert again.local.ranges == found.local.ranges  # type: ignore[union-attr]
    assert again.to_dict() == found.to_dict()


def test_the_range_of_an_answer_is_printed_with_what_it_rests_on(
    study: DesignStudy, results: Results, tmp_path: Path
) -> None:
    from rich.console import Console  # noqa: PLC0415 - as the package does

    from volvelle.report.explore.page import explore_page  # noqa: PLC0415
    from volvelle.report.explore.text import print_answers, print_inversion  # noqa: PLC0415

    with (tmp_path / "said.txt").open("w", encoding="utf-8") as file:
        console = Console(file=file, width=140)
        print_answers(answer(results, study), console)
        print_inversion(invert(results, study, "chips >= 8 and least time"), console)
    said = " ".join((tmp_path / "said.txt").read_text("utf-8").split())

    assert said.count("How sure") == 2
    assert said.count("no run of kernels that share a chip was there to calibrate the model") == 2
    assert "No sensitivities" in said
    assert "time.p90" in said
    assert "no run of kernels that share a chip" in explore_page(answer(results, study))
