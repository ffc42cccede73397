"""Tables of serving, told by their columns or by name."""

from pathlib import Path

import pytest

from volvelle.applications.serving.measurements import KINDS, serving_measurements
from volvelle.errors import DescriptionError, UnknownNameError
from volvelle.verbs.validate import validate


def table(folder: Path, kind: str, **cells: str) -> Path:
    wanted = dict.fromkeys(("row_id", *KINDS[kind].needed), "1") | {
        column: "1.5" for column, _ in KINDS[kind].measures.values()
    }
    file = folder / f"{kind}.csv"
    columns = wanted | cells
    file.write_text(",".join(columns) + "\n" + ",".join(columns.values()) + "\n")
    return file


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"request_logs"}))
def test_the_kind_of_a_file_is_told_by_its_columns(tmp_path: Path, kind: str) -> None:
    rows = serving_measurements(table(tmp_path, kind)).rows
    assert {row.kind for row in rows} == {kind}
    assert {row.measure for row in rows} == set(KINDS[kind].measures)


def test_a_kind_that_is_named_counts_even_where_columns_would_tell_another(tmp_path: Path) -> None:
    file = table(tmp_path, "static_phases", latency_s="3")
    assert {row.kind for row in serving_measurements(file).rows} == {"static_latency"}
    assert {row.kind for row in serving_measurements(file, kind="static_phases").rows} == {"static_phases"}


def test_columns_of_no_kind_are_refused_with_those_of_each_kind(tmp_path: Path) -> None:
    file = tmp_path / "odd.csv"
    file.write_text("row_id,colour\n1,red\n")
    with pytest.raises(DescriptionError, match=r"odd.csv is no table of serving.*row_id, colour.*closed_loop \(engine"):
        serving_measurements(file)
    with pytest.raises(DescriptionError, match="lacks the columns engine"):
        serving_measurements(file, kind="closed_loop")


def test_a_kind_that_there_is_not_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="closed_loops"):
        serving_measurements(kind="closed_loops")
    with pytest.raises(UnknownNameError, match="colour"):
        validate("serving", colour="red")


def test_rows_that_a_source_doubts_are_kept_apart_in_a_file_too(tmp_path: Path) -> None:
    plain, doubted = (
        serving_measurements(table(tmp_path, "static_latency", flag=flag)).rows[0] for flag in ("", "repeats-disagree")
    )
    assert (plain.head.split, doubted.head.split) == ("given", "heldout_secondary")


def test_results_that_do_not_state_their_layout_are_kept_apart(tmp_path: Path) -> None:
    stated = serving_measurements(table(tmp_path, "mlperf", tp="1", max_batch_per_engine="8")).rows[0]
    unstated = serving_measurements(table(tmp_path, "mlperf", tp="", max_batch_per_engine="8")).rows[0]
    assert (stated.head.split, unstated.head.split) == ("given", "heldout_secondary")
