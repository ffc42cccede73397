"""What makes another workload: a batch that grows with replicas, memory that is ignored, another machine."""

from typing import Any

import numpy as np
import pytest

from volvelle import DescriptionError, estimate
from volvelle.studies.design_space.design_study import read_study
from volvelle.studies.design_space.evaluate import Evaluator
from volvelle.verbs.explore import outlook


def study(**said: Any) -> dict[str, Any]:
    return {
        "name": "weak",
        "system": "dgx-a100/64",
        "workloads": [{"train": "llama3-8b", "batch_per_replica": 4}],
        "axes": {"mapping.tensor": [1, 2, 8], "chip.matrix_rate": {"times": [1, 2]}},
        "mapping": {"policy": "fixed", "zero": 1, "micro_batch": 1},
        "objectives": ["time_per_sample"],
        **said,
    }


def test_every_layout_has_the_batch_of_its_replicas() -> None:
    asked = read_study(study(measures=["time", "samples_per_s"]))
    found = Evaluator(study=asked).rows(0, len(asked.grid))
    tensor = asked.axes[0].at("mapping.tensor", found.positions["mapping.tensor"])
    batch = found.columns["samples_per_s"] * found.columns["time"]
    assert batch == pytest.approx(4 * 64 / tensor)
    assert found.columns["time_per_sample"] == pytest.approx(found.columns["time"] / batch)


def test_a_point_takes_what_the_same_step_takes_by_estimate() -> None:
    asked = read_study(study(axes={"mapping.tensor": [1, 8]}, measures=["time"]))
    found = Evaluator(study=asked).rows(0, 2)
    for tensor, time in zip((1, 8), found.columns["time"], strict=True):
        alone = estimate("llama3-8b", on="dgx-a100/64", batch=4 * 64 // tensor, tensor=tensor, sequence_parallel=False)
        choices = {"sequence_parallel": alone.estimate.mapping.sequence_parallel}
        same = read_study(
            study(
                axes={"mapping.tensor": [tensor]},
                measures=["time"],
                mapping={"policy": "fixed", "zero": 1, "micro_batch": 1, **choices},
            )
        )
        assert Evaluator(study=same).rows(0, 1).columns["time"][0] == pytest.approx(alone.estimate.time, rel=1e-12)
        assert time > 0.0


def test_memory_that_is_ignored_forbids_nothing_and_changes_no_figure() -> None:
    axes = {"workload.memory_limit": ["ignored", "enforced"], "mapping.tensor": [1, 8]}
    asked = read_study(
        study(workloads=[{"train": "llama3-70b", "batch_per_replica": 4}], axes=axes, measures=["memory"])
    )
    found = Evaluator(study=asked).rows(0, 4)
    ignored = np.asarray(found.positions["workload.memory_limit"]) == 0
    assert found.feasible[ignored].all()
    assert not found.feasible[~ignored].all()
    for column in found.columns.values():
        assert column[ignored] == pytest.approx(column[~ignored])


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"mapping": {"policy": "best"}, "axes": {"chip.matrix_rate": {"times": [1, 2]}}}, "policy: fixed"),
        ({"workloads": [{"train": "llama3-8b", "batch": 8, "batch_per_replica": 4}]}, "not both"),
        ({"workloads": [{"train": "llama3-8b"}]}, "batch is needed"),
        ({"workloads": [{"run": "hpl", "split_heads": True}]}, "means nothing"),
    ],
)
def test_what_cannot_be_meant_is_refused(said: dict[str, Any], told: str) -> None:
    with pytest.raises(DescriptionError, match=told):
        read_study(study(**said))


def test_a_limit_that_nobody_knows_is_refused() -> None:
    with pytest.raises(DescriptionError, match=r"axis workload\.memory_limit: memory_limit is 'forgotten'"):
        read_study(study(axes={"workload.memory_limit": ["ignored", "forgotten"]}))


def test_the_same_file_serves_another_machine_unless_machines_are_what_it_compares() -> None:
    assert outlook(study(), on="dgx-h100/64").study.base.name == "dgx-h100/64"
    with pytest.raises(DescriptionError, match="states its machines; leave on out"):
        outlook(study(axes={"system": ["dgx-a100/64", "dgx-h100/64"]}), on="dgx-h100/64")


def test_a_number_of_the_machine_that_is_set_relative_to_it_holds_at_every_point() -> None:
    asked = outlook(study(), set={"scale_up.rate": "2x"}).study
    assert asked.assignments["scale_up.rate"] == 2.0 * read_study(study()).base.dimensions[0].link.rate
