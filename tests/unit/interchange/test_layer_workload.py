"""A step's layers written for other tools and read back."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from volvelle import MappingError, Recompute, estimate
from volvelle.estimators.training.layer_phases import FORWARD, INPUT_GRADIENT, RECOMPUTED, WEIGHT_GRADIENT
from volvelle.interchange.layer_workload import write_layer_workload
from volvelle.verbs.estimate import Answer

NANO = 1e-9


@dataclass(frozen=True)
class AstraLayer:
    """A layer as ASTRA-sim's first generation reads it: three of (time, collective, bytes), then the update."""

    name: str
    reserved: int
    phases: tuple[tuple[int, str, int], ...]
    update: int


def astra_sim_reads(file: Path) -> tuple[list[str], list[AstraLayer]]:
    """As its Workload::initialize_workload: words apart by any space; policy, group, how many layers, layers."""
    words: Iterator[str] = iter(file.read_text("utf-8").split())
    policy = [next(words)]
    if policy[0] == "HYBRID_TRANSFORMER":
        policy += [next(words), next(words)]
    layers = []
    for _ in range(int(next(words))):
        name, reserved = next(words), int(next(words))
        phases = tuple((int(next(words)), next(words), int(next(words))) for _ in range(3))
        layers.append(AstraLayer(name, reserved, phases, int(next(words))))
    assert list(words) == []
    return policy, layers


@pytest.fixture(scope="module")
def answer() -> Answer:
    return estimate("llama3-8b", on="dgx-a100/64", batch=64, tensor=8, micro_batch=4, recompute=Recompute.FULL)


def written(answer: Answer, file: Path) -> Path:
    write_layer_workload(answer.layer_phases, answer.estimate.mapping, file)
    return file


def test_astra_sim_reads_as_many_seconds_of_computing_as_the_step_has(answer: Answer, tmp_path: Path) -> None:
    policy, layers = astra_sim_reads(written(answer, tmp_path / "step.txt"))
    assert policy == ["HYBRID_TRANSFORMER", "model_parallel_NPU_group:", "8"]
    ours = {
        0: (FORWARD,),
        1: (RECOMPUTED, INPUT_GRADIENT),
        2: (WEIGHT_GRADIENT,),
    }
    for place, phases in ours.items():
        expected = sum(row.step_time for row in answer.layer_phases if row.phase in phases)
        assert NANO * sum(layer.phases[place][0] for layer in layers) == pytest.approx(expected, rel=1e-4)


def test_replicas_exchange_every_gradient_of_a_chip_once(answer: Answer, tmp_path: Path) -> None:
    _, layers = astra_sim_reads(written(answer, tmp_path / "step.txt"))
    exchanged = sum(size for layer in layers for _, word, size in layer.phases[2:] if word == "ALLREDUCE")
    assert exchanged == pytest.approx(4.0 * answer.estimate.facts["parameters_per_chip"], rel=1e-4)


def test_a_gather_has_the_bytes_that_a_chip_brings_and_a_scatter_those_of_the_whole(tmp_path: Path) -> None:
    step = estimate("llama3-8b", on="dgx-a100/64", batch=64, tensor=8, micro_batch=8)
    _, layers = astra_sim_reads(written(step, tmp_path / "step.txt"))
    found = {layer.name: layer.phases[0] for layer in layers}
    whole = 8 * 8192 * 4096 * 2
    assert found["layer0.attention_norm"][1:] == ("ALLGATHER", whole // 8)
    assert found["layer31.attention_out"][1:] == ("REDUCESCATTER", whole)


def test_replicas_alone_need_no_group(tmp_path: Path) -> None:
    policy, layers = astra_sim_reads(written(estimate("gpt2", on="dgx-a100/8", batch=8), tmp_path / "step.txt"))
    assert policy == ["DATA"]
    assert {word for layer in layers for _, word, _ in layer.phases[:2]} == {"NONE"}


def test_the_csv_has_every_figure_of_every_layer(answer: Answer, tmp_path: Path) -> None:
    with written(answer, tmp_path / "step.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert sum(float(row["flops"]) for row in rows) == pytest.approx(sum(row.flops for row in answer.layer_phases))
    assert sum(float(row["bytes"]) for row in rows) == pytest.approx(sum(row.bytes for row in answer.layer_phases))
    volumes = [one.bytes for row in answer.layer_phases for one in row.exchanges]
    assert sorted(float(row["volume_bytes"]) for row in rows if row["collective"]) == sorted(volumes)


@pytest.mark.parametrize(
    ("layout", "told"),
    [({"tensor": 8, "pipeline": 2}, "pipeline 2"), ({"zero": 3}, "ZeRO-3"), ({"context": 2}, "context")],
)
def test_what_its_policies_cannot_say_is_refused_and_the_csv_has_it(
    layout: dict[str, int], told: str, tmp_path: Path
) -> None:
    step = estimate("llama3-8b", on="dgx-a100/64", batch=64, **layout)
    with pytest.raises(MappingError, match=told):
        written(step, tmp_path / "step.txt")
    assert written(step, tmp_path / "step.csv").exists()
