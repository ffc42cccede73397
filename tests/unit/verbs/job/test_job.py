"""The verb."""

from pathlib import Path
from typing import Any

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
    assert answer.run.days.p10 < answer.run.days.value < answer.run.days.p90


def test_the_step_is_that_of_estimate(answer: volvelle.Job) -> None:
    step = volvelle.estimate("llama3-8b", on="dgx-h100/64", batch=512, tensor=8, pipeline=1)
    assert answer.step_seconds == step.estimate.time
    assert answer.contributions["work"] == pytest.approx(answer.steps * step.estimate.time / DAY)
    assert [phase.basis for phase in answer.phases] == [step.basis]


def test_simulated_runs_take_as_long(answer: volvelle.Job) -> None:
    told = answer.simulated
    assert told is not None
    assert told.days == pytest.approx(told.closed_days, rel=5e-3)


def test_llama_3_takes_as_long_as_it_took() -> None:
    asked = {"on": "dgx-h100/16384", "tokens": 15.6e12, "batch": 2048, "sequence": 8192}
    job = volvelle.job("llama3-405b", **asked, tensor=8, pipeline=16, interleave=4, zero=1)
    assert job.run.days.value == pytest.approx(78.4, rel=0.1)
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


def test_replicas_that_restart_alone_are_simulated_too() -> None:
    often = {**ASKED, "events": 3000, "node_days": 3000, "recovery": "elastic", "replicas": 8, "common": "5 %"}
    told = volvelle.job("llama3-8b", **often, check="simulate").simulated
    assert told is not None
    assert told.failures > 100
    assert told.days == pytest.approx(told.closed_days, rel=0.01)
    assert told.deviation == pytest.approx(told.closed_deviation, rel=0.35)


@pytest.mark.parametrize("survived", ["0 %", "90 %"])
def test_two_tiers_are_simulated_too(survived: str) -> None:
    often = {**ASKED, "tokens": "300B", "events": 3000, "node_days": 3000, "recovery": "two-tier"}
    job = volvelle.job("llama3-8b", **often, survived=survived, check="simulate")
    told = job.simulated
    assert told is not None
    assert told.days == pytest.approx(told.closed_days, rel=0.01)
    assert told.deviation == pytest.approx(told.closed_deviation, rel=0.3)
    assert sum(job.contributions.values()) == pytest.approx(told.closed_days)
    assert (job.run.segments > 1) == (survived == "90 %")


def test_two_tiers_on_capacity_that_is_taken_away_are_simulated_with_their_waits() -> None:
    asked = {**ASKED, "tokens": "300B", "recovery": "two-tier", "survived": "90 %", "preempted_every": "2 h"}
    job = volvelle.job("llama3-8b", **asked, capacity_wait="30 min", check="simulate")
    told = job.simulated
    assert told is not None
    assert told.days == pytest.approx(told.closed_days, rel=0.01)
    assert told.deviation == pytest.approx(told.closed_deviation, rel=0.2)
    assert job.contributions["waiting for capacity"] > 0.15 * told.closed_days
    # Hardly any interruption is one that a peer's memory survives.
    assert job.run.segments == 1


def test_two_tiers_that_survive_most_beat_one_and_need_to_know_what_they_survive() -> None:
    often = {**ASKED, "events": 3000, "node_days": 3000}
    ratios = [
        volvelle.job("llama3-8b", **often, recovery="two-tier", survived=share).run.ettr.value
        for share in ("0 %", "50 %", "90 %", "99 %")
    ]
    assert ratios == sorted(ratios)
    assert ratios[-1] > volvelle.job("llama3-8b", **often, recovery="synchronous").run.ettr.value
    with pytest.raises(DescriptionError, match="peer's memory survives"):
        volvelle.job("llama3-8b", **ASKED, recovery="two-tier")
    with pytest.raises(DescriptionError, match="make it two-tier"):
        volvelle.job("llama3-8b", **ASKED, survived="90 %")


def test_preemptions_wait_for_capacity_and_simulation_agrees() -> None:
    firm = volvelle.job("llama3-8b", **ASKED)
    asked = {**ASKED, "preempted_every": "2 h", "capacity_wait": "30 min", "check": "simulate"}
    taken = volvelle.job("llama3-8b", **asked)
    lost = taken.contributions["waiting for capacity"]
    assert lost == pytest.approx(0.25 * (taken.run.wall / DAY - lost), rel=0.1)
    assert firm.contributions["waiting for capacity"] == 0.0
    told = taken.simulated
    assert told is not None
    assert told.days == pytest.approx(told.closed_days, rel=0.005)
    # What is repaired is what broke: capacity that was taken away needs no spares.
    assert taken.run.spare_nodes is not None
    assert firm.run.spare_nodes is not None
    assert taken.run.spare_nodes.mean == pytest.approx(firm.run.spare_nodes.mean)


def test_spot_prices_are_those_of_a_cloud_and_need_to_know_how_often_it_takes_them_back() -> None:
    asked = {**ASKED, "rent": "aws", "spot": True}
    spot = volvelle.job("llama3-8b", **asked, preempted_every="6 h").run.spending[0]
    demand = volvelle.job("llama3-8b", **ASKED, rent="aws").run.spending[0]
    assert spot.usd_per_hour < demand.usd_per_hour
    assert "spot" in spot.what
    with pytest.raises(DescriptionError, match="time between preemptions is missing"):
        volvelle.job("llama3-8b", **asked)
    with pytest.raises(DescriptionError, match="a price of a cloud"):
        volvelle.job("llama3-8b", **{**asked, "rent": "3 USD/h"}, preempted_every="6 h")


def test_rates_by_age_of_a_file_are_rejected_with_what_to_state_instead(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    rate = "{value: 5e-3 1/d, kind: measured, source: our log}"
    hazards = f"hazards:\n  - {{part: node, what_counts: job stops, rate: {rate}}}\n"
    file.write_text(hazards + f"ages:\n  - {{batch: ours, since: 0, until: 9, rate: {rate}}}\n")
    with pytest.raises(DescriptionError, match=r"ages in mine\.yaml was removed: state today's rate of part gpu"):
        volvelle.job("llama3-8b", **ASKED, hazard=file)


@pytest.mark.parametrize("name", ["age", "wear"])
def test_an_argument_that_was_removed_is_answered_with_what_to_use_instead(name: str) -> None:
    with pytest.raises(DescriptionError, match=rf"--{name} was removed: .* name it by --hazard"):
        volvelle.job("llama3-8b", **ASKED, **dict[str, Any]({name: 1}))


def test_what_would_be_ignored_is_refused() -> None:
    with pytest.raises(DescriptionError, match="but recovery is asynchronous, where every failure does"):
        volvelle.job("llama3-8b", **ASKED, common="5 %")


def test_a_layout_of_a_phase_keeps_what_is_trained_and_says_what_it_leaves() -> None:
    phases = [{"tokens": "1B", "layout": "tp2"}]
    asked = {"on": "dgx-h100/8", "batch": 64, "phases": phases}
    adapted, whole = volvelle.job("llama3-8b", **asked, lora=16), volvelle.job("llama3-8b", **asked)  # type: ignore[arg-type]
    assert adapted.phases[0].run.step < 0.95 * whole.phases[0].run.step
    told = volvelle.job("llama3-8b", **asked, zero=3).notes  # type: ignore[arg-type]
    assert any("zero as asked is of the others alone" in note for note in told)
    with pytest.raises(DescriptionError, match="states a layout, 'tp2', and a step of"):
        volvelle.job("llama3-8b", **asked, step="6 s")  # type: ignore[arg-type]


def test_phases_add_up_and_each_has_its_own_step(tmp_path: Path) -> None:
    file = tmp_path / "phases.yaml"
    long = "{name: long, tokens: 100B, sequence: 32768, batch: 128, layout: tp8 cp2}"
    file.write_text(f"phases:\n  - {{tokens: 900B}}\n  - {long}\n  - {{tokens: 1B, step: 2 s}}\n")
    asked = {name: value for name, value in ASKED.items() if name != "tokens"}
    job = volvelle.job("llama3-8b", **asked, phases=file)
    first, second, third = job.phases
    assert job.tokens == pytest.approx(1.001e12)
    assert job.contributions["work"] == pytest.approx(sum(phase.run.work for phase in job.phases) / DAY)
    assert (first.name, second.name, third.mapping) == ("phase 1", "long", None)
    assert second.mapping is not None
    assert second.mapping.context == 2
    alone = volvelle.job("llama3-8b", **{**ASKED, "tokens": "900B"})
    assert first.run == alone.phases[0].run
    assert job.to_dict()["phases"][1]["name"] == "long"
    with pytest.raises(DescriptionError, match="one of the two"):
        volvelle.job("llama3-8b", **ASKED, phases=file)
    with pytest.raises(DescriptionError, match="tokens"):
        volvelle.job("llama3-8b", **asked, phases=[{"batch": 3}])


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
