"""Serving on chips whose kernels nobody measured, or whose number of compute units nobody stated."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

import volvelle
from tests.everyday.asking import ask
from volvelle.applications.serving.instance import Instance, instance
from volvelle.catalogue import Catalogue
from volvelle.errors import OutsideDomainError
from volvelle.estimators.serving.iteration import Batch, Iteration
from volvelle.mapping.serving_layout import ServingLayout
from volvelle.workload.served_model import ServedModel

CATALOGUE = Catalogue()
QUESTION = {"input": 2048, "output": 2048, "batch": 64}
LEAST_SHARE = 0.1
"""Attention of a decode-bound batch draws at least this share of the memory rate on any chip: one unit draws 5 %."""
ON_CHIP = 1e15
"""Bytes per second above which memory is on the chip, so that arithmetic decides."""
SEQUENCES, CONTEXT = 64.0, 8192.0
GPU_FAMILIES = {"volta", "pascal", "ampere", "ada", "hopper", "blackwell", "blackwell-workstation"}
GPU_FAMILIES |= {"cdna2", "cdna3", "cdna4", "ponte-vecchio"}
"""Families whose chips schedule blocks over multiprocessors, compute units or Xe cores."""
PLAN = ("plan", "llama3-8b", "--serve", "--on", "mi300x-cluster/8", "--weights", "bf16", "--kv", "bf16", "--tp", "8")
PLAN += (
    "--max-seqs",
    "64",
    "--max-batched-tokens",
    "8192",
    "--load",
    "poisson 1/s",
    "--input",
    "256",
    "--output",
    "64",
)


def served_on(chip: str, engine: str = "vllm") -> Instance:
    served = ServedModel(shape=CATALOGUE.model("llama3-8b"))
    return instance(CATALOGUE, served, chip, ServingLayout(), engine)


def test_every_gpu_of_the_catalogue_states_its_compute_units_with_a_source() -> None:
    gpus = [chip for chip in CATALOGUE.chips.values() if chip.family in GPU_FAMILIES]
    assert len(gpus) > 30
    assert [chip.name for chip in gpus if chip.units is None] == []
    sources = {CATALOGUE.chip_file(chip.name).units.source for chip in gpus}  # type: ignore[union-attr]
    assert sources <= CATALOGUE.sources


def test_units_of_amd_gpus_are_those_of_the_vendor() -> None:
    stated = {
        "mi210": 104,
        "mi250x-gcd": 110,
        "mi250x": 220,
        "mi300a": 228,
        "mi300x": 304,
        "mi325x": 304,
        "mi355x": 256,
    }
    assert {name: CATALOGUE.chip(name).units for name in stated} == stated


def test_no_chip_is_timed_as_if_one_unit_read_its_whole_cache() -> None:
    batch = Batch(decodes=np.array([SEQUENCES]), context=np.array([SEQUENCES * CONTEXT]))
    timed = []
    for name in CATALOGUE.names("chips"):
        try:
            iteration = served_on(name).iteration
            seconds = float(iteration.attention(batch)["attention of decodes"][0])
        except OutsideDomainError:
            continue
        assert isinstance(iteration, Iteration)
        if float(iteration.chip.memory.rate) > ON_CHIP:
            continue
        shape, starts = iteration.served.shape, iteration.kernels.token["pair_time"]
        pairs = SEQUENCES * shape.layers * shape.kv_heads
        read = 2.0 * 2.0 * pairs * shape.head_dim * CONTEXT
        fixed = iteration.starting + SEQUENCES * iteration.pairing + 2.0 * pairs * starts
        assert seconds <= fixed + read / (LEAST_SHARE * float(iteration.chip.memory.rate)), name
        timed.append(name)
    assert len(timed) > 40


def test_a_gpu_that_is_better_in_every_number_decodes_no_slower(tmp_path: Path) -> None:
    better, worse = CATALOGUE.chip("mi300x"), CATALOGUE.chip("a100-sxm4-80gb")
    assert better.memory.rate > worse.memory.rate
    assert better.matrix_rate("bf16") > worse.matrix_rate("bf16")
    tpot = {}
    for machine in ("mi300x-cluster/8", "dgx-a100/8"):
        answer = volvelle.serve("llama3-70b", on=machine, **QUESTION)  # type: ignore[arg-type]
        assert answer.static is not None
        tpot[machine] = answer.static.tpot
    assert tpot["mi300x-cluster/8"] < tpot["dgx-a100/8"]


def test_units_without_a_fitted_tile_change_no_training_step() -> None:
    cluster = CATALOGUE.cluster("frontier/64")
    assert cluster.chip.units is not None
    without = replace(cluster, chip=replace(cluster.chip, units=None))
    asked = {"batch": 256, "tensor": 8, "pipeline": 2}
    times = [volvelle.estimate("gpt2", on=machine, **asked).estimate.time for machine in (cluster, without)]  # type: ignore[arg-type]
    assert times[0] == times[1]


@pytest.fixture
def own_chips(tmp_path: Path) -> Path:
    """Return a catalogue with a GPU of a known family, once with units and once without."""
    entry = yaml.safe_load((_packaged("chips", "h100-sxm")).read_text())
    machine = yaml.safe_load((_packaged("clusters", "dgx-h100")).read_text())
    for folder in ("chips", "clusters"):
        (tmp_path / "own" / folder).mkdir(parents=True)
    for name in ("stated", "unstated"):
        own = entry | {"name": f"gpu-{name}"}
        if name == "unstated":
            del own["units"]
        (tmp_path / "own" / "chips" / f"gpu-{name}.yaml").write_text(yaml.safe_dump(own))
        known = machine | {"name": f"own-{name}", "chip": f"gpu-{name}"}
        (tmp_path / "own" / "clusters" / f"own-{name}.yaml").write_text(yaml.safe_dump(known))
    return tmp_path / "own"


def _packaged(folder: str, name: str) -> Path:
    return Path(volvelle.__file__).parent / "catalogue" / "data" / folder / f"{name}.yaml"


def test_an_own_chip_without_units_answers_with_a_note_and_a_wider_range(own_chips: Path, tmp_path: Path) -> None:
    widths = {}
    for name in ("stated", "unstated"):
        answer = volvelle.serve("llama3-70b", on=f"own-{name}/8", catalogue=own_chips, **QUESTION)  # type: ignore[arg-type]
        widths[name] = {figure: found.high / found.low for figure, found in answer.ranges.items()}
    assert all(widths["unstated"][figure] > 1.02 * wide for figure, wide in widths["stated"].items())
    question = ("llama3-70b", "--on", "own-unstated/8", "--catalogue", str(own_chips), "--batch", "64", "--brief")
    printed = " ".join(ask(tmp_path, "serve", *question).out.split())
    assert "gpu-unstated states no units" in printed
    assert "ranges are wider" in printed


def test_an_own_chip_without_units_is_timed_close_to_the_same_chip_with_them(own_chips: Path) -> None:
    answers = [
        volvelle.serve("llama3-70b", on=f"own-{name}/8", catalogue=own_chips, **QUESTION)  # type: ignore[arg-type]
        for name in ("stated", "unstated")
    ]
    stated, unstated = (answer.static for answer in answers)
    assert stated is not None
    assert unstated is not None
    low, high = answers[1].ranges["tpot"].low, answers[1].ranges["tpot"].high
    assert low < stated.tpot < high


def test_a_core_that_draws_the_whole_memory_rate_is_not_timed_as_one_of_many_units() -> None:
    for name in ("tpu-v6e", "gaudi3", "trainium2"):
        assert CATALOGUE.chip(name).units is None
        warnings = served_on(name).warnings
        assert any("states no units" in words for words in warnings), name


def test_a_stand_in_widens_the_range_and_says_by_how_much(tmp_path: Path) -> None:
    reply = ask(tmp_path, "serve", "llama3-8b", "--on", "mi300x-cluster/1", "--batch", "4", "--brief")
    printed = " ".join(reply.out.split())
    assert "shares of peak of a100-sxm4-80gb stand in" in printed
    assert "one standard deviation of ranges is at least a factor of" in printed
    ranges = {
        machine: volvelle.serve("llama3-8b", on=machine, batch=4, engine="sglang").ranges["tpot"]
        for machine in ("mi300x-cluster/1", "dgx-a100/1")
    }
    width = {machine: found.high / found.low for machine, found in ranges.items()}
    assert width["mi300x-cluster/1"] > width["dgx-a100/1"]


def test_runs_of_an_engine_on_such_chips_cover_the_stand_in() -> None:
    (warning,) = served_on("mi300x", "vllm-2024").warnings[:1]
    assert "shares of peak of a100-sxm4-80gb stand in" in warning
    assert "ranges cover this" in warning


@pytest.mark.parametrize("brief", [(), ("--brief",)])
def test_a_plan_that_finds_nothing_names_the_stand_in_and_its_effect(tmp_path: Path, brief: tuple[str, ...]) -> None:
    reply = ask(tmp_path, *PLAN, "--slo", "p99 tpot 1 ms", *brief)
    printed = " ".join(reply.out.replace("│", " ").split())
    assert reply.status == 1
    assert "nothing serves it" in printed
    assert "no serving kernel was measured on mi300x: shares of peak of a100-sxm4-80gb stand in" in printed
    assert "one standard deviation of ranges is at least a factor of" in printed


def test_a_plan_that_finds_something_names_the_stand_in_once(tmp_path: Path) -> None:
    reply = ask(tmp_path, *PLAN, "--slo", "p99 tpot 200 ms")
    printed = " ".join(reply.out.replace("│", " ").split())
    assert reply.status == 0
    assert printed.count("no serving kernel was measured on mi300x") == 1


def test_a_format_that_was_never_measured_is_rejected_with_a_format_that_was(tmp_path: Path) -> None:
    reply = ask(tmp_path, "serve", "llama3-8b", "--on", "mi300x-cluster/1", "--weights", "fp8")
    printed = " ".join(reply.err.split())
    assert reply.status == 2
    assert "no kernels in fp8 were measured on mi300x or its family (cdna3)" in printed
    assert "a100-sxm4-80gb, which stands in for it, has none" in printed
    assert "take --weights bf16" in printed
