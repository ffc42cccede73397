"""A stage with a slow chip, asked about as people do."""

import pytest

import volvelle
from volvelle import VolvelleError
from volvelle.cli import run
from volvelle.report.documents.document import json_text

ASKED = {"on": "dgx-a100/64", "batch": 64, "tensor": 8, "pipeline": 4}


def test_a_slow_stage_makes_the_step_longer_by_at_most_what_it_lacks() -> None:
    plain = volvelle.estimate("opt-6.7b", estimator="event", **ASKED)  # type: ignore[arg-type]
    slow = volvelle.estimate("opt-6.7b", estimator="event", stragglers={1: "80%"}, **ASKED)  # type: ignore[arg-type]
    assert slow.seconds_without_stragglers == pytest.approx(plain.estimate.time, rel=1e-12)
    assert plain.estimate.time < slow.estimate.time <= plain.estimate.time / 0.8
    assert sum(line.time for line in slow.estimate.contributions if line.exposed) == pytest.approx(slow.estimate.time)
    assert slow.replayed.time == pytest.approx(slow.estimate.time)
    assert slow.replayed.stage == 1
    assert plain.seconds_without_stragglers is None


def test_a_straggler_is_in_the_text_and_in_the_document(capsys: pytest.CaptureFixture[str]) -> None:
    words = "estimate opt-6.7b --on dgx-a100/64 --batch 64 --tp 8 --pp 4 --estimator event --straggler 1:0.5"
    assert run(words.split()) == 0
    assert "stage 1 at 50 % of its speed: +" in capsys.readouterr().out
    answer = volvelle.estimate("opt-6.7b", estimator="event", stragglers={1: 0.5}, **ASKED)  # type: ignore[arg-type]
    assert '"stage": 1' in json_text("estimate", answer)


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        ("--straggler 1:80%", "the closed estimator knows no stragglers"),
        ("--estimator event --straggler 4:80%", "a straggler is at stage 4; there are 4, from 0 to 3"),
        ("--estimator event --straggler 1:0", "the speed of the straggler at stage 1"),
        ("--estimator event --straggler 1:140%", "the speed of the straggler at stage 1"),
        ("--estimator event --straggler one", "write STAGE:SPEED"),
        ("--estimator event --straggler 1:90% --straggler 1:80%", "names stage 1 twice"),
    ],
)
def test_stragglers_that_mean_nothing_are_refused_with_what_to_do(
    words: str, wrong: str, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = f"estimate opt-6.7b --on dgx-a100/64 --batch 64 --tp 8 --pp 4 {words}"
    assert run(asked.split()) == 2
    assert wrong in " ".join(capsys.readouterr().err.split())


def test_a_stage_below_the_first_is_no_stage() -> None:
    with pytest.raises(VolvelleError, match="the stage of a straggler"):
        volvelle.estimate("opt-6.7b", estimator="event", stragglers={-1: 0.5}, **ASKED)  # type: ignore[arg-type]
