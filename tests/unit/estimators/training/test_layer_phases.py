"""Layer by layer and phase by phase: the same step, taken apart otherwise."""

from typing import Any

import pytest

from volvelle import Recompute, estimate
from volvelle.estimators.training.layer_phases import INPUT_GRADIENT, PHASES, RECOMPUTED, WEIGHT_GRADIENT
from volvelle.verbs.estimate import Answer

QUESTIONS: dict[str, dict[str, Any]] = {
    "replicas": {"model": "llama3-8b", "on": "dgx-a100/64", "batch": 256, "zero": 3},
    "stages": {"model": "gpt3-175b", "on": "dgx-a100/1024", "batch": 1536, "tensor": 8, "pipeline": 8},
    "recomputed": {"model": "gpt3-175b", "on": "dgx-a100/512", "batch": 512, "tensor": 8, "recompute": Recompute.FULL},
    "experts": {"model": "mixtral-8x7b", "on": "dgx-h100/64", "batch": 512, "tensor": 2, "expert": 8},
    "long": {"model": "llama3-8b", "on": "dgx-h100/64", "batch": 64, "context": 4, "sequence": 32768},
}


@pytest.fixture(params=QUESTIONS)
def answer(request: pytest.FixtureRequest) -> Answer:
    return estimate(**QUESTIONS[request.param])


def of_law(answer: Answer, *laws: str) -> float:
    return sum(line.time for line in answer.estimate.contributions if line.exposed and line.law in laws)


def test_kernels_of_all_layers_and_phases_are_the_kernels_of_the_step(answer: Answer) -> None:
    assert sum(row.step_time for row in answer.layer_phases) == pytest.approx(of_law(answer, "kernel_time"), rel=1e-12)


def test_collectives_of_all_layers_are_what_the_breakdown_has_exposed_and_hidden(answer: Answer) -> None:
    rows, lines = answer.layer_phases, answer.estimate.contributions
    exchanges = [line for line in lines if "communication" in line.part and line.part != "overlapped communication"]
    for exposed in (True, False):
        expected = sum(line.time for line in exchanges if line.exposed is exposed)
        assert sum(row.exchange_time(exposed=exposed) for row in rows) == pytest.approx(expected, rel=1e-12)


def test_a_product_takes_as_many_flop_in_each_phase(answer: Answer) -> None:
    found = {(row.block, row.layer, row.phase): row.flops for row in answer.layer_phases}
    layer = next(row for row in answer.layer_phases if row.layer == "query")
    of_phases = {found[layer.block, "query", phase] for phase in PHASES if (layer.block, "query", phase) in found}
    assert of_phases == {layer.flops}
    assert {INPUT_GRADIENT, WEIGHT_GRADIENT} <= {row.phase for row in answer.layer_phases if row.layer == "query"}


def test_only_full_recomputation_runs_products_again() -> None:
    again = {
        name: [row for row in estimate(**QUESTIONS[name]).layer_phases if row.phase == RECOMPUTED and row.flops]
        for name in ("stages", "recomputed")
    }
    assert again["recomputed"]
    assert not again["stages"]


def test_a_layout_that_cannot_exist_has_no_layers() -> None:
    assert estimate("llama3-8b", on="dgx-a100/64", batch=255, tensor=3, data=21).layer_phases == ()
