"""Other tools beside ours, on the same rows."""

import pytest

from volvelle.applications.measured_table import RowHead
from volvelle.applications.scores import ScoredRow
from volvelle.applications.serving.measurements import serving_measurements
from volvelle.applications.serving.peers import peers_finding


def scored(split: str = "heldout") -> list[ScoredRow]:
    rows = [
        row for row in serving_measurements(kind="saturated_throughput").rows if row.head.row_id.startswith("ST0090")
    ]
    assert len(rows) == 1
    head = RowHead(row_id=rows[0].head.row_id, group=rows[0].head.group, split=split)  # type: ignore[arg-type]
    row = type(rows[0])(head=head, kind="", measure="throughput", value=rows[0].value, cells=())
    return [ScoredRow(row=row, label="", measured=5822.02, predicted=1.1 * 5822.02, within={"measure": "throughput"})]


def test_errors_of_a_tool_stand_beside_ours_on_the_rows_that_it_answers() -> None:
    found = peers_finding(scored()).value
    assert isinstance(found, list)
    assert [one["rows"] for one in found] == [1]
    assert found[0]["of_peer"]["bias"] == pytest.approx(5263.4 / 5822.02 - 1.0)
    assert found[0]["ours"]["bias"] == pytest.approx(0.1)
    assert found[0]["held_out_rows"] == 1


def test_doubtful_rows_are_no_comparison_and_without_rows_there_is_no_table() -> None:
    finding = peers_finding(scored("heldout_secondary"))
    assert finding.value == []
    assert not finding.title
