"""A step written for other simulators says what the replay does."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import small_cluster, small_gpt, small_llama
from volvelle import DescriptionError, Experts, OutsideDomainError, ParallelMapping, TrainingStep, transformer
from volvelle.estimators.collectives import NESTED
from volvelle.estimators.event_driven.estimator import EventDriven, ReplayedStep
from volvelle.interchange.step_traces import chakra, write
from volvelle.interchange.step_traces.stage_program import STREAMS, Kind, StageProgram, stage_programs
from volvelle.interchange.step_traces.write import FORMATS, write_step_trace
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
