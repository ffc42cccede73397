"""Measured rows of two pools."""

from pathlib import Path

import pytest

from volvelle import Catalogue
from volvelle.applications.serving.answers import answers
from volvelle.applications.serving.measurements import ServingMeasurement, kind_of, serving_measurements
from volvelle.applications.serving.runs import ServingRun
from volvelle.applications.serving.split.measured import UNKNOWN, split_run

HEADER = (
    "row_id,split,group,source_family,engine,model,chip,weights,isl,osl,concurrency,prefill_workers,prefill_tp,"
    "prefill_attention_dp,prefill_moe_ep,decode_workers,decode_tp,decode_attention_dp,decode_moe_ep,"
    "decode_batch_size,ttft_ms,tpot_ms,flag,source"
)
ROW = "X1,given,mine,aic-gap-analysis,vllm,qwen3-32b,h100-sxm,fp8,512,16,8,2,1,1,1,1,4,1,1,64,100,10,,me"


def rows(tmp_path: Path, *lines: str) -> tuple[ServingMeasurement, ...]:
    file = tmp_path / "mine.csv"
    file.write_text("\n".join((HEADER, *lines)) + "\n")
    assert kind_of(file).name == "disaggregated"
    return serving_measurements(file).rows


def test_a_row_that_says_how_many_workers_there_were_is_answered(tmp_path: Path, catalogue: Catalogue) -> None:
    first, second = rows(tmp_path, ROW)
    assert (first.measure, second.measure) == ("ttft", "tpot")
    run = split_run(first, catalogue)
    assert isinstance(run, ServingRun)
    assert run.prefill is not None
    assert (run.prefill.layout.tensor, run.instance.layout.tensor) == (1, 4)
    found = answers(run)
    assert 0.0 < found["tpot"] < found["ttft"] < 1.0


def test_a_row_that_does_not_is_refused_with_that_reason(tmp_path: Path, catalogue: Catalogue) -> None:
    (row, _) = rows(tmp_path, ROW.replace("8,2,1,1,1,1,4", "8,,1,1,1,,4"))
    assert split_run(row, catalogue) == UNKNOWN == "workers unknown"


def test_clients_that_are_not_stated_are_as_many_as_batches_hold(tmp_path: Path, catalogue: Catalogue) -> None:
    (row, _) = rows(tmp_path, ROW.replace("512,16,8,", "512,16,,"))
    run = split_run(row, catalogue)
    assert isinstance(run, ServingRun)
    assert run.sizes["concurrency"] == pytest.approx(64)
    assert any("as many clients" in told for told in run.assumed)
