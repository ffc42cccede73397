"""What studies say of failures, and what they say together."""

import math
from pathlib import Path

import numpy as np
import pytest

from volvelle.catalogue import Catalogue
from volvelle.catalogue.reliability import (
    hazards,
    own_hazards,
    part_hazards,
    rate_prior,
    recorded_days,
    recorded_faults,
    stated_node_power,
    stated_share,
    studies,
    time_prior,
)
from volvelle.economics.usual_terms import CHIP_LOAD, HOST_LOAD
from volvelle.errors import DescriptionError
from volvelle.quantities import DAY

PER_THOUSAND_DAYS = 1000 * DAY
MINE = "hazards:\n  - part: {part}\n    {counts}\n    rate: {{value: {rate}, kind: measured, source: our log}}\n"


def mine(folder: Path, *, part: str = "node", rate: str = "4e-3 1/d", counts: str = "what_counts: job stops") -> Path:
    file = folder / "mine.yaml"
    file.write_text(MINE.format(part=part, rate=rate, counts=counts))
    return file


def test_the_prior_is_that_of_allowed_clusters_alone() -> None:
    prior = rate_prior()
    assert prior.median * PER_THOUSAND_DAYS == pytest.approx(4.9, abs=0.06)
    assert math.exp(prior.deviation) == pytest.approx(1.5, abs=0.02)
    assert len(prior.studies) == 7


@pytest.mark.parametrize("held_out", ["llama", "byterobust", "hsdp"])
def test_no_entry_is_of_a_system_that_predictions_are_scored_on(held_out: str) -> None:
    told = [entry.name + entry.title + entry.notes for entry in studies()]
    sources = {hazard.rate.source for hazard in hazards()}
    assert not [text for text in (*told, *sources) if held_out in text.lower().replace(" ", "")]


def test_every_source_of_the_room_is_known() -> None:
    references = Catalogue().references
    for entry in studies():
        stated = [hazard.rate for hazard in entry.hazards] + [time.time for time in entry.times]
        stated += [*entry.shares.values(), *(row.power for row in entry.power)]
        assert {datum.source for datum in stated} <= set(references)
        assert all(datum.date for datum in stated), entry.name


def test_a_cluster_larger_than_any_measured_is_known_less_well() -> None:
    prior = rate_prior()
    assert prior.spread(8 * prior.largest, "hopper").factor > prior.spread(prior.largest, "hopper").factor


def test_chips_of_a_family_that_nobody_watched_are_known_less_well_at_every_size() -> None:
    prior, sizes = rate_prior(), np.array([8.0, 1024.0, 98304.0])
    watched, other = (prior.at(sizes, 0.9, family) for family in ("hopper", "tpu"))
    assert np.all(other > watched)
    assert np.array_equal(prior.at(sizes, 0.5, "tpu"), prior.at(sizes, 0.5, "hopper"))
    assert prior.at(sizes, 0.9, "tpu")[1] == prior.spread(1024.0, "tpu").at(np.array(0.9))  # type: ignore[index]


def test_parts_of_the_trace_sum_to_its_faults() -> None:
    of_node = {"gpu": 8, "host": 1, "nic": 8, "link": 16, "software": 1}
    total = sum(count * part_hazards()[part].rate.value for part, count in of_node.items())
    assert total == pytest.approx(next(row.rate.value for row in hazards() if row.study == "infinitehbd"), rel=1e-3)
    assert len(recorded_faults()) == 584


def test_the_trace_is_as_long_as_its_last_start() -> None:
    assert 348.0 < max(fault.start for fault in recorded_faults()) <= recorded_days() < 349.0


def test_the_share_of_hosts_is_what_was_measured_less_the_chips() -> None:
    trained, rated = stated_node_power("h100-sxm", "training"), stated_node_power("h100-sxm", "rated")
    assert trained is not None
    assert rated is not None
    load = (trained.value - stated_share("node-power", "chip_load").value * 5600.0) / (rated.value - 5600.0)
    assert stated_share("node-power", "host_load").value == pytest.approx(load, abs=0.005)


def test_bills_take_the_shares_of_rated_power_that_the_catalogue_states() -> None:
    assert stated_share("node-power", "chip_load").value == CHIP_LOAD
    assert stated_share("node-power", "host_load").value == HOST_LOAD


def test_restarts_take_minutes_and_a_person_takes_an_hour() -> None:
    assert time_prior("restart", "automated").median == pytest.approx(735, abs=1)
    assert time_prior("restart", "by hand").median > 3600
    with pytest.raises(DescriptionError, match="no study"):
        time_prior("repair", "by hand")


def test_a_rate_without_what_counts_does_not_load(tmp_path: Path) -> None:
    with pytest.raises(DescriptionError, match="what_counts"):
        own_hazards(mine(tmp_path, counts="pooled: false"))


@pytest.mark.parametrize("rate", ["-1e-3 1/d", "nan 1/d", "", "4e-3", "3 GB"])
def test_a_rate_that_is_none_is_refused(tmp_path: Path, rate: str) -> None:
    with pytest.raises(DescriptionError):
        own_hazards(mine(tmp_path, rate=rate))


def test_a_file_without_hazards_says_what_it_needs(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("hazards: []\n")
    with pytest.raises(DescriptionError, match="states no hazards"):
        own_hazards(file)


def test_a_rate_of_a_gpu_given_as_that_of_a_node_is_asked_about(tmp_path: Path) -> None:
    with pytest.raises(DescriptionError, match=r"part: gpu if that is meant, or sure: true") as told:
        own_hazards(mine(tmp_path, rate="5e-4 1/d"))
    assert "0.000500 1/d" in str(told.value)
    assert "0.00400 1/d" in str(told.value)
    with pytest.raises(DescriptionError, match="part: node if that is meant"):
        own_hazards(mine(tmp_path, part="gpu", rate="5e-3 1/d"))
    file = mine(tmp_path, rate="5e-4 1/d")
    file.write_text(file.read_text() + "    sure: true\n")
    assert own_hazards(file)[0].rate.value == pytest.approx(5e-4 / DAY)
