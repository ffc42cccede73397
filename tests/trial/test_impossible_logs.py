"""Logs whose numbers cannot be true are refused, with the contradiction in one message."""

from pathlib import Path

import pytest

from tests.everyday.asking import Reply, ask
from tests.own_logs import megatron_log

# Llama 3 70B on 64 H100 with a batch of 256 sequences.
_LLAMA = {
    "world_size": 64,
    "tensor_model_parallel_size": 4,
    "pipeline_model_parallel_size": 4,
    "global_batch_size": 256,
    "seq_length": 8192,
    "num_layers": 80,
    "hidden_size": 8192,
    "num_attention_heads": 64,
    "num_query_groups": 8,
    "ffn_hidden_size": 28672,
    "padded_vocab_size": 128256,
}


def _calibrate(folder: Path, seconds: float, *words: str, tflops: float | None = None, **settings: object) -> Reply:
    log = megatron_log(seconds, tflops=tflops, **{**_LLAMA, **settings})
    (folder / "mega.log").write_text(log, "utf-8")
    return ask(folder, "calibrate", "from", "mega.log", "--on", "dgx-h100", "--model", "llama3-70b", *words)


def _tflops(seconds: float) -> float:
    """TFLOP/s per GPU by 6 FLOP per parameter and token, and attention in full: Megatron-LM's count."""
    return 1e-12 * (6 * 70.55e9 + 12 * 80 * 8192 * 8192) * 256 * 8192 / (seconds * 64)


def test_a_log_whose_printed_rate_contradicts_its_times_is_refused(tmp_path: Path) -> None:
    reply = _calibrate(tmp_path, 21.5, "--save", "mine.yaml", tflops=480.0)
    assert reply.status == 2
    assert "prints 480 TFLOP/s" in reply.err
    assert "21.5 s per step" in reply.err
    assert "--element fp8" in reply.err  # the times are beyond bf16 too, and one message names both
    assert len(reply.err.strip().splitlines()) == 1
    assert not (tmp_path / "mine.yaml").exists()


@pytest.mark.parametrize("convention", [1.0, 4 / 3, 0.95, 0.87], ids=["whole", "recomputed", "halved", "no attention"])
def test_other_ways_to_count_flop_are_no_contradiction(tmp_path: Path, convention: float) -> None:
    assert _calibrate(tmp_path, 32.0, tflops=convention * _tflops(32.0)).status == 0


@pytest.mark.parametrize("wrong", [1.6, 0.7])
def test_a_wrong_batch_contradicts_the_printed_rate(tmp_path: Path, wrong: float) -> None:
    reply = _calibrate(tmp_path, 32.0, tflops=wrong * _tflops(32.0))
    assert reply.status == 2
    assert "Check --model, --batch, --seq and --on" in reply.err


def test_times_beyond_what_kernels_sustain_are_refused_with_the_likely_cause(tmp_path: Path) -> None:
    reply = _calibrate(tmp_path, 17.0)  # printed and timed rates agree
    assert reply.status == 2
    assert "the log prints" not in reply.err
    assert "% of the bf16 peak of h100-sxm" in reply.err
    assert "--element fp8" in reply.err


def test_a_run_in_fp8_is_taken_at_the_rate_that_bf16_cannot_reach(tmp_path: Path) -> None:
    assert _calibrate(tmp_path, 17.0, "--element", "fp8", bf16="None").status == 0


def test_products_above_the_peak_are_refused(tmp_path: Path) -> None:
    # 2 × 8192³ FLOP in 1 ms are 1,100 TFLOP/s, above the 989 of an H100 in bf16.
    (tmp_path / "gemm.csv").write_text("m,n,k,element,seconds\n8192,8192,8192,bf16,1e-3\n", "utf-8")
    reply = ask(tmp_path, "calibrate", "from", "gemm.csv", "--on", "dgx-h100/8", "--save", "mine.yaml")
    assert reply.status == 2
    assert "above the bf16 peak of h100-sxm" in reply.err
