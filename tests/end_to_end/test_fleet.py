"""The command that sizes a fleet, run as a person runs it."""

import json
from pathlib import Path

import jsonschema
import pytest

from tests.end_to_end.test_command import volvelle

QUESTION = ("fleet", "llama3-8b", "--on", "dgx-h100", "--tp", "1", "--load", "poisson 30/s", "--slo", "p95 tpot 30 ms")
EXAMPLE = ("fleet", "examples/fleets/chat-and-summaries.yaml")


def test_a_fleet_is_told_within_eighty_columns(tmp_path: Path) -> None:
    picture = tmp_path / "fleet.svg"
    done = volvelle(*EXAMPLE, "--plot", str(picture))
    assert done.returncode == 0, done.stderr + done.stdout
    assert max(len(line.rstrip()) for line in done.stdout.splitlines()) <= 80
    for words in (
        "chips in the busiest minute",
        "80 % range",
        "a million tokens in",
        "kW",
        "limits kept",
        "By the hour",
        "Places",
    ):
        assert words in done.stdout
    drawn = picture.read_text("utf-8")
    assert "chips on" in drawn
    assert "requests a second" in drawn


def test_json_follows_its_published_schema() -> None:
    schema = json.loads(volvelle("schema", "fleet").stdout)
    for more in (("--slo", "p99 ttft 1 ms"), ("--on", "dgx-a100", "--spare", "2", "--check", "every")):
        done = volvelle(*QUESTION, *more, "--json")
        found = json.loads(done.stdout)
        jsonschema.validate(found, schema)
        assert done.returncode == (0 if found["feasible"] else 1)
        assert found["services"] or found["violations"]
        if found["total"] is not None:
            hours = sum(hour["spent"]["usd_rented"] for hour in found["fleet_hours"])
            assert hours == pytest.approx(found["total"]["usd_rented"])


@pytest.mark.long
def test_a_brief_answer_fits_a_screen() -> None:
    for more in (("--check", "none"), ("--slo", "p99 ttft 1 ms")):
        lines = volvelle(*QUESTION, *more, "--brief").stdout.splitlines()
        assert 3 < len(lines) <= 24
        assert max(len(line.rstrip()) for line in lines) <= 80


def test_what_makes_no_sense_is_one_line() -> None:
    done = volvelle("fleet", "llama3-8b", "--load", "poisson 30/s")
    assert done.returncode == 2
    assert "--on, --slo are missing" in done.stderr
