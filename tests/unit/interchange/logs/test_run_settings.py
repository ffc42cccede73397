"""What logs say of their runs, by the words of this package."""

import pytest

from tests.own_logs import megatron_log
from volvelle.interchange.logs.logged import LoggedRun
from volvelle.interchange.logs.readers import log_of
from volvelle.interchange.logs.run_settings import (
    gated,
    reserved_memory,
    run_settings,
    shape_settings,
    step_by_clock,
    step_seconds,
)

TITAN = """\
[rank0]:[titan] 2026-01-01 00:00:00,000 - root - INFO - Building 2-D device mesh with ['dp_shard', 'tp'], [8, 2]
[rank0]:[titan] 2026-01-01 00:00:00,000 - root - INFO - CUDA capacity: NVIDIA H100 80GB HBM3 with 79.11GiB memory
[rank0]:[titan] 2026-01-01 00:00:00,000 - root - INFO - Training starts at step 1, with local batch size 1, \
global batch size 8, sequence length 8192, total steps 20 (warmup 2)
""" + "".join(
    f"[rank0]:[titan] 2026-01-01 00:00:{step:02d},000 - root - INFO - step: {step:2d}  loss: 9.0  grad_norm: 1.0  "
    f"memory: 30.00GiB(37.92%)  tps: 4,096  tflops: 407.35  mfu: 41.19%\n"
    for step in range(1, 21)
)


def only(text: str) -> LoggedRun:
    (run,) = log_of(text, "run.log").runs
    return run


def test_arguments_of_megatron_are_a_layout_and_a_shape() -> None:
    run = only(megatron_log(1.0))
    said = run_settings(run)
    wanted = {"chips": 8, "batch": 64, "sequence": 4096, "tensor": 2, "pipeline": 1, "micro_batch": 1, "zero": 1}
    assert {name: said[name] for name in wanted} == wanted
    assert (said["element"], said["recompute"], said["stack"]) == ("bf16", "none", "megatron-core")
    assert shape_settings(run)["layers"] == 32
    assert gated(run)


def test_a_mesh_of_torchtitan_is_a_layout() -> None:
    run = only(TITAN)
    said = run_settings(run)
    wanted = {"chips": 16, "batch": 8, "sequence": 8192, "tensor": 2, "data": 8, "zero": 3, "micro_batch": 1}
    assert {name: said.get(name) for name in wanted} == wanted
    assert said["stack"] == "torchtitan"
    assert reserved_memory(run) == pytest.approx(30.0 * 2**30)


def test_tokens_a_second_of_a_device_are_seconds_a_step() -> None:
    run = only(TITAN)
    assert step_seconds(run, batch=8, sequence=8192, chips=16) == pytest.approx(1.0)
    assert step_by_clock(run) == pytest.approx(1.0)


def test_narrow_products_are_told_by_their_argument() -> None:
    assert run_settings(only(megatron_log(1.0, fp8="hybrid")))["element"] == "fp8"
