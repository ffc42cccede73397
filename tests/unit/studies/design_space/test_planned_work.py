"""Workloads that an application plans: what their ranges rest on is what a plan of it says."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.sweeps import study
from volvelle.applications.range_evidence import RangeEvidence
from volvelle.applications.registry import application
from volvelle.catalogue import Catalogue
from volvelle.report.documents.document import json_text
from volvelle.report.explore.sheets import basis_lines
from volvelle.studies.design_space.evaluate import Evaluator
from volvelle.verbs.explore import explore

RUNS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"run": "hpl"}, {}),
    ({"run": "hpcg"}, {}),
    ({"run": "fft", "size": 512}, {"grid": "512"}),
    ({"run": "stencil", "size": 512, "points": 7}, {"grid": "512", "scaling": False}),
    ({"run": "hpl-mxp"}, {}),
    ({"run": "dlrm", "model": "dcnv2-mlperf", "batch": 65536, "element": "fp16"}, {"batch": 65536}),
]


def of_workload(work: dict[str, Any]) -> dict[str, Any]:
    return {"name": "one", "system": "dgx-a100/16", "workloads": [work], "axes": {"accelerators": [8, 16]}}


@pytest.mark.parametrize(("work", "options"), RUNS, ids=lambda part: part.get("run"))
def test_a_study_rests_on_the_runs_that_a_plan_of_the_application_names(
    work: dict[str, Any], options: dict[str, Any], catalogue: Catalogue
) -> None:
    ((name, basis),) = Evaluator(study=study(of_workload(work))).explain(1).bases
    planning = application(work["run"])
    system = catalogue.cluster("dgx-a100/16")
    told = planning.evidence(planning.space(system, catalogue, planning.plan_question(on=system, **options)))
    assert isinstance(basis, RangeEvidence)
    assert told is not None
    assert basis == told
    assert basis.model_error is not None
    (line,) = basis_lines([(name, basis)])
    assert f"rests on {basis.model_error.rows} calibration runs" in line


def test_a_pace_that_was_measured_rests_on_what_is_stated_of_it() -> None:
    pace = {"tokens_per_s": 3000, "accelerators": 8, "error_factor": 1.07}
    work = {"batch": 64, "sequence": 1024, "pace": pace}
    ((_, basis),) = Evaluator(study=study(of_workload(work))).explain(0).bases
    assert isinstance(basis, RangeEvidence)
    assert basis.model_error is None
    assert basis.weakest_evidence == "measured"
    assert "a factor of 1.07, as stated" in basis.words


def test_answers_of_such_a_study_name_rows_and_systems_in_json(tmp_path: Path) -> None:
    found = explore(of_workload({"run": "hpl-mxp"}), out=tmp_path / "one", workers=1)
    (told,) = json.loads(json_text("explore", found))["around_best"]["range_basis"]
    assert told["workload"] == "hpl-mxp"
    assert told["model_error"]["rows"] == 9
    assert told["model_error"]["sources"] == 6
