"""Timelines in protocol buffers say what those in JSON say."""

import json
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from tests.conftest import small_cluster, small_gpt
from volvelle import ParallelMapping, TrainingStep, transformer
from volvelle.estimators.event_driven.estimator import EventDriven, ReplayedStep
from volvelle.interchange.perfetto import write_timeline
from volvelle.interchange.traces import wire
from volvelle.mapping.parallelism import Schedule

_MAPPINGS = [
    ParallelMapping(tensor=4, pipeline=2, data=4, interleave=2),
    ParallelMapping(tensor=4, pipeline=4, data=2, schedule=Schedule.DUAL_PIPE),
]


def _replayed(mapping: ParallelMapping) -> ReplayedStep:
    return EventDriven().replayed(TrainingStep(model=transformer(small_gpt()), batch=32), small_cluster(), mapping)


def _packets(file: Path) -> list[dict[int, int | bytes]]:
    return [
        {number: value for number, _, value in wire.fields(packet)}
        for _, _, packet in wire.fields(file.read_bytes())
        if isinstance(packet, bytes)
    ]


@pytest.mark.parametrize("mapping", _MAPPINGS, ids=str)
def test_slices_of_every_thread_are_those_of_the_json(mapping: ParallelMapping, tmp_path: Path) -> None:
    replayed = _replayed(mapping)
    for name in ("step.json", "step.pftrace"):
        write_timeline(replayed, tmp_path / name)
    told: Counter[tuple[int, int, str, int, int]] = Counter()
    for event in json.loads((tmp_path / "step.json").read_text())["traceEvents"]:
        if event["ph"] == "X":
            start, end = round(1e3 * event["ts"]), round(1e3 * (event["ts"] + event["dur"]))
            told[event["pid"], event["tid"], event["name"], start, end] += 1
    names: dict[int, str] = {}
    open_slices: dict[int, list[tuple[str, int]]] = defaultdict(list)
    found: Counter[tuple[int, int, str, int, int]] = Counter()
    sent, taken, counted = set(), set(), 0
    for packet in _packets(tmp_path / "step.pftrace"):
        if isinstance(new := packet.get(12), bytes):
            for number, _, entry in wire.fields(new):
                if number == 2 and isinstance(entry, bytes):
                    said = {key: value for key, _, value in wire.fields(entry)}
                    assert isinstance(said[1], int)
                    assert isinstance(said[2], bytes)
                    names[said[1]] = said[2].decode()
        if not isinstance(event := packet.get(11), bytes):
            continue
        fields = {number: value for number, _, value in wire.fields(event)}
        time, track = packet[8], fields[11]
        assert isinstance(time, int)
        assert isinstance(track, int)
        if fields[9] == 1:
            assert isinstance(fields[10], int)
            open_slices[track].append((names[fields[10]], time))
            sent.update([fields[47]] if 47 in fields else [])
            taken.update([fields[48]] if 48 in fields else [])
        elif fields[9] == 2:
            name, start = open_slices[track].pop()
            found[track // 1000 - 1, track % 1000 - 1, name, start, time] += 1
        else:
            counted += 1
    assert not any(open_slices.values())
    assert found == told
    assert counted > 0
    assert sent
    assert taken <= sent


def test_the_same_step_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.pftrace", "b.pftrace"):
        write_timeline(_replayed(_MAPPINGS[0]), tmp_path / name)
    assert (tmp_path / "a.pftrace").read_bytes() == (tmp_path / "b.pftrace").read_bytes()
