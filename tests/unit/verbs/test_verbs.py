"""Verbs take names or values, and answer as the parts they are made of do."""

import json
import subprocess
import sys
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import pytest

import volvelle
from tests.conftest import ROOT
from volvelle import (
    Catalogue,
    ClosedForm,
    DescriptionError,
    MappingError,
    ParallelMapping,
    TrainingStep,
    UnknownNameError,
    transformer,
)
from volvelle.search.space import Space
from volvelle.studies.design_space.design_study import read_study
from volvelle.verbs.explore import outlook, sweep

VERBS = ("cost", "estimate", "explore", "map", "plan", "serve")


def test_names_and_values_ask_the_same_question(catalogue: Catalogue) -> None:
    shape, cluster = catalogue.model("llama3-8b"), catalogue.cluster("dgx-h100/8")
    mapping = ParallelMapping(tensor=2, data=4)
    asked = [
        volvelle.estimate("llama3-8b", on="dgx-h100/8", batch=64, tensor=2),
        volvelle.estimate(shape, on=cluster, batch=64, mapping=mapping),
        volvelle.estimate(transformer(shape), on=cluster, batch=64, tensor=2, data=4, catalogue=catalogue),
    ]
    assert len({answer.estimate.time for answer in asked}) == 1
    step = TrainingStep(model=transformer(shape), batch=64)
    assert asked[0].estimate.time == ClosedForm().estimate(step, cluster, mapping).time
    assert asked[0].flops == pytest.approx(step.flops)


def test_what_has_nothing_to_split_is_off_unless_a_mapping_says_so() -> None:
    alone = volvelle.estimate("gpt2", on="dgx-a100/8", batch=8, ulysses=True)
    assert not alone.estimate.mapping.sequence_parallel
    assert not alone.estimate.mapping.ulysses
    assert alone.estimate.mapping.data == 8


def test_a_mapping_and_fields_of_one_cannot_both_be_given() -> None:
    with pytest.raises(MappingError, match="tensor"):
        volvelle.estimate("gpt2", on="dgx-a100/8", batch=8, mapping=ParallelMapping(data=8), tensor=2)


def test_the_first_layout_of_a_plan_is_what_estimate_says_of_it() -> None:
    plan = volvelle.plan("gpt2", on="dgx-a100/8", batch=64, top=3)
    assert [layout.time for layout in plan.layouts] == sorted(layout.time for layout in plan.layouts)
    first = plan.layouts[0]
    answer = volvelle.estimate("gpt2", on="dgx-a100/8", batch=64, mapping=first.mapping)
    assert answer.estimate.time == pytest.approx(first.time, rel=1e-12)
    assert answer.estimate.utilisation == pytest.approx(first.utilisation, rel=1e-12)


def test_a_plan_without_a_layout_that_fits_has_none_and_says_what_is_nearest() -> None:
    plan = volvelle.plan("llama3-405b", on="dgx-h100/8", batch=8)
    assert plan.layouts == ()
    assert plan.best is None
    assert plan.nearest is None


def test_a_file_is_mapped_like_the_workload_in_it() -> None:
    from volvelle.interchange.graph_file import read_graph  # noqa: PLC0415 - what the verb does for a file

    file = ROOT / "examples" / "graphs" / "unet.yaml"
    answer = volvelle.map(file, on="dgx-h100/8", limit=4)
    assert answer.mapping.plan is not None
    workload = read_graph(file).workload
    assert answer.parameters == workload.parameters()
    assert answer.flops == 8 * 8 * workload.flops()


def test_a_mapping_may_be_stated_as_a_study_states_it(tmp_path: Path) -> None:
    stated = {"grid": True, "element": "bf16", "matrix_share": "90 %", "sram": False}
    asked = {"on": "sn30-node/8", "tensor": [8], "pipeline": [1], "data": [1], "micro_batches": 1, "tiles": [1]}
    answer = volvelle.map("hpl-5m", assumptions=stated, **asked)
    assert answer.mapping.plan is not None
    assert answer.mapping.plan.utilisation <= 0.9 * (1 + 1e-9)
    file = tmp_path / "stated.yaml"
    file.write_text("{grid: true, element: bf16, matrix_share: 90 %, sram: false}", "utf-8")
    written = volvelle.map("hpl-5m", assumptions=file, **asked)
    assert written.mapping.plan is not None
    assert written.mapping.plan.time == answer.mapping.plan.time
    with pytest.raises(DescriptionError, match="gridd"):
        volvelle.map("hpl-5m", assumptions={"gridd": True}, **asked)


def test_costs_take_quantities_as_text_or_as_numbers() -> None:
    written = volvelle.cost(on="dgx-h100/8", chip_price="20 kUSD", life="3 years")
    counted = volvelle.cost(on="dgx-h100/8", chip_price=20e3, life=3 * 31_557_600.0)
    assert written.breakdowns == counted.breakdowns
    assert written.typical.training_usd is None
    run = volvelle.cost(on="dgx-h100/8", step="2 s", tokens_per_step=4e6, tokens=4e9)
    assert run.typical.training_days == pytest.approx(1000 * 2 / 86_400)


def test_a_study_is_explored_from_its_fields(tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    from tests.small_studies import FIELDS  # noqa: PLC0415 - needs an extra

    answers = volvelle.explore(FIELDS, out=tmp_path / "results", workers=1)
    assert answers.census.points == 72
    again = sweep(outlook(FIELDS, workers=1, out=tmp_path / "results"))
    assert again.rows == 0
    assert again.answers().best == answers.best
    assert again.invert("machine_usd minimal").design is not None


def test_answers_cannot_be_changed() -> None:
    answer = volvelle.estimate("gpt2", on="dgx-a100/8", batch=8)
    with pytest.raises(FrozenInstanceError):
        answer.model = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("name", "now"), [("shard", "zero_group"), ("whole_experts", "expert_tensor_parallel"), ("swap_heads", "ulysses")]
)
def test_a_former_field_of_a_layout_is_named_as_it_is_now(name: str, now: str) -> None:
    with pytest.raises(UnknownNameError, match=f"did you mean '{now}'"):
        volvelle.estimate("gpt2", on="dgx-a100/8", batch=8, **dict[str, Any]({name: 2}))


@pytest.mark.parametrize(
    "changes",
    [
        {"mapping": {"policy": "fixed", "tensor": 8, "shard": 4}},
        {"axes": {"mapping.shard": [4, 8]}},
    ],
)
def test_a_former_field_in_a_study_is_named_as_it_is_now(changes: dict[str, object]) -> None:
    fields = {
        "name": "old",
        "workloads": [{"train": "gpt2", "batch": 64}],
        "system": "dgx-a100/8",
        "objectives": ["time"],
    }
    axes = {"axes": {"accelerators": [8, 16]}, "mapping": {"policy": "fixed"}}
    with pytest.raises(DescriptionError, match=r"did you mean '(mapping\.)?zero_group'"):
        read_study({**fields, **axes, **changes})


def test_a_former_name_of_the_package_is_named_as_it_is_now() -> None:
    with pytest.raises(AttributeError, match="did you mean 'ParallelMapping'"):
        _ = volvelle.Mapping


@pytest.mark.parametrize(
    "verb", [pytest.param(verb, marks=() if place % 5 == 0 else pytest.mark.long) for place, verb in enumerate(VERBS)]
)
def test_a_verb_is_a_function_whatever_was_imported_before(verb: str) -> None:
    module = {"serve": "serving.serve"}.get(verb, verb)
    code = f"import volvelle.cli.{verb}, volvelle.verbs.{module}, volvelle; assert callable(volvelle.{verb})"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_command_starts_without_what_it_does_not_use() -> None:
    code = "import json, sys, volvelle.cli.estimate; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    loaded = set(json.loads(done.stdout))
    for module in (
        "volvelle.surface",
        "volvelle.search",
        "volvelle.studies",
        "volvelle.estimators.compiled",
        "rich.table",
    ):
        assert module not in loaded, module


def test_a_plan_considers_the_values_of_any_field_it_is_given() -> None:
    question: dict[str, Any] = {"on": "dgx-h100/16", "batch": 32, "context": 1, "zero": 1}
    found = volvelle.plan("llama3-8b", **question, data=(2, 4), micro_batch=1, sequence_parallel=False)
    assert found.layouts
    for layout in found.layouts:
        assert layout.mapping.data in (2, 4)
        assert (layout.mapping.micro_batch, layout.mapping.sequence_parallel) == (1, False)
    with pytest.raises(UnknownNameError, match="did you mean 'schedule'"):
        volvelle.plan("llama3-8b", **question, schedules=())
    with pytest.raises(MappingError, match="both a space and context"):
        volvelle.plan("llama3-8b", **question, space=Space())
