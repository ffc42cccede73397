"""How runs of trtllm-bench are taken to have been run."""

from dataclasses import replace

import pytest

from volvelle.applications.serving.answers import answers
from volvelle.applications.serving.measurements import serving_measurements
from volvelle.applications.serving.offline_bench import SHARE, bench_requests, bench_settings
from volvelle.applications.serving.runs import ServingRun, serving_run
from volvelle.catalogue import Catalogue
from volvelle.mapping.serving_layout import ServingLayout
from volvelle.workload.served_model import ServedModel

CATALOGUE = Catalogue()
ROWS = [row for row in serving_measurements().rows if row.kind == "saturated_throughput"]
GIB = 2.0**30


def test_requests_are_known_of_all_lengths_that_were_measured() -> None:
    lengths = {(int(row.stated["isl"]), int(row.stated["osl"])) for row in ROWS}
    assert [each for each in sorted(lengths) if bench_requests(*each) is None] == []
    assert bench_requests(7, 7) is None


@pytest.mark.parametrize(
    ("prompt", "answer", "budget"),
    [
        (128.0, 2048.0, 2048),  # few prompts a step: the least
        (2048.0, 128.0, 9216),  # 73 GB hold 512 sequences of 143 MB: times 17, in whole 1 024
        (20000.0, 100.0, 11264),  # they hold 55 of 1.3 GB: times 201
    ],
)
def test_a_step_has_room_for_prompts_that_keep_up_with_answers(prompt: float, answer: float, budget: int) -> None:
    served = ServedModel(shape=CATALOGUE.model("llama3-8b"), weights="fp8", cache="fp8")
    found = bench_settings(served, ServingLayout(), 80.0 * GIB, {"isl": prompt, "osl": answer})
    assert (found.memory_share, found.token_budget) == (SHARE, budget)


def test_models_with_experts_attend_in_data_parallelism() -> None:
    row = next(row for row in ROWS if row.stated["model"] == "qwen3-235b-a22b" and row.stated["tp"] == "8")
    run = serving_run(row, CATALOGUE)
    assert isinstance(run, ServingRun)
    assert run.instance.layout == ServingLayout(tensor=1, data=8, expert=8)


def test_other_engines_keep_their_own_settings_and_the_layout_that_a_row_states() -> None:
    row = next(row for row in ROWS if row.stated["model"] == "qwen3-235b-a22b" and row.stated["tp"] == "8")
    cells = {**dict(row.cells), "engine": "vllm"}
    run = serving_run(replace(row, cells=tuple(cells.items())), CATALOGUE)
    assert isinstance(run, ServingRun)
    assert run.instance.layout.tensor == 8
    assert run.instance.settings.memory_share is None
    assert answers(run)["throughput"] > 0.0


def test_chips_beyond_one_instance_of_a_dense_model_serve_beside_it() -> None:
    row = next(row for row in ROWS if row.stated["model"] == "llama3-8b")
    alone = serving_run(row, CATALOGUE)
    four = serving_run(replace(row, cells=tuple({**dict(row.cells), "chips": "4", "tp": "1"}.items())), CATALOGUE)
    assert isinstance(alone, ServingRun)
    assert isinstance(four, ServingRun)
    assert (alone.instance.layout.data, four.instance.layout.data) == (1, 4)


def test_no_server_stands_before_the_engine() -> None:
    row = next(row for row in ROWS if row.stated["model"] == "llama3-8b" and row.stated["isl"] == "128")
    run = serving_run(row, CATALOGUE)
    assert isinstance(run, ServingRun)
    slow = run.instance.with_constants(replace(run.instance.engine.constants, per_admission=1.0))
    assert answers(replace(run, instance=slow)) == answers(run)
