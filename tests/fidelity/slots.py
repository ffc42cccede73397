"""Pipelines of slots of given lengths, put in time."""

from collections.abc import Mapping

from volvelle.mapping.schedule import PipelineOrder, Work
from volvelle.simulation.replay import replay
from volvelle.simulation.tasks import TaskGraph

EQUAL = {Work.FORWARD: 1.0, Work.INPUT_GRADIENTS: 1.0, Work.WEIGHT_GRADIENTS: 1.0, Work.BACKWARD: 2.0}


def slot_graph(order: PipelineOrder, seconds: Mapping[Work, float]) -> TaskGraph:
    """One task a slot, one stream a stage; a pair takes the sum, waits for both and ends both."""
    durations: list[float] = []
    streams: list[int] = []
    waits: list[list[tuple[bool, int, int]]] = []
    ends: dict[tuple[bool, int, int], int] = {}
    for stage, slots in enumerate(order.slots):
        for slot in slots:
            if not slot.paired:
                durations.append(0.0)
                streams.append(stage)
                waits.append([])
            durations[-1] += seconds[slot.work]
            place, forward = order.position(stage, slot.piece), slot.work is Work.FORWARD
            if slot.work is Work.WEIGHT_GRADIENTS:
                continue
            ends[forward, place, slot.micro_batch] = len(durations) - 1
            source = place - 1 if forward else place + 1
            if 0 <= source < order.positions:
                waits[-1].append((forward, source, slot.micro_batch))
    return TaskGraph.of(durations, streams, [[ends[key] for key in some] for some in waits])


def length(order: PipelineOrder, seconds: Mapping[Work, float]) -> float:
    """Seconds from the first start to the last end."""
    return float(replay(slot_graph(order, seconds)).max())
