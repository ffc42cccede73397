"""Keys of a workload that is trained are the options of a training step, and vary along axes."""

from typing import Any

import numpy as np
import pytest

import volvelle
from volvelle.errors import DescriptionError
from volvelle.interchange.study_file import StudyForm
from volvelle.questions.training import Step, Tuned
from volvelle.questions.workloads import KEYS
from volvelle.studies.design_space.design_study import DesignStudy, read_study
from volvelle.studies.design_space.evaluate import Evaluator
from volvelle.studies.design_space.structure import varied_form

STUDY: dict[str, Any] = {
    "name": "tuned",
    "workloads": [{"train": "llama3-8b", "batch": 16, "sequence": 2048, "lora": 16, "gradients": "bf16"}],
    "system": "dgx-h100/8",
    "axes": {"workload.lora_targets": ["q,v", "all"], "workload.base": ["bf16", "nf4"]},
    "mapping": {"policy": "fixed", "zero": 2},
    "measures": ["memory"],
}


def study(**changes: Any) -> DesignStudy:
    return read_study({**STUDY, **changes})


def test_every_option_of_a_training_step_is_a_key() -> None:
    assert {part.name for part in (*Step.options(), *Tuned.options())} <= set(KEYS["train"])


def test_every_point_is_what_estimate_answers() -> None:
    asked = study()
    rows = Evaluator(study=asked).rows(0, 4)
    for place, (targets, base) in enumerate((targets, base) for targets in ("q,v", "all") for base in ("bf16", "nf4")):
        answer = volvelle.estimate(
            "llama3-8b",
            on="dgx-h100/8",
            batch=16,
            sequence=2048,
            zero=2,
            lora=16,
            lora_targets=targets,
            base=base,
            gradients="bf16",
            anyway=True,
        ).estimate
        assert rows.columns["time"][place] == pytest.approx(answer.time, rel=1e-12)
        assert rows.columns["memory"][place] == pytest.approx(answer.memory_bytes, rel=1e-12)


def test_an_optimizer_is_an_axis_and_a_compiled_model_times_it_alike() -> None:
    work = [{"train": "llama3-8b", "batch": 16, "sequence": 2048}]
    asked = study(workloads=work, axes={"workload.optimizer": ["adam", "lion", "adam-8bit"]})
    memory = Evaluator(study=asked).rows(0, 3).columns["memory"]
    assert memory[0] > memory[1] > memory[2]
    compiled = Evaluator(study=asked, estimator=volvelle.CompiledClosedForm()).rows(0, 3).columns["memory"]
    assert np.allclose(memory, compiled, rtol=1e-12)


def test_a_former_name_and_a_range_of_values_are_read() -> None:
    former = {"train": "llama3-8b", "batch": 16, "gradient_element": "bf16"}
    form = study(workloads=[former], axes={"workload.expert_load": {"from": 1, "to": 2, "points": 3}})
    assert form.form.workloads[0].question == {"batch": 16, "gradients": "bf16"}
    assert form.axes[0].columns["workload.expert_load"] == (1.0, 1.5, 2.0)


def test_values_are_read_back_from_columns_of_numbers() -> None:
    """A file of results keeps switches and counts as numbers."""
    form = study().form.workloads[0]
    assert varied_form(form, {"workload.split_heads": 1.0}).asked == form.asked.changed(split_heads=True)
    assert varied_form(form, {"workload.batch": 32.0}).asked == form.asked.changed(batch=32)


def test_a_study_is_the_same_after_it_was_sent_to_a_worker() -> None:
    form = study().form
    again = StudyForm.model_validate_json(form.canonical())
    assert again.canonical() == form.canonical()
    assert again.workloads[0].asked == form.workloads[0].asked


@pytest.mark.parametrize(
    ("work", "axes", "says"),
    [
        ({"lora": 0}, {}, "lora is 0; it must be a whole number from 1"),
        ({"optimiser": "adam"}, {}, "there is no argument of train 'optimiser'; did you mean 'optimizer'"),
        ({"base": "fp5"}, {}, "base is 'fp5'; it must be 'bf16'"),
        ({"counting": "mine"}, {}, "counting is 'mine'; it must be 'derived' or 'comet'"),
        ({"sizes": {"head_dim": -1}}, {}, "sizes.head_dim is -1; it must be"),
        ({"micro_batches": 8}, {}, "micro_batches means nothing to llama3-8b; leave it out"),
        ({"tokens": "5 GB"}, {}, "5 GB"),
        ({}, {"workload.optimizer": ["adamm"]}, "axis workload.optimizer: optimizer is 'adamm'; it must be 'adam'"),
    ],
)
def test_a_key_that_makes_no_sense_is_rejected_by_its_name(
    work: dict[str, Any], axes: dict[str, Any], says: str
) -> None:
    with pytest.raises(DescriptionError, match=says):
        study(workloads=[{"train": "llama3-8b", "batch": 16, **work}], axes=axes or {"accelerators": [8]})
