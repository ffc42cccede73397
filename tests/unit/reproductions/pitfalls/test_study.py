"""The talk's printed results: what follows from them, and what comes out here."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from volvelle.catalogue import Catalogue
from volvelle.catalogue.published.pitfalls import PitfallsTalk, pitfalls_talk
from volvelle.cli import _volvelle
from volvelle.reproductions.pitfalls.study import HIDDEN, ITEMS, llama_of, pitfalls_item
from volvelle.workload.families.transformer import transformer


@pytest.fixture(scope="module")
def talk() -> PitfallsTalk:
    return pitfalls_talk()


def test_model_and_run_of_the_talk_trained_on_the_same_tokens(talk: PitfallsTalk) -> None:
    told = talk.training
    tokens = told.seconds.model * told.tokens_per_second.model
    assert tokens == pytest.approx(told.seconds.run * told.tokens_per_second.run, rel=1e-8)
    assert tokens == pytest.approx(round(tokens), abs=1e-3)


@pytest.mark.parametrize("hidden", HIDDEN)
def test_no_other_number_of_layers_is_nearer_to_the_parameters(hidden: int, talk: PitfallsTalk) -> None:
    wanted, known = talk.training.parameters, Catalogue()
    shape = llama_of(wanted, hidden, 2048, known)
    sizes = {layers: transformer(replace(shape, layers=layers)).parameters() for layers in range(1, 64)}
    assert min(sizes, key=lambda layers: abs(sizes[layers] - wanted)) == shape.layers


def test_the_table_comes_out_near_the_talk_in_fp32_and_far_from_it_in_bf16(talk: PitfallsTalk) -> None:
    rows = pitfalls_item(talk, "training").document["rows"]
    by_reading = {(row["figure"], row["reading"]): row for row in rows}
    assert abs(by_reading["FLOP, T", "products"]["to_talk"]) < 0.02
    assert abs(by_reading["time, s", "fp32 at 80 %"]["to_run"]) < 0.1
    assert by_reading["time, s", "fp32"]["low"] < talk.training.seconds.run < by_reading["time, s", "fp32"]["high"]
    assert by_reading["time, s", "bf16"]["to_run"] < -0.8
    for row in rows:
        assert row["to_run"] == pytest.approx(row["ours"] / row["run"] - 1.0)


def test_ranges_hold_what_was_run_on_aurora(talk: PitfallsTalk) -> None:
    for word in ("hpcg", "hpl"):
        first = pitfalls_item(talk, word).document["rows"][0]
        assert first["low"] < first["run"] < first["high"]


def test_the_command_writes_every_item(tmp_path: Path) -> None:
    told = CliRunner().invoke(_volvelle, ["reproduce", "pitfalls", "--out", str(tmp_path), "--json"])
    assert told.exit_code == 0, told.output
    assert set(json.loads(told.stdout)) == set(ITEMS)
    assert {file.stem for file in tmp_path.glob("*.html")} == set(ITEMS)
