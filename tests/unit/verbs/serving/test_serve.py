"""How a model is served: a batch alone, and under load."""

import pytest

import volvelle
from volvelle import Catalogue, DescriptionError, MappingError, OutsideDomainError, UnknownNameError
from volvelle.simulation.compiler import INSTALLED

NODE = "dgx-h100/8"


def test_totals_of_a_batch_are_those_of_its_parts() -> None:
    static = volvelle.serve("llama3-70b", on=NODE, weights="fp8", batch=16, input=2048, output=256).static
    assert static is not None
    assert static.ttft == pytest.approx(sum(part.seconds for part in static.prefill))
    assert static.tpot == pytest.approx(sum(part.seconds for part in static.decode))
    assert static.latency == pytest.approx(static.ttft + 255 * static.tpot)
    assert static.throughput * static.latency == pytest.approx(16 * 256)
    assert [part.seconds for part in static.prefill] == sorted((part.seconds for part in static.prefill), reverse=True)


def test_a_small_batch_decodes_at_the_rate_of_memory_and_reads_prompts_at_that_of_arithmetic() -> None:
    static = volvelle.serve("llama3-8b", on="dgx-h100/1", batch=1, input=8128, output=64).static
    assert static is not None
    assert static.prefill[0].bound == "arithmetic"
    assert static.decode[0].bound == "memory traffic"


def test_memory_of_a_chip_is_shared_out_without_a_rest() -> None:
    held = volvelle.serve("llama3-70b", on=NODE, weights="fp8", batch=64, input=4096, output=512).memory
    assert sum(part.bytes for part in held.parts) == pytest.approx(held.capacity)
    assert held.cache_tokens == held.cache_blocks * 16
    assert held.most_sequences * held.request_cache <= held.room < (held.most_sequences + 1) * held.request_cache


def test_tensor_parallelism_takes_a_node_where_nothing_is_said_and_replicas_the_rest() -> None:
    assert volvelle.serve("llama3-70b", on=NODE, weights="fp8").instance.layout.tensor == 8
    two = volvelle.serve("llama3-70b", on="dgx-h100/16", weights="fp8", batch=32)
    assert (two.replicas, two.chips) == (2, 16)
    one = volvelle.serve("llama3-70b", on=NODE, weights="fp8", batch=16)
    assert two.static is not None
    assert one.static is not None
    assert two.static.tpot == one.static.tpot
    assert two.static.throughput == pytest.approx(2 * one.static.throughput)


def test_a_real_machine_without_a_number_is_one_node() -> None:
    answer = volvelle.serve("llama3-8b", on="selene")
    assert answer.cluster.accelerators == 8
    assert any("one node of 8 is used" in note for note in answer.notes)


def test_degrees_may_be_said_in_the_words_of_the_command() -> None:
    assert volvelle.serve("llama3-8b", on=NODE, tp=2, pp=2).instance.layout.chips == 4


def test_four_of_five_measurements_lie_within_the_interval() -> None:
    answer = volvelle.serve("llama3-8b", on="dgx-h100/1", batch=4)
    assert answer.static is not None
    found = answer.ranges["tpot"]
    assert found.level == 0.8
    assert found.high / answer.static.tpot == pytest.approx(answer.static.errors["tpot"] ** 1.2816, rel=1e-5)
    assert found.low * found.high == pytest.approx(answer.static.tpot**2)


def test_what_does_not_fit_has_no_speed_and_cures_that_do() -> None:
    answer = volvelle.serve("llama3-405b", on=NODE, batch=4)
    assert not answer.feasible
    assert answer.timed is None
    (violation,) = answer.violations
    assert violation.name == "memory"
    assert violation.cures
    for cure in violation.cures:
        words = cure.split()
        options = {words[place].removeprefix("--"): words[place + 1] for place in range(3, len(words), 2)}
        asked = {name: int(value) if value.isdecimal() else value for name, value in options.items()}
        assert volvelle.serve(words[2], **asked).feasible, cure  # type: ignore[arg-type]


def test_a_batch_too_large_for_the_cache_is_told_the_largest_that_fits() -> None:
    answer = volvelle.serve("llama3-8b", on="dgx-h100/1", batch=400, input=4096, output=64)
    most = answer.memory.most_sequences
    assert any(f"--batch {most} " in f"{cure} " for cure in answer.violations[0].cures)
    assert volvelle.serve("llama3-8b", on="dgx-h100/1", batch=most, input=4096, output=64).feasible
    assert not volvelle.serve("llama3-8b", on="dgx-h100/1", batch=most + 1, input=4096, output=64).feasible


def test_an_engine_that_does_not_cut_prompts_refuses_one_longer_than_a_step() -> None:
    answer = volvelle.serve("llama3.1-8b", on="dgx-h100/1", engine="trtllm", input=20_000)
    assert [violation.name for violation in answer.violations] == ["token budget"]
    assert volvelle.serve("llama3.1-8b", on="dgx-h100/1", engine="trtllm", input=20_000, chunked_prefill=True).feasible


@pytest.mark.parametrize(
    ("asked", "error", "says"),
    [
        ({"tensor": 3}, MappingError, "32 heads are not divided by tensor parallelism 3"),
        ({"tensor": 16}, MappingError, "one instance takes 16 chips"),
        ({"on": "dgx-h100/16", "tensor": 16}, OutsideDomainError, "beyond the 8 chips of one NVSwitch"),
        ({"engine": "vlm"}, UnknownNameError, "did you mean 'vllm'"),
        ({"weights": "fp9"}, UnknownNameError, "format of weights"),
        ({"kv": "int2"}, UnknownNameError, "type of a cache"),
        ({"weights": "nvfp4"}, OutsideDomainError, "no kernels in nvfp4 were measured on h100-sxm"),
        ({"on": "h100-sxm"}, UnknownNameError, "h100-sxm is a chip"),
        ({"batch": 0}, DescriptionError, "batch is 0"),
        ({"batch": 8, "load": "closed 8"}, DescriptionError, "both a batch and a load"),
        ({"requests": 8}, DescriptionError, "those of a load"),
        ({"load": "poisson 0/s"}, DescriptionError, "at a rate of 0"),
        ({"load": "closed 8", "lengths": "uniform:2"}, DescriptionError, "the ratio is 2"),
        ({"load": "closed 8", "lengths": "odd"}, DescriptionError, "cannot be read"),
        ({"memory_share": 2.0}, DescriptionError, "memory_share is 2"),
    ],
)
def test_a_question_that_makes_no_sense_is_refused_by_name(asked: dict[str, object], error: type, says: str) -> None:
    with pytest.raises(error, match=says):
        volvelle.serve("llama3-8b", **{"on": NODE, **asked})  # type: ignore[arg-type]


def test_kernels_of_another_chip_that_stand_in_are_said_before_the_figures() -> None:
    answer = volvelle.serve("llama3-8b", on="mi300x-cluster/8")
    (warning,) = answer.warnings
    assert "no serving kernel was measured on mi300x" in warning
    assert answer.notes[0] == warning
    assert not volvelle.serve("llama3-8b", on=NODE).warnings


def test_memory_that_an_engine_takes_of_what_weights_leave_is_shared_out_without_a_rest() -> None:
    held = volvelle.serve("llama3-70b", on=NODE, engine="trtllm", weights="fp8", batch=4).memory
    assert sum(part.bytes for part in held.parts) == pytest.approx(held.capacity)
    assert held.room == pytest.approx(0.9 * (held.capacity - held.weights - held.working))


def test_layers_that_no_kernel_was_measured_for_are_refused() -> None:
    with pytest.raises(OutsideDomainError, match="layers of mamba"):
        volvelle.serve("jamba-1.5-large", on=NODE)


def test_names_and_values_ask_the_same_question(catalogue: Catalogue) -> None:
    named = volvelle.serve("llama3-8b", on=NODE, batch=8)
    given = volvelle.serve(catalogue.model("llama3-8b"), on=catalogue.cluster(NODE), batch=8, catalogue=catalogue)
    assert named.static is not None
    assert given.static is not None
    assert given.static.latency == named.static.latency


# -- under load ------------------------------------------------------------------------------------------------

compiled = pytest.mark.skipif(not INSTALLED, reason="a load is followed a hundred times slower without numba")


@pytest.mark.parametrize("engine", ["vllm", "sglang", "trtllm"])
def test_one_client_sees_what_a_batch_of_one_takes(engine: str) -> None:
    asked = {"on": NODE, "engine": engine, "weights": "fp8", "input": 1024, "output": 128}
    static = volvelle.serve("llama3-70b", batch=1, **asked).static  # type: ignore[arg-type]
    load = volvelle.serve("llama3-70b", load="closed 1", lengths="fixed", **asked).load  # type: ignore[arg-type]
    assert static is not None
    assert load is not None
    assert load.metrics is not None
    assert load.metrics.ttft.mean == pytest.approx(static.ttft, rel=0.01)
    assert load.metrics.tpot.mean == pytest.approx(static.tpot, rel=0.01)
    assert load.metrics.e2el.mean == pytest.approx(static.latency, rel=0.01)
    assert load.throughput == pytest.approx(static.throughput, rel=0.01)
    assert load.occupancy.limited_by == "clients"


@compiled
def test_a_rate_that_is_too_much_has_no_latencies_and_says_what_is_sustained() -> None:
    load = volvelle.serve("llama3-8b", on="dgx-h100/1", load="poisson 1000/s").load
    assert load is not None
    assert load.unstable is not None
    assert load.unstable.offered == pytest.approx(1000, rel=0.01)
    assert load.unstable.sustained < 500
    assert not load.latencies
    assert load.throughput is None


@compiled
def test_replicas_and_data_parallel_ranks_share_a_load() -> None:
    one = volvelle.serve("llama3-8b", on="dgx-h100/1", load="closed 16").load
    eight = volvelle.serve("llama3-8b", on=NODE, tensor=1, load="closed 128").load
    ranks = volvelle.serve("llama3-8b", on=NODE, tensor=1, data=8, load="closed 128").load
    assert one is not None
    assert eight is not None
    assert ranks is not None
    assert one.throughput is not None
    assert eight.throughput == pytest.approx(8 * one.throughput)
    assert (eight.ranks, ranks.ranks) == (8, 8)


@compiled
def test_a_cache_that_is_too_small_for_the_load_is_what_limits_it() -> None:
    load = volvelle.serve(
        "llama3-8b", on="dgx-h100/1", load="closed 200", input=4096, output=512, memory_share="40 %"
    ).load
    assert load is not None
    assert load.occupancy.limited_by == "KV cache"
    assert load.occupancy.kv_peak > 0.9


@compiled
def test_a_limit_of_sequences_is_what_limits_where_it_is_reached() -> None:
    load = volvelle.serve("llama3-8b", on="dgx-h100/1", load="closed 64", max_seqs=8).load
    assert load is not None
    assert load.occupancy.limited_by == "sequences"
    assert load.occupancy.most_running == 8


@compiled
def test_the_same_seed_draws_the_same_load() -> None:
    asked = {"on": "dgx-h100/1", "load": "poisson 4/s", "lengths": "uniform:0.5", "requests": 200}
    first, again, other = (volvelle.serve("llama3-8b", seed=seed, **asked).load for seed in (1, 1, 2))  # type: ignore[arg-type]
    assert first is not None
    assert again is not None
    assert other is not None
    assert first.outcome == again.outcome
    assert first.outcome != other.outcome
