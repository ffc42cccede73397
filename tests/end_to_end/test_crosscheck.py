"""``volvelle crosscheck`` as people type it."""

import json

from click.testing import CliRunner

from tests.end_to_end.test_command import volvelle
from volvelle.cli.crosscheck import crosscheck
from volvelle.report.documents.document import schema
from volvelle.verbs.crosscheck import suite_check

QUESTION = ("llama3-8b", "--on", "dgx-h100/16", "--batch", "32", "--tp", "4", "--pp", "2")


def test_answers_stand_side_by_side() -> None:
    done = volvelle("crosscheck", *QUESTION, "--with", "closed,event,flows")
    assert done.returncode == 0, done.stderr
    for word in (
        "closed: ",
        "event: ",
        "flows: ",
        "against closed",
        "of a range of ±",
        "Ranges hold 80 %",
        "Exchanges as flows",
    ):
        assert word in done.stdout


def test_the_document_fits_its_schema() -> None:
    done = volvelle("crosscheck", *QUESTION, "--json")
    document = json.loads(done.stdout)
    assert [answer["name"] for answer in document["answers"]] == ["closed", "event"]
    (told,) = document["differences"]
    assert told["seconds"] == document["answers"][1]["seconds"] - document["answers"][0]["seconds"]
    assert 0.0 < told["share_of_range"] < 1.0
    for answer in document["answers"]:
        assert answer["range"]["low"] < answer["seconds"] < answer["range"]["high"]
        assert answer["range"]["level"] == 0.8
    assert document["model_error"]["rows"] > 0
    assert document["weakest_evidence"] in ("measured", "vendor", "derived", "assumed")
    (whole, suite) = schema("crosscheck")["anyOf"]
    assert set(whole["required"]) <= set(document)
    assert "median_error" in suite["required"]


def test_what_is_missing_is_named() -> None:
    for words, missing in (((), "MODEL"), (("llama3-8b",), "--on"), (("llama3-8b", "--on", "dgx-h100/16"), "--batch")):
        done = CliRunner().invoke(crosscheck, words)
        assert done.exit_code == 2
        assert f"{missing} is missing" in done.output
    done = CliRunner().invoke(crosscheck, ["llama3-8b", "--suite"])
    assert "leave MODEL and --on away" in done.output


def test_a_layout_without_an_order_has_no_replay() -> None:
    done = volvelle("crosscheck", "llama3-8b", "--on", "dgx-h100/16", "--batch", "24", "--tp", "4", "--dp", "2", "--pp",
                    "2", "--interleave", "2", "--micro-batch", "4")  # fmt: skip
    assert done.returncode == 1
    assert "event: no answer" in done.stdout


def test_the_suite_is_a_table_and_a_document(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    whole = suite_check.crosscheck_suite

    def few(**asked: object) -> suite_check.SuiteCheck:
        return whole(rows=suite_check.SUITE[:2], **asked)  # type: ignore[arg-type]

    monkeypatch.setattr(suite_check, "crosscheck_suite", few)
    done = CliRunner().invoke(crosscheck, ["--suite"])
    assert done.exit_code == 0, done.output
    assert "2 workloads, the closed form against a replay, worst first" in done.output
    document = json.loads(CliRunner().invoke(crosscheck, ["--suite", "--json"]).output)
    assert document["workloads"] == len(document["results"]) == 2
    assert document["worst_error"] == max(abs(result["error"]) for result in document["results"])
