"""A plan in which nothing fits says by how much, and what would fit, as commands that do what they say."""

import shlex

import pytest

import volvelle
from volvelle import Catalogue
from volvelle.cli import run


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return Catalogue()


@pytest.mark.parametrize(
    ("model", "system"),
    [("llama3-70b", "dgx-h100/8"), pytest.param("llama3-405b", "dgx-h200/16", marks=pytest.mark.long)],
)
def test_every_way_out_is_one(
    catalogue: Catalogue, model: str, system: str, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = volvelle.plan(model, on=system, batch=64, catalogue=catalogue)
    assert not plan.layouts
    assert plan.dead_end is not None
    assert plan.dead_end.ways_out
    for way in plan.dead_end.ways_out:
        program, *words = shlex.split(way.command)
        assert program == "volvelle"
        assert run(words) == 0
        capsys.readouterr()


def test_what_needs_least_needs_more_than_a_chip_has(catalogue: Catalogue) -> None:
    plan = volvelle.plan("llama3-70b", on="dgx-h100/8", batch=64, catalogue=catalogue)
    assert plan.dead_end is not None
    assert plan.dead_end.lightest is not None
    assert plan.dead_end.lightest.memory > 0.95 * float(plan.cluster.chip.capacity)


def test_the_machine_offered_has_the_fewest_chips_that_do(catalogue: Catalogue) -> None:
    plan = volvelle.plan("llama3-70b", on="dgx-h100/8", batch=64, catalogue=catalogue)
    assert plan.dead_end is not None
    offered = max(way.accelerators for way in plan.dead_end.ways_out)
    for count in range(8, offered + 8, 8):
        found = volvelle.plan("llama3-70b", on=f"dgx-h100/{count}", batch=64, catalogue=catalogue)
        assert bool(found.layouts) == (count == offered), count


def test_where_something_fits_there_is_no_dead_end(catalogue: Catalogue) -> None:
    assert volvelle.plan("llama3-8b", on="dgx-h100/8", batch=64, catalogue=catalogue).dead_end is None


def test_a_machine_without_hosts_offers_no_off_load(catalogue: Catalogue) -> None:
    plan = volvelle.plan("llama3-405b", on="tpu-v5e-pod/16", batch=64, catalogue=catalogue)
    assert plan.dead_end is not None
    assert not any("--offload" in way.command for way in plan.dead_end.ways_out)


def test_off_load_that_was_asked_for_is_not_offered_again(catalogue: Catalogue) -> None:
    plan = volvelle.plan("llama3-405b", on="dgx-h100/8", batch=64, offload=True, catalogue=catalogue)
    assert plan.dead_end is not None
    assert not any(way.command.count("--offload") > 1 for way in plan.dead_end.ways_out)


def test_what_was_asked_for_stays_in_every_way_out(catalogue: Catalogue) -> None:
    plan = volvelle.plan(
        "llama3-70b",
        on="dgx-h100/8",
        batch=64,
        stack="fsdp",
        margin="8%",
        tensor=(1, 8),
        overlap=True,
        catalogue=catalogue,
    )
    assert plan.dead_end is not None
    assert plan.dead_end.ways_out
    for way in plan.dead_end.ways_out:
        for part in ("--batch 64", "--stack fsdp", "--margin 8%", "--tp 1 --tp 8", "--overlap"):
            assert part in way.command


def test_another_chip_is_offered_and_the_cheapest_step_comes_first(catalogue: Catalogue) -> None:
    plan = volvelle.plan("llama3-70b", on="dgx-h100/8", batch=64, catalogue=catalogue)
    assert plan.dead_end is not None
    ways = plan.dead_end.ways_out
    assert any("--on dgx-b200/8" in way.command for way in ways)
    prices = [way.usd for way in ways if way.usd is not None]
    assert prices == sorted(prices)
    assert all(way.usd is None for way in ways[len(prices) :])
