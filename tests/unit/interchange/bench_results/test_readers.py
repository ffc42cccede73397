"""Results of benchmarks: what three tools write is read alike; what is damaged or of no use is said with its place."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.bench_files import CHECKPOINT, aiperf_result, measured, run_of, served_by, sglang_result, vllm_result
from volvelle import DescriptionError
from volvelle.interchange.bench_results.readers import read_results
from volvelle.simulation.batching.metrics import measure
from volvelle.simulation.batching.served import Served


@cache
def served() -> Served:
    one = served_by()
    return measured(run_of(one, 4, 256, 32), one.engine.constants)


def written(folder: Path, *results: dict[str, Any]) -> Path:
    file = folder / "bench.json"
    file.write_text("\n".join(map(json.dumps, results)) + "\n", "utf-8")
    return file


@pytest.mark.parametrize("detailed", [True, False])
@pytest.mark.parametrize("write", [vllm_result, sglang_result])
def test_a_result_is_read_with_or_without_details(write: Any, detailed: bool, tmp_path: Path) -> None:
    (found,) = read_results(written(tmp_path, write(served(), 4, detailed=detailed)))
    assert found.model == CHECKPOINT
    assert (found.clients, found.requests, found.detailed) == (4, 20, detailed)
    assert found.figures["ttft"] == pytest.approx(measure(served()).ttft.mean)
    assert found.figures["tpot"] == pytest.approx(measure(served()).tpot.mean)
    assert found.input_tokens.sum() == served().input_tokens.sum()
    assert found.output_tokens.sum() == served().output_tokens.sum()
    if detailed:
        assert np.array_equal(found.input_tokens, served().input_tokens)


def test_aiperf_calls_tpot_inter_token_latency(tmp_path: Path) -> None:
    (found,) = read_results(written(tmp_path, aiperf_result(served(), 4)))
    assert (found.model, found.clients, found.requests) == (CHECKPOINT, 4, 20)
    assert found.figures["tpot"] == pytest.approx(measure(served()).tpot.mean)
    assert found.input_tokens.sum() == served().input_tokens.sum()


def test_a_file_may_have_a_run_a_line(tmp_path: Path) -> None:
    found = read_results(written(tmp_path, sglang_result(served(), 4), sglang_result(served(), 4)))
    assert [one.place for one in found] == ["bench.json, line 1", "bench.json, line 2"]
    assert found[0].told["version"] == "0.5.10"


def test_a_file_that_is_cut_short_is_said_with_its_place_and_a_cure(tmp_path: Path) -> None:
    file = written(tmp_path, vllm_result(served(), 4))
    text = file.read_text("utf-8")
    for share in (0.1, 0.5, 0.99):
        file.write_text(text[: int(share * len(text))], "utf-8")
        with pytest.raises(DescriptionError, match=r"bench\.json is not JSON.*char.*run the benchmark again"):
            read_results(file)
    file.write_text(json.dumps(sglang_result(served(), 4)) + '\n{"backend": "sgl', "utf-8")
    with pytest.raises(DescriptionError, match=r"bench\.json, line 2 is not JSON"):
        read_results(file)


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (lambda: vllm_result(served(), 4, failed=3), "3 of 20 requests failed"),
        (lambda: vllm_result(served(), 4, completed=0), "completed is 0"),
        (lambda: vllm_result(served(), 4, completed=2e10), "a whole number of requests, at most 10,000,000"),
        (lambda: sglang_result(served(), 4, completed=19.5), "completed is 19.5; it must be a whole number"),
        (lambda: vllm_result(served(), 4, detailed=False, total_input_tokens=7), "is 7 for 20 requests"),
        (lambda: vllm_result(served(), 4, mean_ttft_ms=-2.5), "mean_ttft_ms is -2.5; a latency is no less than 0"),
        (lambda: vllm_result(served(), 4, mean_ttft_ms=float("nan")), "mean_ttft_ms is nan"),
        (lambda: vllm_result(served(), 4, mean_tpot_ms=None), "mean_tpot_ms is None"),
        (lambda: vllm_result(served(), 4, input_lens=[1, 2]), "the file is of another run or cut"),
        (lambda: vllm_result(served(), 4, output_lens=[0] * 20), r"output_lens\[0\] is 0"),
        (lambda: sglang_result(served(), 4, errors=["", "timed out"]), "the first: 'timed out'"),
        (lambda: sglang_result(served(), 4, request_rate="trace"), "request_rate is 'trace'"),
        (lambda: aiperf_result(served(), 4, error_request_count={"unit": "requests", "avg": 2}), "2 of 22 requests"),
        (lambda: aiperf_result(served(), 4, was_cancelled=True), "did not finish"),
        (lambda: {"hello": 1}, "is no result of a benchmark"),
    ],
)
def test_what_is_no_measurement_of_the_load_is_refused(result: Any, said: str, tmp_path: Path) -> None:
    with pytest.raises(DescriptionError, match=said):
        read_results(written(tmp_path, result()))


def test_a_file_that_is_not_there_or_empty_is_said(tmp_path: Path) -> None:
    with pytest.raises(DescriptionError, match="does not exist"):
        read_results(tmp_path / "none.json")
    (tmp_path / "empty.json").write_text("", "utf-8")
    with pytest.raises(DescriptionError, match="not JSON"):
        read_results(tmp_path / "empty.json")
    (tmp_path / "list.json").write_text("[1]", "utf-8")
    with pytest.raises(DescriptionError, match="holds list"):
        read_results(tmp_path / "list.json")
