"""Validation by name."""

import pytest

import volvelle
from volvelle.errors import DescriptionError
from volvelle.verbs.validate import GoodputRuns


def test_whole_jobs_are_validated_by_their_word() -> None:
    answer = volvelle.validate("goodput")
    assert isinstance(answer, GoodputRuns)
    document = answer.to_dict()
    assert [row["run"] for row in document["rows"]] == [run.row.name for run in answer.rows]
    assert document["held"] == sum(bool(row["held"]) for row in document["rows"])
    assert len(document["published"]) == document["figures"]
    assert "intervals hold what was reported" in repr(answer)


def test_reported_runs_take_no_table_of_ones_own() -> None:
    with pytest.raises(DescriptionError, match="no options"):
        volvelle.validate("goodput", group="llama")
