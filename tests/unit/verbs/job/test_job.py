"""The verb."""

from pathlib import Path

import pytest
from click.testing import CliRunner

import volvelle
from volvelle.cli.job import job as command
from volvelle.errors import DescriptionError, MappingError, UnknownNameError
from volvelle.quantities import DAY

ASKED = {"on": "dgx-h100/64", "tokens": "1T", "batch": 512, "tensor": 8, "pipeline": 1}


@pytest.fixture(scope="module")
def answer() -> volvelle.Job:
    return volvelle.job("llama3-8b", **ASKED, check="simulate", region="europe-north1", rent="lambda")


def test_contributions_sum_to_the_days(answer: volvelle.Job) -> None:
    assert sum(answer.contributions.values()) == pytest.approx(answer.run.wall / DAY)
    assert answer.run.days.p10 < answer.run.days.p50 < answer.run.days.p90


def test_the_step_is_that_of_estimate(answer: volvelle.Job) -> None:
    step = volvelle.estimate("llama3-8b", on="dgx-h100/64", batch=512, tensor=8, pipeline=1)
    assert answer.step_seconds == step.estimate.time
    assert answer.contributions["work"] == pytest.approx(answer.steps * step.estimate.time / DAY)


def test_simulated_runs_take_as_long(answer: volvelle.Job) -> None:
    told = answer.simulated
    assert told is not None
    assert told.days == pytest.approx(told.closed_days, rel=5e-3)


def test_llama_3_takes_as_long_as_it_took() -> None:
    asked = {"on": "dgx-h100/16384", "tokens": 15.6e12, "batch": 2048, "sequence": 8192}
    job = volvelle.job("llama3-405b", **asked, tensor=8, pipeline=16, interleave=4, zero=1)
    assert job.run.days.p50 == pytest.approx(78.4, rel=0.1)
    assert job.run.days.p10 < 78.4 < job.run.days.p90


def test_without_a_layout_the_best_is_planned() -> None:
    job = volvelle.job("llama3-8b", on="dgx-h100/8", tokens="1B", batch=64)
    assert job.mapping is not None
    assert any("fastest of volvelle plan" in note for note in job.notes)


def test_a_measured_step_needs_no_layout_and_leaves_no_doubt_in_it() -> None:
    job = volvelle.job("llama3-8b", on="dgx-h100/64", tokens="1T", batch=512, step="8 s")
    assert job.mapping is None
    low, high = job.run.doubts["step time"]
    assert low == pytest.approx(high)


def test_own_events_move_failures() -> None:
    few = volvelle.job("llama3-8b", **ASKED, events=0, node_days=3000)
    many = volvelle.job("llama3-8b", **ASKED, events=60, node_days=3000)
    assert 0.0 < few.run.interruptions_per_day < many.run.interruptions_per_day
    with pytest.raises(DescriptionError, match="belong together"):
        volvelle.job("llama3-8b", **ASKED, events=3)


def test_own_rates_come_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    rate = "{value: 5e-3 1/d, kind: measured, source: our log}"
    file.write_text(f"hazards:\n  - part: node\n    what_counts: job stops\n    rate: {rate}\n")
    job = volvelle.job("llama3-8b", **ASKED, hazard=file)
    assert job.run.interruptions_per_day == pytest.approx(8 * 5e-3)
    with pytest.raises(DescriptionError, match="not updated"):
        volvelle.job("llama3-8b", **ASKED, hazard=file, events=1, node_days=10)


def test_owning_has_a_price_too() -> None:
    ways = [paid.way for paid in volvelle.job("llama3-8b", **ASKED, own=True, rent="3 USD/h").run.spending]
    assert ways == ["rented", "owned"]


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        ({"rent": "nowhere"}, UnknownNameError),
        ({"region": "atlantis"}, UnknownNameError),
        ({"region": "europe-north1", "year": 2001}, DescriptionError),
        ({"interval": "10 s", "write": "60 s"}, DescriptionError),
        ({"tokens": "1P", "step": "1000 s", "check": "simulate"}, DescriptionError),
        ({"tensor": 64, "pipeline": 64}, MappingError),
    ],
)
def test_what_makes_no_sense_is_said(asked: dict[str, object], error: type[Exception]) -> None:
    with pytest.raises(error):
        volvelle.job("llama3-8b", **{**ASKED, **asked})


def test_a_job_that_gets_nowhere_is_an_answer() -> None:
    done = CliRunner().invoke(
        command,
        [
            "llama3-8b",
            "--on",
            "dgx-h100/4096",
            "--tokens",
            "1T",
            "--batch",
            "4096",
            "--step",
            "5 s",
            "--restart",
            "1 d",
        ],
    )
    assert done.exit_code == 1
    assert "infeasible" in done.output
    assert "cure" in done.output


def test_the_screen_has_days_money_energy_and_carbon() -> None:
    told = ["llama3-8b", "--on", "dgx-h100/64", "--tokens", "1T", "--batch", "512", "--tp", "8", "--brief"]
    done = CliRunner().invoke(command, told)
    assert done.exit_code == 0, done.output
    for word in ("days", "ETTR", "interruptions a day", "checkpoint every", "spares", "USD", "MWh", "CO2e"):
        assert word in done.output
