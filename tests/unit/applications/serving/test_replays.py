"""Logs through the rules of the engine that was logged."""

from pathlib import Path

import numpy as np
import pytest

from volvelle import Catalogue
from volvelle.applications.serving.asking import run_of
from volvelle.applications.serving.measurements import ServingMeasurement, serving_measurements
from volvelle.applications.serving.replays import replay_answers, replayed
from volvelle.applications.serving.runs import ServingRun

NAMES = ("log", "chip", "model", "engine", "tp", "dp", "expert_parallel", "kv_tokens", "max_num_seqs")


def rows_of(folder: Path, *, requests: int = 20, **told: object) -> tuple[ServingMeasurement, ...]:
    cells = {"log": "one", "chip": "rtx-4090", "model": "llama3-8b", "engine": "vllm", "tp": 1, **told}
    header = f"row_id,{','.join(NAMES)},input_tokens,output_tokens,queued_s,first_token_s,last_token_s"
    stated = ",".join(str(cells.get(name, "")) for name in NAMES)
    lines = [
        f"r{place},{stated},500,100,{place * 0.1},{place * 0.1 + 1},{place * 0.1 + 5}" for place in range(requests)
    ]
    file = folder / "mine.csv"
    file.write_text("\n".join([header, *lines]) + "\n")
    return serving_measurements(file).rows


def run_in(folder: Path, catalogue: Catalogue, **told: object) -> ServingRun:
    run = run_of(rows_of(folder, **told)[0], catalogue)
    assert isinstance(run, ServingRun)
    return run


def test_every_token_of_a_log_is_served_and_no_first_one_before_its_request(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    served = replayed(run_in(tmp_path, catalogue))
    assert int(served.output_tokens.sum()) == 20 * 100
    assert np.all(served.first_token > served.sent)


def test_fewer_kv_tokens_make_requests_wait_longer(tmp_path: Path, catalogue: Catalogue) -> None:
    wide, narrow = (replay_answers(run_in(tmp_path, catalogue, kv_tokens=room)) for room in (40_000, 3_200))
    assert narrow["ttft"] > 2.0 * wide["ttft"]


def test_the_time_of_clients_is_not_in_a_log(tmp_path: Path, catalogue: Catalogue) -> None:
    run = run_in(tmp_path, catalogue, requests=1)
    assert run.instance.rules().api_seconds > 0
    served = replayed(run)
    assert served.admitted[0] == 0.0


def test_ranks_that_share_experts_are_followed_as_one_engine(tmp_path: Path, catalogue: Catalogue) -> None:
    told = {"chip": "rtx-pro-6000", "model": "qwen3-30b-a3b", "max_num_seqs": 4, "expert_parallel": "True"}
    one, two = (replayed(run_in(tmp_path, catalogue, **told, dp=ranks)) for ranks in (1, 2))
    assert int(one.spans.running.max()) == 4
    assert int(two.spans.running.max()) == 8


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ({"engine": "sglang"}, "logs of sglang are not replayed"),
        ({"dp": 2}, "replicas of a dense model share nothing"),
        ({"model": "llama3-70b"}, "which leaves no room"),
    ],
)
def test_a_log_that_cannot_be_replayed_is_refused_with_its_reason(
    tmp_path: Path, catalogue: Catalogue, told: dict[str, object], reason: str
) -> None:
    found = run_of(rows_of(tmp_path, **told)[0], catalogue)
    assert isinstance(found, str)
    assert reason in found
