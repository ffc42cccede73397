"""What the catalogue says of a cluster's failures."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from volvelle.applications.goodput.inputs import (
    after_events,
    node_count,
    part_counts,
    prior_hazard,
    recovery_policy,
    site_power,
    spares_from_trace,
    stated_hazard,
)
from volvelle.catalogue import Catalogue
from volvelle.catalogue.reliability import own_hazards
from volvelle.errors import DescriptionError
from volvelle.quantities import DAY

CATALOGUE = Catalogue()
LARGE = CATALOGUE.cluster("dgx-h100/16384")


def own(folder: Path, *parts: str) -> Path:
    file = folder / "mine.yaml"
    rates = {"node": "4e-3 1/d", "gpu": "5e-4 1/d", "planned": "1e-3 1/d"}
    lines = [
        f"  - {{part: {part}, what_counts: stops, rate: {{value: {rates[part]}, kind: measured, source: log}}}}"
        for part in parts
    ]
    file.write_text("\n".join(["hazards:", *lines]) + "\n")
    return file


def test_failures_of_16_384_h100_from_other_systems_hold_those_of_llama_3() -> None:
    hazard, notes = prior_hazard(LARGE)
    low, high = hazard.at(np.array([0.1, 0.9])) * DAY
    assert low < 7.76 < high
    assert hazard.rate * DAY == pytest.approx(7.76, rel=0.6)
    assert notes == ()


def test_switches_and_cables_grow_faster_than_nodes() -> None:
    small, large = part_counts(CATALOGUE.cluster("dgx-h100/1024")), part_counts(CATALOGUE.cluster("dgx-h100/98304"))
    assert large["gpu"] == 96 * small["gpu"]
    assert large["link"] > 96 * small["link"]
    assert large["switch"] > 96 * small["switch"]


def test_a_cluster_larger_than_any_measured_is_wider_and_says_so() -> None:
    hazard, notes = prior_hazard(CATALOGUE.cluster("dgx-h100/98304"))
    assert hazard.doubt > prior_hazard(LARGE)[0].doubt
    assert "no cluster of more than 16,384" in notes[0]


def test_a_chip_on_which_nothing_was_counted_is_wider_and_says_so() -> None:
    imagined = replace(LARGE, chip=replace(LARGE.chip, name="dream", family="dream"))
    hazard, notes = prior_hazard(imagined)
    assert hazard.doubt > prior_hazard(LARGE)[0].doubt
    assert "none were counted on chips like dream" in notes[0]


def test_own_events_narrow_and_no_events_are_no_zero() -> None:
    prior, _ = prior_hazard(LARGE)
    seen = after_events(prior, nodes=2048, events=12, node_days=3584)
    assert 12 / 3584 < seen.rate / 2048 * DAY < prior.rate / 2048 * DAY
    none = after_events(prior, nodes=2048, events=0, node_days=3584)
    assert 0.0 < none.rate < seen.rate
    low, high = seen.at(np.array([0.1, 0.9]))
    before = prior.at(np.array([0.1, 0.9]))
    assert high / low < before[1] / before[0]


def test_own_rates_replace_those_of_others(tmp_path: Path) -> None:
    hazard = stated_hazard(LARGE, own_hazards(own(tmp_path, "node", "planned")))
    assert hazard.rate * DAY == pytest.approx(2048 * 5e-3)
    assert hazard.planned * DAY == pytest.approx(2.048)
    with pytest.raises(DescriptionError, match="holds that of its gpu already"):
        stated_hazard(LARGE, own_hazards(own(tmp_path, "node", "gpu")))
    with pytest.raises(DescriptionError, match="stated twice"):
        stated_hazard(LARGE, own_hazards(own(tmp_path, "gpu", "gpu")))


def test_a_node_of_eight_h100_draws_what_was_measured() -> None:
    power, _ = site_power(CATALOGUE.cluster("dgx-h100/8"))
    assert power is not None
    assert 8 * power.training == pytest.approx(7750.0, rel=0.1)
    assert 8 * power.training < 8500.0


def test_a_place_brings_its_own_pue_and_grid() -> None:
    power, told = site_power(LARGE, "europe-north1")
    assert power is not None
    assert (power.pue, power.grams_per_kwh) == (1.09, (39.32,) * 3)
    assert "Finland" in told


def test_spares_of_the_first_200_days_hold_what_the_rest_needed() -> None:
    for share, needed in ((0.95, 12), (0.99, 13)):
        low, middle, high = spares_from_trace(share, until=200.0)
        assert low <= needed <= high
        assert low <= middle <= high


def test_ways_to_recover_differ_as_they_should() -> None:
    behind, standing, memory = (recovery_policy(way) for way in ("asynchronous", "synchronous", "memory"))
    assert behind.stall.median < standing.stall.median
    assert memory.restart.median < behind.restart.median
    assert recovery_policy("elastic", replicas=8).replicas == 8
    with pytest.raises(DescriptionError, match="must be one of"):
        recovery_policy("magic")  # type: ignore[arg-type]


def test_a_node_is_what_shares_a_host() -> None:
    assert node_count(LARGE) == 2048
    assert node_count(CATALOGUE.cluster("dgx-h100/4")) == 1
