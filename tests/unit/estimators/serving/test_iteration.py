"""One step of an engine: what it depends on, and in which direction."""

from dataclasses import replace

import numpy as np
import pytest

from volvelle import Catalogue
from volvelle.applications.serving.instance import Instance, instance
from volvelle.estimators.serving.iteration import Batch, Iteration
from volvelle.estimators.serving.static_batch import static_times
from volvelle.estimators.serving.step_tables import step_costs
from volvelle.mapping.serving_layout import ServingLayout
from volvelle.workload.served_model import ServedModel

CATALOGUE = Catalogue()


def made(model: str = "llama3-70b", chip: str = "h100-sxm", tensor: int = 8, pipeline: int = 1, **how: str) -> Instance:
    served = ServedModel(shape=CATALOGUE.model(model), **how)
    return instance(CATALOGUE, served, chip, ServingLayout(tensor=tensor, pipeline=pipeline), "vllm")


def decodes(sequences: float, context: float) -> Batch:
    one = np.array([sequences])
    return Batch(decodes=one, context=one * context, prompt_tokens=0 * one, prompts=0 * one, past=0 * one)


def prompts(tokens: float, past: float = 0.0) -> Batch:
    one = np.array([tokens])
    return Batch(prompt_tokens=one, prompts=one / one, past=one / one * past, decodes=0 * one, context=0 * one)


@pytest.mark.parametrize("model", ["llama3-70b", "deepseek-v3", "gpt-oss-120b", "qwen3.5-397b-a17b", "glm-5"])
def test_more_tokens_and_more_context_never_take_less(model: str) -> None:
    iteration = made(model, "b200", 8).iteration
    many = [float(iteration.seconds(decodes(count, 2048.0))[0]) for count in (1, 8, 64, 256)]
    long = [float(iteration.seconds(decodes(32.0, context))[0]) for context in (128, 1024, 8192, 65536)]
    parts = [float(iteration.seconds(prompts(tokens))[0]) for tokens in (128, 1024, 8192)]
    for times in (many, long, parts):
        assert times == sorted(times)
        assert times[0] > 0.0


def test_a_step_reads_all_weights_at_the_rate_of_memory_at_best() -> None:
    one = made()
    least = 141e9 / 8 / float(np.max(one.chip.memory.rate))
    assert least < float(one.iteration.seconds(decodes(1.0, 128.0))[0]) < 2.5 * least


def test_parts_add_up_to_the_step() -> None:
    iteration, batch = made().iteration, decodes(16.0, 1000.0)
    parts = iteration.parts(batch)
    assert float(sum(time[0] for time in parts.values())) == pytest.approx(float(iteration.seconds(batch)[0]))
    assert {"attention of decodes", "feed-forward", "all-reduce", "head"} <= set(parts)


def test_stages_of_a_full_pipeline_wait_for_the_one_with_the_head() -> None:
    staged, batch = made(tensor=1, pipeline=4), decodes(64.0, 1000.0)
    full = staged.filled.iteration
    head, waited = (float(one.parts(batch)["head"][0]) for one in (staged.iteration, full))
    assert waited == pytest.approx(4.0 * head)
    assert float((full.seconds(batch) - staged.iteration.seconds(batch))[0]) == pytest.approx(3.0 * head)
    alone = made()
    assert alone.filled.iteration.steps(batch) == alone.iteration.steps(batch)


def test_every_stage_of_a_full_pipeline_has_a_host_that_may_be_the_slowest() -> None:
    slow = replace(made().iteration.engine, host=0.0, host_rank=0.0, per_sequence=0.0, stage_sequence=1e-2)
    full = made(tensor=1, pipeline=4).with_constants(slow).filled.iteration
    assert float(full.steps(decodes(64.0, 1000.0))[0]) == pytest.approx(4 * 64 * 1e-2)
    assert made().with_constants(slow).filled.iteration.host_sequence == 0.0


def test_narrower_weights_and_caches_are_read_sooner() -> None:
    wide, narrow = made(), made(weights="fp8", cache="fp8")
    assert narrow.iteration.seconds(decodes(8.0, 4096.0))[0] < wide.iteration.seconds(decodes(8.0, 4096.0))[0]


def test_what_was_read_before_makes_a_chunk_longer() -> None:
    iteration = made().iteration
    assert iteration.seconds(prompts(1024.0, past=16384.0))[0] > iteration.seconds(prompts(1024.0))[0]


def test_a_static_batch_is_its_prompts_and_then_a_step_a_token() -> None:
    times = static_times(made().iteration, np.array([8.0]), np.array([1024.0]), np.array([256.0]), budget=8192.0)
    assert float(times.total[0]) == pytest.approx(float(times.prompts[0] + 255 * times.token[0]))


def test_tables_of_costs_say_what_the_step_says() -> None:
    iteration = made().iteration
    costs = step_costs(iteration, most_tokens=8192, most_sequences=256)
    step = decodes(64.0, 2048.0)
    tabled = costs.captured[64] + costs.head[64] + np.interp(2048.0, costs.context_nodes, costs.decode[64])
    assert tabled == pytest.approx(float(iteration.seconds(step)[0]), rel=0.01)


def test_a_chip_with_more_bandwidth_never_takes_longer() -> None:
    one = made()
    memory = replace(one.chip.memory, rate=2 * one.chip.memory.rate)
    faster = replace(one.iteration, chip=replace(one.chip, memories=(memory, *one.chip.memories[1:])))
    assert faster.seconds(decodes(8.0, 1024.0))[0] < one.iteration.seconds(decodes(8.0, 1024.0))[0]


def test_an_index_chooses_the_keys_that_are_read_and_is_paid_for() -> None:
    sparse = made("glm-5", "b200", 8).iteration
    shape = replace(sparse.served.shape, sparse=None)
    full = replace(sparse, served=replace(sparse.served, shape=shape))
    few, many = decodes(16.0, 1024.0), decodes(16.0, 131_072.0)
    assert sparse.parts(many)["attention of decodes"][0] < 0.1 * full.parts(many)["attention of decodes"][0]
    assert sparse.parts(few)["attention of decodes"][0] == full.parts(few)["attention of decodes"][0]
    assert sparse.parts(many)["index scores"][0] > sparse.parts(few)["index scores"][0] > 0.0


def test_a_short_prompt_waits_for_as_many_launches_under_load_as_alone() -> None:
    iteration = made("llama3-8b", "h100-sxm", 1).iteration
    costs = step_costs(iteration, most_tokens=8192, most_sequences=64)
    assert costs.launches[64] == iteration.engine.pieces * costs.launches[4096]
    assert costs.launches[64] == iteration.launching(np.array([64.0]))[0]


def test_a_scheduler_that_works_ahead_is_hidden_behind_the_chips_and_one_that_does_not_is_added() -> None:
    one = made()
    constants = replace(one.iteration.engine, host=1e-3, host_behind=0.0, host_overlapped=True)
    ahead = replace(one.iteration, engine=constants, ahead=True)
    behind = replace(ahead, ahead=False)
    batch = decodes(8.0, 1024.0)
    assert float(ahead.seconds(batch)[0]) > ahead.host
    assert float(behind.steps(batch)[0] - ahead.steps(batch)[0]) == pytest.approx(ahead.host)
    assert not step_costs(behind, most_tokens=64, most_sequences=8).host_overlapped


def test_heads_read_keys_each_for_itself_beyond_so_many_where_an_old_engine_meets_a_window() -> None:
    served = ServedModel(shape=CATALOGUE.model("mistral-7b"))
    one = instance(CATALOGUE, served, "h100-sxm", ServingLayout(), "vllm-2024")
    assert one.engine.constants.windows_beyond == 512.0
    parts = [one.iteration.parts(decodes(count, 2048.0))["attention of decodes"][0] for count in (16.0, 17.0)]
    assert parts[1] > 2.0 * parts[0]  # sixteen sequences of 32 heads are 512
    without = replace(one.iteration, engine=replace(one.iteration.engine, windows_beyond=np.inf))
    alike = [without.parts(decodes(count, 2048.0))["attention of decodes"][0] for count in (16.0, 17.0)]
    assert alike[1] < 1.2 * alike[0]


def test_norms_over_heads_of_several_chips_are_one_more_exchange_of_a_layer() -> None:
    one = made("minimax-m2.5", "h200-sxm", tensor=4, weights="fp8-block").iteration
    assert isinstance(one, Iteration)
    shape = one.served.shape
    assert shape.qk_norm_over_heads
    within = replace(one, served=replace(one.served, shape=replace(shape, qk_norm_over_heads=False)))
    batch = decodes(4.0, 1000.0)
    more = one.parts(batch)["all-reduce"] - within.parts(batch)["all-reduce"]
    # Three exchanges in place of two; the third is of eight bytes a token.
    assert 0.3 < float(more[0] / within.parts(batch)["all-reduce"][0]) < 0.5


def test_pairs_take_as_much_longer_as_the_longest_request_that_graphs_are_made_for() -> None:
    one = made("qwen3-32b", "b200", tensor=1)
    iteration = replace(one.iteration, engine=replace(one.iteration.engine, pair_time=1e-8))
    assert isinstance(iteration, Iteration)
    batch = decodes(16.0, 1024.0)
    short, twice, none = (
        float(replace(iteration, longest=times * 4096.0).seconds(batch)[0]) for times in (1.0, 2.0, 0.0)
    )
    assert twice - short == pytest.approx(short - none)
    assert short - none == pytest.approx(16 * 64 * 8 * 1e-8)  # sequences, layers and heads of keys
