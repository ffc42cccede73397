"""Timelines of replayed steps, read back."""

import gzip
import json
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.conftest import small_cluster, small_gpt
from volvelle import ParallelMapping, TrainingStep, transformer
from volvelle.errors import DescriptionError
from volvelle.estimators.event_driven.estimator import EventDriven, ReplayedStep
from volvelle.estimators.event_driven.slot_tasks import STREAMS
from volvelle.interchange import perfetto
from volvelle.interchange.perfetto import SCHEDULE, WAITING, write_timeline
from volvelle.mapping.parallelism import Schedule

_MAPPINGS = [
    ParallelMapping(tensor=4, pipeline=2, data=4, interleave=2),
    ParallelMapping(tensor=4, pipeline=4, data=2, schedule=Schedule.DUAL_PIPE),
    ParallelMapping(tensor=2, pipeline=4, data=4, schedule=Schedule.ZERO_BUBBLE),
]


def _replayed(mapping: ParallelMapping = _MAPPINGS[0]) -> ReplayedStep:
    return EventDriven().replayed(TrainingStep(model=transformer(small_gpt()), batch=32), small_cluster(), mapping)


def _read(replayed: ReplayedStep, folder: Path) -> dict[str, Any]:
    write_timeline(replayed, folder / "step.json")
    found: dict[str, Any] = json.loads((folder / "step.json").read_text("utf-8"))
    return found


def _slices(document: dict[str, Any]) -> dict[tuple[int, int], list[dict[str, Any]]]:
    threads: dict[tuple[int, int], list[dict[str, Any]]] = defaultdict(list)
    for event in document["traceEvents"]:
        if event["ph"] == "X":
            threads[event["pid"], event["tid"]].append(event)
    return threads


@pytest.mark.parametrize("mapping", _MAPPINGS, ids=str)
def test_no_two_slices_of_a_thread_overlap_after_rounding(mapping: ParallelMapping, tmp_path: Path) -> None:
    for events in _slices(_read(_replayed(mapping), tmp_path)).values():
        events.sort(key=lambda event: float(event["ts"]))
        for one, other in pairwise(events):
            assert round(1e3 * (one["ts"] + one["dur"])) <= round(1e3 * other["ts"])


@pytest.mark.parametrize("mapping", _MAPPINGS, ids=str)
def test_what_is_read_back_is_as_busy_as_the_step(mapping: ParallelMapping, tmp_path: Path) -> None:
    replayed = _replayed(mapping)
    threads = _slices(_read(replayed, tmp_path))
    for stage in range(mapping.pipeline):
        for number in range(len(STREAMS)):
            own = replayed.step.graph.streams == replayed.step.stream(stage, number)
            busy = sum(event["dur"] for event in threads[stage, number]) / 1e6
            nanoseconds = 1e-9 * len(threads[stage, number])
            assert busy == pytest.approx(float(replayed.step.graph.durations[own].sum()), rel=1e-6, abs=nanoseconds)


def test_every_hand_over_is_a_flow_from_its_sender_to_its_slot(tmp_path: Path) -> None:
    replayed = _replayed()
    document = _read(replayed, tmp_path)
    starts = {event["id"]: event for event in document["traceEvents"] if event["ph"] == "s"}
    ends = {event["id"]: event for event in document["traceEvents"] if event["ph"] == "f"}
    positions, micro_batches = 4, 8
    assert len(starts) == len(ends) == 2 * (positions - 1) * micro_batches
    slots = _slices(document)
    for number, end in ends.items():
        assert starts[number]["pid"] != end["pid"]
        assert starts[number]["ts"] <= end["ts"]
        assert end["ts"] in {event["ts"] for event in slots[end["pid"], SCHEDULE]}


def test_what_a_stage_waits_for_is_named(tmp_path: Path) -> None:
    threads = _slices(_read(_replayed(), tmp_path))
    assert {"bubble", "pipeline send/recv"} <= {event["name"] for event in threads[1, WAITING]}


def test_memory_is_a_counter_of_every_stage(tmp_path: Path) -> None:
    replayed = _replayed()
    counters = [event for event in _read(replayed, tmp_path)["traceEvents"] if event["ph"] == "C"]
    for stage, curve in enumerate(replayed.memory):
        held = [event["args"]["bytes"] for event in counters if event["pid"] == stage]
        assert max(held) == pytest.approx(curve.peak, abs=1.0)


def test_the_same_step_gives_the_same_bytes_also_compressed(tmp_path: Path) -> None:
    for name in ("one.json.gz", "other.json.gz"):
        write_timeline(_replayed(), tmp_path / name)
    one, other = ((tmp_path / name).read_bytes() for name in ("one.json.gz", "other.json.gz"))
    assert one == other
    write_timeline(_replayed(), tmp_path / "plain.json")
    assert gzip.decompress(one) == (tmp_path / "plain.json").read_bytes()


def test_of_too_many_tasks_those_of_micro_batches_between_are_left_out_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replayed = _replayed()
    timed = int((replayed.step.graph.durations > 0.0).sum())
    monkeypatch.setattr(perfetto, "MOST_SLICES", 100)
    document = _read(replayed, tmp_path)
    written = sum(len(events) for (_, thread), events in _slices(document).items() if thread < SCHEDULE)
    assert document["otherData"]["tasks_left_out"] == timed - written
    assert written == pytest.approx(timed / 2, rel=0.1)
    slots = [event for (_, thread), events in _slices(document).items() if thread == SCHEDULE for event in events]
    assert len(slots) == len(np.unique(replayed.step.slots.last))


def test_another_kind_of_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DescriptionError, match=r"\.json or \.json\.gz, not as 'step\.txt'"):
        write_timeline(_replayed(), tmp_path / "step.txt")


def test_a_perfetto_trace_in_protocol_buffers_is_rejected_with_the_format_to_use(tmp_path: Path) -> None:
    with pytest.raises(DescriptionError, match=r"removed, and 'step\.pftrace' is one; name a \.json\.gz file"):
        write_timeline(_replayed(), tmp_path / "step.pftrace")
    assert not (tmp_path / "step.pftrace").exists()
