"""A step as messages, which SMPI runs: every message has two ends, and every member gets what it lacks."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import small_cluster, small_gpt
from tests.smpi.messages import Wires, hops
from tests.smpi.steps import write_step
from volvelle import ParallelMapping, TrainingStep, transformer
from volvelle.estimators.event_driven.estimator import EventDriven, ReplayedStep
from volvelle.interchange.step_traces.stage_program import Kind, stage_programs
from volvelle.mapping.parallelism import Schedule
from volvelle.workload.tensor_layout import Collective

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


def _replayed(mapping: ParallelMapping) -> ReplayedStep:
    return EventDriven().replayed(TrainingStep(model=transformer(small_gpt()), batch=16), small_cluster(), mapping)


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
    write_step(_replayed(mapping), tmp_path)
    counts: dict[str, Counter[tuple[int, int, int, int]]] = {"send": Counter(), "recv": Counter()}
    for way, *message in _messages(tmp_path):
        counts[way][tuple(message)] += 1  # type: ignore[index]
    assert counts["send"] == counts["recv"]
    assert counts["send"]


@pytest.mark.parametrize("mapping", _MAPPINGS, ids=str)
def test_messages_of_a_collective_bring_every_member_what_it_lacks(mapping: ParallelMapping) -> None:
    """A reduce-scatter of n bytes sends (p − 1) / p of them, whichever way; an all-reduce twice as many."""
    replayed = _replayed(mapping)
    wires = Wires.of(replayed.closed.basis.machine)  # type: ignore[union-attr]
    for program in stage_programs(replayed):
        for node in program.nodes[:400]:
            if node.kind is Kind.COLLECTIVE and node.group is not None and node.collective is not None:
                chips = node.group.chips
                sent = sum(hop.size for hop in hops(node, chips - 1, wires))
                share = 2.0 if node.collective is Collective.ALL_REDUCE else 1.0
                assert sent == pytest.approx(share * (chips - 1) / chips * node.size)
