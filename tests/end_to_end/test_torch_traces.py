"""Traces of a small transformer, recorded here with PyTorch: nearly all of their time is understood."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.everyday.asking import ask
from volvelle import Catalogue
from volvelle.estimators.trace_replay.breakdown import critical_parts, operation_sums
from volvelle.estimators.trace_replay.operation_times import Bound
from volvelle.estimators.trace_replay.replayed import replayed
from volvelle.interchange.traces.reading import read_trace
from volvelle.workload.tensor_layout import Collective
from volvelle.workload.trace.values import coverage

pytest.importorskip("torch")
ROOT = Path(__file__).parents[2]
EXPORTERS = ROOT / ".exporters" / "bin" / "python"
UNDERSTOOD = 0.95
FORWARD = 2 * 4 * 128 * (4 * 12 * 256**2 + 256 * 1000)
"""FLOP of the products with weights in a forward pass: 2 × tokens × weights."""


def record(folder: Path, *options: str, python: str = sys.executable) -> Path:
    told = {**os.environ, "OMP_NUM_THREADS": "1"}
    words = [python, "-m", "tests.torch_recording", str(folder), *options]
    done = subprocess.run(words, cwd=ROOT, env=told, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record(tmp_path_factory.mktemp("alone"))


@pytest.mark.parametrize("names", [("step_kineto.json",), ("step_et.json", "step_kineto.json")], ids=len)
def test_a_profile_is_understood_and_takes_what_was_measured(names: tuple[str, ...], alone: Path) -> None:
    trace = read_trace(*(alone / name for name in names))
    found = coverage(trace)
    assert found.time is not None
    assert found.time >= UNDERSTOOD
    assert trace.span is not None
    assert replayed(trace).time == pytest.approx(trace.span, rel=0.10)
    if len(names) == 2:
        assert "with execution trace" in trace.format


def test_a_training_step_has_three_times_the_products_of_its_forward_pass(alone: Path) -> None:
    trace = read_trace(alone / "step_kineto.json")
    works = [one.work for one in trace.operations if one.work is not None and one.work.kind == "product"]
    assert sum(work.matrix_flop for work in works) == pytest.approx(3 * FORWARD, rel=0.01)


def test_an_execution_trace_has_the_same_products_as_the_profile(alone: Path) -> None:
    def products(name: str) -> float:
        trace = read_trace(alone / name)
        return sum(one.work.matrix_flop for one in trace.operations if one.work is not None)

    assert products("step_et.json") == pytest.approx(products("step_kineto.json"), rel=1e-9)


def test_an_exported_program_has_the_products_of_a_forward_pass(alone: Path) -> None:
    trace = read_trace(alone / "model.pt2")
    works = [one.work for one in trace.operations if one.work is not None and one.work.kind == "product"]
    assert sum(work.matrix_flop for work in works) == pytest.approx(FORWARD, rel=1e-9)
    assert coverage(trace).operations == 1.0


def test_every_operation_has_a_bound_on_the_next_machine(alone: Path) -> None:
    trace = read_trace(alone / "step_kineto.json")
    catalogue = Catalogue()
    for on in ("dgx-a100/8", "dgx-h100/8"):
        found = replayed(trace, catalogue.cluster(on))
        bounds = {row.bound for row in operation_sums(found)}
        assert bounds <= {bound.value for bound in Bound} - {Bound.UNKNOWN.value}
        assert {Bound.COMPUTE.value, Bound.LAUNCH.value} <= bounds
        assert sum(part.time for part in critical_parts(found)) == pytest.approx(found.time, rel=1e-9)


def test_the_command_answers_in_text_and_json(alone: Path) -> None:
    words = ("replay", "step_et.json", "step_kineto.json", "--on", "dgx-h100/8")
    reply = ask(alone, *words)
    assert reply.status == 0
    assert "understood: 100 % of time" in reply.out
    told = json.loads(ask(alone, *words, "--json").out)
    assert told["trace_coverage"]["time"] >= UNDERSTOOD
    assert sum(part["seconds"] for part in told["where_time_goes"]) == pytest.approx(told["seconds"])


def test_two_ranks_over_gloo_exchange_their_gradients(tmp_path: Path) -> None:
    record(tmp_path, "--ranks", "2", "--port", str(20_000 + os.getpid() % 20_000))
    for rank in range(2):
        trace = read_trace(tmp_path / f"rank{rank}_kineto.json")
        spoken = [one.communication for one in trace.operations if one.communication is not None]
        assert spoken
        assert {one.group for one in spoken} == {2}
        assert {one.collective for one in spoken} == {Collective.ALL_REDUCE}
        found = coverage(trace)
        assert found.time is not None
        assert found.time >= UNDERSTOOD
        gradients = 4 * (2 * 12 * 128**2 + 2 * 13 * 128 + 128 * (1000 * 2 + 128 + 2))
        assert sum(one.size for one in spoken) == pytest.approx(gradients, rel=0.01)


@pytest.mark.long
@pytest.mark.skipif(not EXPORTERS.exists(), reason="scripts/exporters makes an environment with onnxscript")
def test_a_model_in_onnx_has_the_products_of_a_forward_pass(tmp_path: Path) -> None:
    record(tmp_path, python=str(EXPORTERS))
    trace = read_trace(tmp_path / "model.onnx")
    works = [one.work for one in trace.operations if one.work is not None and one.work.kind == "product"]
    scores = 4 * 2 * 2 * 4 * 128 * 128 * 256  # attention comes as two products a layer
    assert sum(work.matrix_flop for work in works) == pytest.approx(FORWARD + scores, rel=0.01)
    found = coverage(trace)
    assert found.operations is not None
    assert found.operations >= UNDERSTOOD
