"""Questions that leave what was measured in two ways at once."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

import volvelle
from volvelle import Catalogue, OutsideDomainError
from volvelle.cli import run
from volvelle.cli.exits import NO_SENSE
from volvelle.spread import Figure, LogNormal
from volvelle.verbs.outside import WIDEST

UNSEEN: dict[str, Any] = {"on": "aurora-stacks/12", "batch": 96, "stack": "deepspeed"}
"""Neither these chips nor this software is in a calibration run."""


def test_leaving_in_two_ways_is_refused_with_what_brings_it_back_and_answered_anyway(catalogue: Catalogue) -> None:
    with pytest.raises(OutsideDomainError, match="in chip and software") as refused:
        volvelle.estimate("llama3-8b", zero=3, catalogue=catalogue, **UNSEEN)
    assert re.search(r"hopper.*stack.*nemo.*calibrate from.*anyway=True", str(refused.value))
    with pytest.raises(OutsideDomainError, match="in chip and software"):
        volvelle.plan("llama3-8b", catalogue=catalogue, **UNSEEN)
    answer = volvelle.estimate("llama3-8b", zero=3, anyway=True, catalogue=catalogue, **UNSEEN)
    span = answer.estimate.ranges["time"]
    assert span.high > WIDEST * span.low
    assert answer.basis.outside == ("chip", "software")
    planned = volvelle.plan("llama3-8b", anyway=True, catalogue=catalogue, **UNSEEN)
    assert planned.basis.outside == ("chip", "software")


@pytest.mark.parametrize("changed", [{"on": "dgx-h100/8"}, {"stack": "megatron-deepspeed"}, {"stack": ""}])
def test_any_way_back_is_enough(catalogue: Catalogue, changed: dict[str, str]) -> None:
    answer = volvelle.estimate("llama3-8b", zero=3, catalogue=catalogue, **{**UNSEEN, **changed})
    assert len(answer.basis.outside) == 1


def test_a_machine_whose_rates_are_all_stated_with_spreads_is_answered(catalogue: Catalogue) -> None:
    machine = catalogue.cluster("aurora-stacks/12", stack="deepspeed")
    question: dict[str, Any] = {**UNSEEN, "zero": 3, "catalogue": catalogue, "stack": ""}

    def wide(figures: Mapping[str, Figure]) -> dict[str, Figure]:
        return {
            name: replace(one, spread=LogNormal(one.value, 1.3)) if name.endswith(("rate", "bf16")) else one
            for name, one in figures.items()
        }

    levels = tuple(
        replace(level, link=replace(level.link, figures=wide(level.link.figures))) for level in machine.dimensions
    )
    hypothetical = replace(machine, chip=replace(machine.chip, figures=wide(machine.chip.figures)), dimensions=levels)
    with pytest.raises(OutsideDomainError):
        volvelle.estimate("llama3-8b", **{**question, "on": machine})
    answer = volvelle.estimate("llama3-8b", **{**question, "on": hypothetical})
    assert len(answer.basis.outside) == 2
    assert answer.estimate.time_range is not None
    assert answer.estimate.time_range.high > WIDEST * answer.estimate.time_range.low


def test_json_and_text_name_the_ways_and_the_command_refuses(capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "estimate",
        "llama3-8b",
        "--on",
        "aurora-stacks/12",
        "--batch",
        "96",
        "--zero",
        "3",
        "--recompute",
        "full",
        "--stack",
        "deepspeed",
    ]
    assert run([*words, "--anyway", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["outside_calibration"] == ["chip", "software"]
    assert run([*words, "--anyway"]) == 0
    assert "No run is like it in software either" in " ".join(capsys.readouterr().out.split())
    assert run(words) == NO_SENSE
    assert "--anyway" in capsys.readouterr().err
