"""A study asks how fast a model is served at every point."""

from typing import Any

import pytest

import volvelle
from volvelle.errors import DescriptionError
from volvelle.interchange.study_file import read_study_form
from volvelle.studies.design_space.design_study import DesignStudy
from volvelle.studies.design_space.evaluate import Evaluator
from volvelle.studies.design_space.points import REASONS

STUDY: dict[str, Any] = {
    "name": "serve",
    "workloads": [{"serve": "llama3-8b", "input": 512, "output": 64, "weights": "fp8"}],
    "system": "dgx-h100/8",
    "axes": {"workload.tensor": [1, 4], "workload.batch": [8, 64]},
    "mapping": {"policy": "fixed"},
    "objectives": ["tokens_per_s"],
    "measures": ["ttft", "tpot", "memory", "usd_per_mtoken"],
}


def study(**changes: Any) -> DesignStudy:
    return DesignStudy(form=read_study_form({**STUDY, **changes}))


def test_every_point_is_what_serve_answers() -> None:
    rows = Evaluator(study=study()).rows(0, 4)
    for place, (tensor, batch) in enumerate(((1, 8), (1, 64), (4, 8), (4, 64))):
        answer = volvelle.serve(
            "llama3-8b", on="dgx-h100/8", tp=tensor, batch=batch, input=512, output=64, weights="fp8"
        )
        assert answer.static is not None
        for name in ("ttft", "tpot"):
            assert rows.columns[name][place] == pytest.approx(getattr(answer.static, name), rel=1e-12)
        assert rows.columns["time"][place] == pytest.approx(answer.static.latency, rel=1e-12)
        assert rows.columns["tokens_per_s"][place] == pytest.approx(answer.static.throughput, rel=1e-12)


def test_a_point_that_does_not_fit_says_so() -> None:
    work = [{"serve": "llama3-70b", "batch": 8, "tensor": 1}]
    rows = Evaluator(study=study(workloads=work, axes={"accelerators": [1, 8]}, system="dgx-h100/8")).rows(0, 2)
    assert [REASONS[number] for number in rows.reason] == ["memory", "memory"]


@pytest.mark.parametrize(
    ("work", "says"),
    [
        ({"serve": "llama3-8b", "inputs": 512}, "did you mean 'input'"),
        ({"serve": "llama3-8b", "batch": 0}, "batch is 0; it must be a whole number from 1"),
        ({"serve": "llama3-8b", "on": "dgx-h100/8"}, "there is no key of serve in a study 'on'"),
        ({"serve": "llama3-8b", "train": "llama3-8b", "batch": 1}, "say what is done: one of"),
    ],
)
def test_an_option_that_makes_no_sense_is_rejected_when_the_study_is_read(work: dict[str, Any], says: str) -> None:
    with pytest.raises(DescriptionError, match=says):
        study(workloads=[work])


def test_a_latency_of_a_workload_that_is_trained_is_rejected() -> None:
    work = [{"train": "gpt2", "batch": 8}]
    asked = study(workloads=work, axes={"accelerators": [8]}, measures=["ttft"], objectives=["time"])
    with pytest.raises(DescriptionError, match="ttft was asked for, but workload 'gpt2' is not served"):
        Evaluator(study=asked).rows(0, 1)
