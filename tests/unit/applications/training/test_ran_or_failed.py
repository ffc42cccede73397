"""Runs that ran and runs that ran out of memory, against the chance that they fit."""

from dataclasses import replace

import numpy as np
import pytest

from volvelle import Catalogue
from volvelle.applications.training.ran_or_failed import (
    TRIED,
    TriedFit,
    chances,
    left_out_chances,
    likeliest_alike,
    likeliest_spike,
    printed_error,
    tried_findings,
    tried_fits,
)
from volvelle.estimators.calibration import fitted_constants
from volvelle.spread import LogStudent


def test_shipped_errors_of_memory_are_those_that_tried_runs_tell(catalogue: Catalogue) -> None:
    shipped = fitted_constants(catalogue.cluster("dgx-h100/8"), "bf16")
    error = printed_error(tried_fits())
    assert shipped.memory_error == pytest.approx(error, abs=0.006)
    spike = likeliest_spike(tried_fits(), error)
    assert shipped.memory_spike == pytest.approx(spike, abs=0.011)
    assert shipped.memory_alike == pytest.approx(likeliest_alike(tried_fits(), error, spike), abs=0.06)


def test_the_factors_behind_drawn_runs_are_found_again() -> None:
    draws = np.random.default_rng(1)
    some = next(one for one in tried_fits() if one.told)
    rooms = draws.uniform(-1.0, 1.0, 4000)
    errors, spikes = (np.log(LogStudent(1.0, factor).at(draws.uniform(size=4000))) for factor in (1.2, 1.4))
    spikes = np.abs(spikes)
    runs = [
        TriedFit(
            row=replace(some.row, ran=bool(error + spike <= room), memory=float(np.exp(error))),
            chance=0.5,
            room=float(room),
            needed=1.0,
        )
        for room, error, spike in zip(rooms, errors, spikes, strict=True)
    ]
    assert printed_error(runs) == pytest.approx(1.2, abs=0.05)
    assert likeliest_spike(runs, 1.2) == pytest.approx(1.4, abs=0.08)


@pytest.mark.parametrize("alike", [0.0, 1.0])
def test_runs_that_are_off_alike_are_told_from_such_that_are_not(alike: float) -> None:
    draws = np.random.default_rng(2)
    some = next(one for one in tried_fits() if one.told)
    runs = []
    for group in range(600):
        errors = np.log(LogStudent(1.0, 1.3).at(draws.uniform(size=4)))
        errors = alike * errors[0] + (1.0 - alike) * errors
        spikes = np.abs(np.log(LogStudent(1.0, 1.05).at(draws.uniform(size=4))))
        row = replace(some.row, head=replace(some.row.head, group=str(group)), memory=None)
        runs += [
            TriedFit(row=replace(row, ran=bool(error + spike <= room)), chance=0.5, room=float(room), needed=1.0)
            for room, error, spike in zip(draws.uniform(-0.6, 0.6, 4), errors, spikes, strict=True)
        ]
    assert likeliest_alike(runs, 1.3, 1.05) == pytest.approx(alike, abs=0.25)


@pytest.mark.parametrize("alike", [0.1, 0.7])
def test_printed_amounts_tell_how_far_runs_of_one_source_are_off_alike(alike: float) -> None:
    draws = np.random.default_rng(3)
    some = next(one for one in tried_fits() if one.told)
    runs = []
    for group in range(400):
        whole, each = draws.normal(size=(1, 1)), draws.normal(size=(1, 4))
        errors = np.log(1.3) * (np.sqrt(alike) * whole + np.sqrt(1.0 - alike) * each)[0]
        runs += [
            TriedFit(
                row=replace(
                    some.row,
                    head=replace(some.row.head, group=str(group)),
                    ran=True,
                    memory=float(np.exp(error)),
                ),
                chance=1.0,
                room=10.0 + place,
                needed=1.0,
            )
            for place, error in enumerate(errors)
        ]
    assert likeliest_alike(runs, 1.3, 1.05) == pytest.approx(alike, abs=0.06)


def test_chances_are_what_happened_with_publications_left_out() -> None:
    (found,) = tried_findings()
    assert found.value["failed"] >= 30  # type: ignore[index]
    bins = [one["left_out"] for one in found.value["bins"]]  # type: ignore[index]
    for one in bins:
        # Fewer runs than ten may be off by two standard deviations of the share that so many of that chance show.
        scatter = np.sqrt(one["chance"] * (1.0 - one["chance"]) / one["runs"])
        assert abs(one["chance"] - one["ran"]) <= (0.15 if one["runs"] >= 10 else max(0.15, 2.0 * scatter))


def test_chances_with_publications_left_out_tell_more_than_the_share_that_ran() -> None:
    runs = tried_fits()
    _, told = left_out_chances(runs)
    ran = np.array([one.ran for one in runs])
    assert np.mean((told - ran) ** 2) < 0.5 * np.mean((ran.mean() - ran) ** 2)


def test_the_likeliest_spike_is_the_likeliest_of_all_that_are_tried() -> None:
    runs = tried_fits()
    error = printed_error(runs)
    told = [one for one in runs if one.told]
    ran = np.array([one.ran for one in told])
    sources = [one.row.head.group for one in told]
    weights = np.array([sources.count(source) ** -0.5 for source in sources])

    def likelihood(spike: float) -> float:
        stated = np.clip(chances(told, error, spike), 1e-3, 1.0 - 1e-3)
        return float(weights @ np.log(np.where(ran, stated, 1.0 - stated)))

    assert likeliest_spike(runs, error) == max(TRIED, key=likelihood)


def test_no_run_that_ran_is_all_but_ruled_out() -> None:
    assert min(one.chance for one in tried_fits() if one.ran) >= 0.05


def test_a_loss_in_thirty_two_bits_is_what_large_vocabularies_fail_by() -> None:
    """Qwen3 32B under torchtitan over 8 tensor ranks and 4 replicas: GiB of 95.0 as printed; 64 sequences failed."""
    runs = [one for one in tried_fits() if one.row.head.group == "torchtitan-qwen3-32b" and one.row.tensor == 8]
    gib = {one.row.micro_batch: 95.0 * np.exp(-one.room) for one in runs if one.row.data == 4}
    assert gib[16] == pytest.approx(43.45, rel=0.05)
    assert gib[32] == pytest.approx(70.79, rel=0.06)
    assert gib[64] > 95.0
    assert not any(one.ran for one in runs if one.row.micro_batch == 64)


def test_runs_that_are_held_out_as_times_tell_nothing_of_memory() -> None:
    runs = tried_fits()
    others = [one for one in runs if one.row.head.group != "argonne-aurora"]
    assert len(others) < len(runs)
    assert all(one.told for one in others)
    error = printed_error(runs)
    assert (printed_error(others), likeliest_spike(others, error)) == (error, likeliest_spike(runs, error))


def test_a_compiled_loss_writes_no_logits_in_thirty_two_bits() -> None:
    """Qwen3 32B under torchtitan on 8 chips, two sequences each: GB as printed, without torch.compile and with it."""
    gb = {one.row.head.row_id: one.needed / 1e9 for one in tried_fits() if one.row.head.row_id in ("F0096", "F0097")}
    assert gb["F0096"] == pytest.approx(95.9, rel=0.06)
    assert gb["F0097"] == pytest.approx(87.9, rel=0.06)


def test_deepspeed_in_bf16_holds_gradients_twice_and_shares_out_its_optimiser_at_any_stage() -> None:
    """Argonne's small models, ZERO_STAGE=0, on 68.7 GB: 14 layers ran and 16 did not, 18 and 20 of the narrower one."""
    for model, ran, failed in (("llama3-3b-cut", 14, 16), ("smollm3-3b-cut", 18, 20)):
        needed = {one.row.layers: one.needed for one in tried_fits() if one.row.model == model}
        assert 0.8 * 68.7e9 < needed[ran] < 68.7e9 < 1.15 * needed[failed]
