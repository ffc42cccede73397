"""Logs of requests: what is read of them, and what is refused with its reason."""

from pathlib import Path

import numpy as np
import pytest

from volvelle.applications.serving.measurements import serving_measurements
from volvelle.applications.serving.request_logs import log_seconds, read_logs

HEADER = "row_id,log,chip,model,engine,tp,input_tokens,output_tokens,queued_s,first_token_s,last_token_s\n"
TOLD = "rtx-4090,llama3-8b,vllm,1"


def written(folder: Path, *rows: str, header: str = HEADER) -> Path:
    file = folder / "mine.csv"
    file.write_text(header + "\n".join(rows) + "\n")
    return file


def test_a_log_is_one_row_of_four_figures(tmp_path: Path) -> None:
    file = written(tmp_path, f"a,one,{TOLD},100,11,0,0.5,1.5", f"b,one,{TOLD},100,1,1,2,2")
    rows = serving_measurements(file).rows
    assert [row.measure for row in rows] == ["ttft", "tpot", "ttft_p99", "tpot_p99"]
    assert rows[0].value == pytest.approx((0.5 + 1.0) / 2)
    assert rows[1].value == pytest.approx(0.1), "an answer of one token has no time a token"
    assert {row.head.split for row in rows} == {"given"}


def test_requests_are_in_the_order_in_which_they_came_and_time_starts_with_the_first(tmp_path: Path) -> None:
    file = written(tmp_path, f"a,one,{TOLD},100,11,7,8,9", f"b,one,{TOLD},50,3,5,6,7")
    _, [(_, _, log)] = read_logs(file)
    assert log.requests.arrival.tolist() == [0.0, 2.0]
    assert log.requests.input_tokens.tolist() == [50, 100]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("a,one,{},100,11,3,2,9", "its tokens come before it does"),
        ("a,one,{},0,11,0,2,9", "input_tokens is 0; it must be a whole number of at least 1"),
        ("a,one,{},1.5,11,0,2,9", "input_tokens is 1.5"),
        ("a,one,{},100,11,nan,2,9", "queued_s is nan"),
        ("a,one,{},100,11,soon,2,9", "queued_s is 'soon', not a number"),
        ("a,one,{},100,11,-1,2,9", "queued_s is -1"),
    ],
)
def test_a_request_that_makes_no_sense_is_left_out_with_its_reason(tmp_path: Path, row: str, said: str) -> None:
    unread, logs = read_logs(written(tmp_path, row.format(TOLD)))
    assert not logs
    assert said in unread[0].reason


def test_what_an_engine_was_told_may_stand_in_a_file_beside(tmp_path: Path) -> None:
    bare = HEADER.replace("chip,model,engine,tp,", "")
    file = written(tmp_path, "a,one,100,11,0,1,2", header=bare)
    unread, logs = read_logs(file)
    assert not logs
    assert "does not say its chip, model, engine, tp" in unread[0].reason
    assert "mine_engines.csv" in unread[0].reason
    (tmp_path / "mine_engines.csv").write_text(f"log,chip,model,engine,tp,max_num_seqs\none,{TOLD},64\n")
    _, [(head, cells, _)] = read_logs(file)
    assert cells["max_num_seqs"] == "64"
    assert head.group == "rtx-4090/vllm/llama3-8b"


def test_the_name_of_a_log_may_say_chip_and_model(tmp_path: Path) -> None:
    bare = HEADER.replace("chip,model,engine,tp,", "")
    _, [(_, cells, _)] = read_logs(written(tmp_path, "a,L40S__Qwen3-8B,100,11,0,1,2", header=bare))
    assert (cells["chip"], cells["model"]) == ("L40S", "Qwen3-8B")


def test_shipped_logs_have_three_hundred_requests_each_and_what_their_engines_said() -> None:
    _, logs = read_logs()
    assert [len(log.requests) for _, _, log in logs] == [300, 300, 300]
    for _, _, log in logs:
        seconds = log_seconds(log.name)
        assert seconds
        assert max(second.time for second in seconds) >= float(np.max(log.last_token)) - 2.0
    assert [head.split for head, _, _ in logs].count("calibration") == 1


def test_nothing_is_known_of_what_another_engine_said() -> None:
    assert log_seconds("somebody's") == ()
