"""A step written for other simulators says what the replay does."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import small_cluster, small_gpt, small_llama
from volvelle import DescriptionError, Experts, OutsideDomainError, ParallelMapping, TrainingStep, transformer
from volvelle.estimators.collectives import NESTED
from volvelle.estimators.event_driven.estimator import EventDriven, ReplayedStep
from volvelle.interchange.step_traces import chakra, write
from volvelle.interchange.step_traces.messages import Wires, hops
from volvelle.interchange.step_traces.stage_program import STREAMS, Kind, StageProgram, stage_programs
from volvelle.interchange.step_traces.write import FORMATS, overlapped, write_step_trace
from volvelle.interchange.traces import wire
from volvelle.mapping.parallelism import Schedule
from volvelle.simulation.replay import replay
from volvelle.simulation.tasks import TaskGraph

_STEP = TrainingStep(model=transformer(small_gpt()), batch=16)
_MAPPINGS = [
    ParallelMapping(tensor=4, pipeline=2, data=2),
    ParallelMapping(tensor=4, pipeline=2, data=2, interleave=2),
    ParallelMapping(tensor=2, pipeline=4, data=2, schedule=Schedule.ZERO_BUBBLE),
    ParallelMapping(tensor=2, pipeline=2, data=2, schedule=Schedule.DUAL_PIPE),
    ParallelMapping(tensor=2, pipeline=2, data=4, zero=3, overlap=False),
    ParallelMapping(tensor=2, data=8, zero=2, zero_group=4),
    ParallelMapping(tensor=2, context=2, data=4),
    ParallelMapping(data=16, overlap=False, zero=0),
]


def _replayed(mapping: ParallelMapping, step: TrainingStep = _STEP) -> ReplayedStep:
    return EventDriven().replayed(step, small_cluster(), mapping)


def _as_tasks(programs: list[StageProgram]) -> TaskGraph:
    """All stages in one graph: a receive waits for its message."""
    first = np.cumsum([0, *(len(program.nodes) for program in programs)]).tolist()
    sends = {
        node.tag: start + node.number
        for start, program in zip(first, programs, strict=False)
        for node in program.nodes
        if node.kind is Kind.SEND
    }
    seconds, streams, before = [], [], []
    for start, program in zip(first, programs, strict=False):
        for node in program.nodes:
            seconds.append(node.seconds)
            streams.append(program.stage * len(STREAMS) + node.stream)
            sent = [sends[node.tag]] if node.kind is Kind.RECEIVE else []
            before.append([*(start + number for number in node.after), *sent])
    names = [f"{program.stage}: {name}" for program in programs for name in STREAMS]
    return TaskGraph.of(seconds, streams, before, names=names)


@pytest.mark.parametrize("mapping", _MAPPINGS, ids=str)
def test_nodes_run_as_long_as_the_tasks_they_are_of(mapping: ParallelMapping) -> None:
    replayed = _replayed(mapping)
    assert float(replay(_as_tasks(list(stage_programs(replayed)))).max()) == pytest.approx(replayed.time, rel=1e-9)


def test_experts_are_exchanged_among_those_that_share_them() -> None:
    step = TrainingStep(model=transformer(small_llama(experts=Experts(count=8, chosen=2, ffn=256))), batch=16)
    replayed = _replayed(ParallelMapping(tensor=2, data=8, expert=4), step)
    (program,) = stage_programs(replayed)
    groups = {node.group.members(5) for node in program.nodes if node.group is not None}
    assert {(4, 5), (1, 3, 5, 7), (5, 13), (1, 3, 5, 7, 9, 11, 13, 15)} <= groups


@pytest.mark.parametrize("mapping", _MAPPINGS, ids=str)
def test_what_is_exchanged_takes_what_its_law_says(mapping: ParallelMapping) -> None:
    """Blocking exchanges of a block; those of replicas are parts of one."""
    replayed = _replayed(mapping)
    machine = replayed.closed.basis.machine  # type: ignore[union-attr]
    for label in replayed.step.labels:
        if " over " not in label.name:
            continue
        for moved in label.moves:
            assert moved.collective is not None
            tiers = machine.tiers(float(moved.group.chips), float(moved.group.stride))
            assert moved.seconds == pytest.approx(float(np.max(NESTED[moved.collective](moved.size, tiers))))


def _messages(folder: Path) -> Iterator[tuple[str, int, int, int, int]]:
    """Way, source, target, tag and bytes of every message of a step."""
    for file in folder.glob("rank*.txt"):
        for line in file.read_text().splitlines():
            if found := re.match(r"(\d+) (isend|recv) (\d+) (\d+) (\d+) 6$", line):
                own, way, other, tag, size = found.groups()
                ends = (own, other) if way == "isend" else (other, own)
                yield (way.removeprefix("i"), int(ends[0]), int(ends[1]), int(tag), int(size))


@pytest.mark.parametrize("mapping", _MAPPINGS, ids=str)
def test_what_is_sent_is_received(mapping: ParallelMapping, tmp_path: Path) -> None:
    write_step_trace(_replayed(mapping), tmp_path / "trace", form="smpi")
    counts: dict[str, Counter[tuple[int, int, int, int]]] = {"send": Counter(), "recv": Counter()}
    for way, *message in _messages(tmp_path / "trace"):
        counts[way][tuple(message)] += 1  # type: ignore[index]
    assert counts["send"] == counts["recv"]
    assert counts["send"]


@pytest.mark.parametrize("mapping", _MAPPINGS, ids=str)
def test_messages_of_a_collective_bring_every_member_what_it_lacks(mapping: ParallelMapping) -> None:
    """A reduce-scatter of n bytes sends (p − 1) / p of them, whichever way; an all-reduce twice as many."""
    replayed = _replayed(mapping)
    wires = Wires.of(replayed.closed.basis.machine)  # type: ignore[union-attr]
    shares = {"all-reduce": 2.0}
    for program in stage_programs(replayed):
        for node in program.nodes[:400]:
            if node.kind is Kind.COLLECTIVE and node.group is not None and node.collective is not None:
                chips = node.group.chips
                sent = sum(hop.size for hop in hops(node, chips - 1, wires))
                share = shares.get(node.collective.value, 1.0)
                assert sent == pytest.approx(share * (chips - 1) / chips * node.size)


def test_a_chakra_trace_is_read_back_node_by_node(tmp_path: Path) -> None:
    replayed = _replayed(_MAPPINGS[0])
    written = write_step_trace(replayed, tmp_path / "trace")
    (program, _) = stage_programs(replayed)
    head, *nodes = wire.messages((tmp_path / "trace" / "step.0.et").read_bytes())
    assert {number: value for number, _, value in wire.fields(head)}[1] == b"1.0.0"
    assert len(nodes) == len(program.nodes)
    assert written.ranks == 2
    for data, node in zip(nodes, program.nodes, strict=True):
        fields = [(number, value) for number, _, value in wire.fields(data)]
        said = dict(fields)
        assert said[1] == node.number
        assert said[3] == chakra.TYPES[node.kind]
        attributes = [list(wire.fields(value)) for number, value in fields if number == 10 and isinstance(value, bytes)]
        (seconds,) = (one[1][2] for one in attributes if one[0][2] == chakra.SECONDS.encode())
        assert isinstance(seconds, bytes)
        assert wire.real(seconds) == node.seconds
    groups = json.loads((tmp_path / "trace" / chakra.GROUPS).read_text())
    assert [0, 1, 2, 3] in groups.values()


def test_every_rank_has_groups_of_its_own(tmp_path: Path) -> None:
    written = write_step_trace(_replayed(_MAPPINGS[0]), tmp_path / "trace", every_rank=True)
    groups = json.loads((tmp_path / "trace" / chakra.GROUPS).read_text()).values()
    assert written.ranks == 16
    assert sorted(rank for group in groups if len(group) == 4 for rank in group) == list(range(16))


def test_rates_for_astra_sim_are_in_gibibytes(tmp_path: Path) -> None:
    write_step_trace(_replayed(_MAPPINGS[0]), tmp_path / "trace", form="astra-sim")
    said = dict(line.split(": ", 1) for line in (tmp_path / "trace" / "network.yml").read_text().splitlines())
    rates = [dimension.link.sustained for dimension in small_cluster().dimensions]
    found = [float(word) * 2.0**30 for word in said["bandwidth"].strip("[ ]").split(", ")]
    assert found == pytest.approx(rates, rel=1e-5)
    assert said["npus_count"] == "[ 8, 2 ]"


@pytest.mark.parametrize("form", FORMATS)
def test_the_same_step_gives_the_same_bytes(form: str, tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_step_trace(_replayed(_MAPPINGS[0]), tmp_path / name, form=form)
    for file in (tmp_path / "a").iterdir():
        assert file.read_bytes() == (tmp_path / "b" / file.name).read_bytes()


def test_a_folder_with_something_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(DescriptionError, match="has files in it"):
        write_step_trace(_replayed(_MAPPINGS[-1]), tmp_path)


def test_a_step_of_too_many_nodes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write, "MOST_NODES", 10)
    with pytest.raises(OutsideDomainError, match="10 are the most"):
        write_step_trace(_replayed(_MAPPINGS[-1]), tmp_path / "trace")


def test_what_runs_beside_other_work_is_told_of_formats_that_cannot_say_it(tmp_path: Path) -> None:
    alone, beside = (_replayed(ParallelMapping(data=16, overlap=overlap, zero=0)) for overlap in (False, True))
    assert overlapped(list(stage_programs(alone)), alone.time) == 0.0
    assert overlapped(list(stage_programs(beside)), beside.time) > 0.0
    written = write_step_trace(beside, tmp_path / "trace", form="smpi")
    assert any(said.startswith("streams: a rank does one thing at a time") for said in written.unsaid)
