"""Reading measured training runs: shipped tables, files of one's own, and what is wrong with them."""

import gzip
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from volvelle.applications.measured_table import RowHead
from volvelle.applications.memory.application import memory_measurements
from volvelle.applications.training.measurements import TrainingMeasurement, training_measurements
from volvelle.errors import DescriptionError

FULL = (
    "row_id,source_group,model,n_layers,hidden,n_heads,ffn_hidden,glu,vocab,seq_len,accel,n_accel,TP,PP,DP,micro_batch,"
    "global_batch,recompute,step_time_s,tokens_per_s_per_accel"
)
SHORT = (
    "row_id,accel,n_accel,n_layers,hidden,n_heads,seq_len,vocab_assumed,TP,PP,DP,micro_batch,global_batch,recompute,"
    "precision,framework,step_time_s,tokens_per_s_per_accel"
)
RUN = "A,mine,gpt,24,2048,16,8192,0,51200,2048,A100-SXM4-80GB,8,2,1,4,4,64,full,1.5,"


def written(folder: Path, *lines: str) -> Path:
    file = folder / "runs.csv"
    file.write_text("\n".join(lines) + "\n", "utf-8")
    return file


def test_all_shipped_rows_read_and_are_unique() -> None:
    found = training_measurements()
    assert (len(found.rows), len(found.unread)) == (1201 + 1274, 0)
    assert len({row.head.row_id for row in found.rows}) == len(found.rows)
    assert all(row.head.source for row in found.rows)
    assert not any(row.head.split == "given" for row in found.rows)


def test_every_excluded_row_says_why() -> None:
    rows = training_measurements().rows
    assert all(bool(row.head.excluded_because) == (row.head.split == "excluded") for row in rows)


def test_single_node_times_of_vtrain_are_straight_lines_as_no_clock_would_show_them() -> None:
    lines = defaultdict[tuple[int | None, ...], list[tuple[float, float]]](list)
    for row in training_measurements().rows:
        if (row.head.group, row.head.split) == ("vtrain-single", "calibration"):
            layout = (row.hidden, row.layers, row.tensor, row.pipeline, row.data, row.micro_batch)
            at_once = (row.data or 0) * (row.micro_batch or 0)
            lines[layout].append(((row.global_batch or 0) / at_once, row.seconds or 0.0))
    long = [np.array(sorted(points)).T for points in lines.values() if len(points) > 2]
    assert len(long) == 180
    for micro_batches, seconds in long:
        between = np.interp(micro_batches, micro_batches[[0, -1]], seconds[[0, -1]])
        assert seconds == pytest.approx(between, abs=1.1e-6)  # as many digits as the table keeps


def test_shipped_memory_rows_read() -> None:
    rows = memory_measurements().rows
    assert len(rows) == 36
    assert all(row.value > 0 and row.head.source for row in rows)


def test_a_row_of_the_long_table_reads(tmp_path: Path) -> None:
    (row,) = training_measurements(written(tmp_path, FULL, RUN)).rows
    assert (row.head.row_id, row.head.group, row.head.split) == ("A", "mine", "given")
    assert (row.layers, row.tensor, row.data, row.gated, row.recompute) == (24, 2, 4, False, "full")
    assert row.seconds == 1.5


def test_a_row_of_the_short_table_reads(tmp_path: Path) -> None:
    line = "V1,A100-SXM4 (8-GPU node),2,24,1024,16,1024,51200,1,2,1,8,16,full,fp16,Megatron-DeepSpeed,0.37,"
    (row,) = training_measurements(written(tmp_path, SHORT, line)).rows
    assert (row.head.group, row.vocabulary, row.pipeline, row.seconds) == ("vtrain-single", 51200, 2, 0.37)


def test_a_compressed_file_reads_too(tmp_path: Path) -> None:
    file = tmp_path / "runs.csv.gz"
    file.write_bytes(gzip.compress(f"{FULL}\n{RUN}\n".encode()))
    assert len(training_measurements(file).rows) == 1


def test_seconds_follow_from_tokens_where_no_step_time_is_stated() -> None:
    row = TrainingMeasurement(
        head=RowHead(row_id="A", group="g", split="given"),
        tokens_per_second_per_chip=1000.0,
        global_batch=64,
        sequence=2048,
        chips=8,
    )
    assert row.seconds == pytest.approx(64 * 2048 / (1000 * 8))


def test_a_row_without_measurement_has_no_seconds() -> None:
    assert TrainingMeasurement(head=RowHead(row_id="A", group="g", split="given"), global_batch=64).seconds is None


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (",24,2048,", ",many,2048,", "n_layers is 'many', not a number"),
        (",24,2048,", ",24.5,2048,", "n_layers is 24.5; it must be a whole number"),
        (",full,1.5,", ",full,-1.5,", "step_time_s is -1.5; it must be a positive number"),
        (",8192,0,", ",8192,maybe,", "glu is 'maybe'; it must be 0 or 1"),
    ],
)
def test_a_bad_row_is_a_reason_and_the_rest_still_reads(tmp_path: Path, old: str, new: str, said: str) -> None:
    found = training_measurements(written(tmp_path, FULL, RUN.replace(old, new, 1), RUN))
    assert len(found.rows) == 1
    (bad,) = found.unread
    assert said in bad.reason


def test_a_row_of_an_unknown_split_is_a_reason(tmp_path: Path) -> None:
    found = training_measurements(written(tmp_path, f"{FULL},split", f"{RUN},test"))
    assert "its split is 'test'" in found.unread[0].reason


def test_a_file_without_needed_columns_names_them(tmp_path: Path) -> None:
    with pytest.raises(DescriptionError, match=r"lacks the columns hidden, DP, step_time_s or tokens_per_s_per_accel"):
        training_measurements(
            written(tmp_path, "row_id,accel,n_accel,n_layers,n_heads,seq_len,TP,PP,micro_batch,global_batch")
        )


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "runs.csv"
    file.write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(DescriptionError, match="cannot be read as a table"):
        training_measurements(file)
