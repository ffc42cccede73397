"""A replayed step as a timeline that Perfetto and Chrome's tracing page open: the Trace Event Format, as JSON.

Stages are processes and their streams threads; beside them stand the slots of the schedule, what the stage waits for,
the bytes of its activations as a counter, and what is handed from stage to stage as flows. Times are microseconds to
the nanosecond. Starts and ends are rounded, not durations, so that no two slices of a thread overlap.
"""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from volvelle.errors import DescriptionError
from volvelle.estimators.event_driven.estimator import ReplayedStep
from volvelle.estimators.event_driven.slot_tasks import STREAMS
from volvelle.mapping.axes import CUTTING
from volvelle.mapping.schedule import Work
from volvelle.simulation.tasks import Real

SCHEDULE = len(STREAMS)
"""The thread of slots."""
WAITING = SCHEDULE + 1
"""The thread of what a stage waits for."""
THREADS = (*STREAMS, "schedule", "waiting")
MOST_SLICES = 1_000_000
"""Tasks that are written one by one; of more, those of the micro-batches in between are left out."""
_SHOWN = 2
"""Micro-batches at either end whose tasks are written then."""
_NANO = 1e9
_LEVEL = 3
"""Of compression: a tenth larger than the next level, in half its time."""


def write_timeline(replayed: ReplayedStep, file: Path) -> int:
    """Write a step's timeline as .json, or .json.gz compressed. Return how many tasks were left out."""
    name = file.name.lower()
    if name.endswith(".pftrace"):
        raise DescriptionError(
            f"timelines as .pftrace were removed, and {file.name!r} is one; name a .json.gz file, which "
            "ui.perfetto.dev opens too"
        )
    if not name.endswith((".json", ".json.gz")):
        raise DescriptionError(f"a timeline is written as .json or .json.gz, not as {file.name!r}; name one of these")
    shown = _shown(replayed)
    left_out = int((~shown & (replayed.step.graph.durations > 0.0)).sum())
    text = ",\n".join(_events(replayed, shown))
    head = json.dumps({"step_seconds": replayed.time, "tasks_left_out": left_out})
    whole = f'{{"displayTimeUnit":"ms","otherData":{head},"traceEvents":[\n{text}\n]}}\n'.encode()
    # Without a date, so that the same step gives the same bytes.
    file.write_bytes(gzip.compress(whole, _LEVEL, mtime=0) if name.endswith(".gz") else whole)
    return left_out


def _micros(seconds: Real) -> NDArray[np.float64]:
    """Microseconds, to the nanosecond."""
    found: NDArray[np.float64] = np.rint(seconds * _NANO) / 1e3
    return found


def _shown(replayed: ReplayedStep) -> NDArray[np.bool_]:
    """Tasks that are written one by one."""
    step = replayed.step
    timed: NDArray[np.bool_] = step.graph.durations > 0.0
    if int(timed.sum()) <= MOST_SLICES:
        return timed
    slots = step.slots
    near = (slots.micro_batch < _SHOWN) | (slots.micro_batch >= step.order.micro_batches - _SHOWN)
    # Tasks of a slot follow each other from its first to the one that hands it on.
    begins = np.zeros(len(timed) + 1, dtype=np.int32)
    np.add.at(begins, slots.first[near], 1)
    np.add.at(begins, np.maximum(slots.last, slots.sent)[near] + 1, -1)
    return timed & (np.cumsum(begins[:-1]) > 0)


def _events(replayed: ReplayedStep, shown: NDArray[np.bool_]) -> Iterator[str]:
    yield from _names(replayed, shown)
    yield from _tasks(replayed, shown)
    yield from _slots(replayed)
    yield from _flows(replayed)
    for stage in range(replayed.step.order.stages):
        yield from _waiting(replayed, stage)
        yield from _memory(replayed, stage)


def _names(replayed: ReplayedStep, shown: NDArray[np.bool_]) -> Iterator[str]:
    used = {int(stream) for stream in np.unique(replayed.step.graph.streams[shown])}
    for stage in range(replayed.step.order.stages):
        blocks = ", ".join(
            f"{name} x{count}" if count > 1 else name
            for piece in range(replayed.step.order.pieces)
            for name, count in replayed.step.runs[replayed.step.order.position(stage, piece)]
        )
        named = {"process_name": {"name": f"stage {stage}"}, "process_labels": {"labels": blocks}}
        for kind, said in (*named.items(), ("process_sort_index", {"sort_index": stage})):
            yield json.dumps({"ph": "M", "name": kind, "pid": stage, "args": said})
        for thread, name in enumerate(THREADS):
            if thread >= SCHEDULE or stage * len(STREAMS) + thread in used:
                order = -2 if thread == SCHEDULE else -1 if thread == WAITING else thread
                yield json.dumps(
                    {"ph": "M", "name": "thread_name", "pid": stage, "tid": thread, "args": {"name": name}}
                )
                yield json.dumps(
                    {"ph": "M", "name": "thread_sort_index", "pid": stage, "tid": thread, "args": {"sort_index": order}}
                )


def _tasks(replayed: ReplayedStep, shown: NDArray[np.bool_]) -> Iterator[str]:
    """Every task that takes time."""
    step = replayed.step
    tasks = np.flatnonzero(shown)
    starts, ends = _micros(replayed.starts[tasks]), _micros(replayed.ends[tasks])
    heads = [f'{{"ph":"X","name":{json.dumps(label.name)},"cat":{json.dumps(label.line.part)}' for label in step.labels]
    streams = len(STREAMS)
    where = [f'"pid":{stream // streams},"tid":{stream % streams}' for stream in range(len(step.graph.names))]
    lasting = np.rint((ends - starts) * 1e3) / 1e3
    for label, stream, start, last in zip(
        step.label[tasks].tolist(), step.graph.streams[tasks].tolist(), starts.tolist(), lasting.tolist(), strict=True
    ):
        yield f'{heads[label]},{where[stream]},"ts":{start},"dur":{last}}}'


def _slots(replayed: ReplayedStep) -> Iterator[str]:
    """Write the slots of the schedule, a pair as one; slots that take no time are left out."""
    step, slots = replayed.step, replayed.step.slots
    starts, ends = _micros(_begun(replayed)), _micros(replayed.ends[slots.last])
    names: dict[int, str] = {}
    for place, (work, piece, batch, last) in enumerate(
        zip(slots.work.tolist(), slots.piece.tolist(), slots.micro_batch.tolist(), slots.last.tolist(), strict=True)
    ):
        said = f"{Work(work).word} {batch}" + (f", piece {piece}" if step.order.pieces > 1 else "")
        if last in names:
            said = f"{names[last]} with {said}"
        names[last] = said
        alone = place + 1 == len(slots.last) or int(slots.last[place + 1]) != last
        if alone and ends[place] > starts[place]:
            start = float(starts[place])
            yield (
                f'{{"ph":"X","name":"{said}","cat":"schedule","pid":{int(slots.stage[place])},"tid":{SCHEDULE},'
                f'"ts":{start},"dur":{round(float(ends[place]) - start, 3)}}}'
            )


def _begun(replayed: ReplayedStep) -> Real:
    """When every slot has what it needs; of a pair when both do."""
    slots = replayed.step.slots
    begun = replayed.ends[slots.first]
    paired = np.flatnonzero(slots.last[1:] == slots.last[:-1])
    begun[paired] = begun[paired + 1]
    return begun


def _flows(replayed: ReplayedStep) -> Iterator[str]:
    """From the task that hands over to the slot that it is for."""
    slots, streams = replayed.step.slots, len(STREAMS)
    handed = np.flatnonzero(slots.received >= 0)
    senders = slots.received[handed]
    sent, taken = _micros(replayed.starts[senders]), _micros(_begun(replayed)[handed])
    sources = (replayed.step.graph.streams[senders] // streams).tolist()
    threads = (replayed.step.graph.streams[senders] % streams).tolist()
    for number, (stage, source, thread, start, end) in enumerate(
        zip(slots.stage[handed].tolist(), sources, threads, sent.tolist(), taken.tolist(), strict=True)
    ):
        same = f'"name":"hand-over","cat":"pipeline","id":{number}'
        yield f'{{"ph":"s",{same},"pid":{source},"tid":{thread},"ts":{start}}}'
        yield f'{{"ph":"f","bp":"e",{same},"pid":{stage},"tid":{SCHEDULE},"ts":{end}}}'


def _waiting(replayed: ReplayedStep, stage: int) -> Iterator[str]:
    """Write waits of a nanosecond or longer; collectives inside blocks are on streams of their own."""
    idle = replayed.idle(stage)
    inside = {axis.communication for axis in CUTTING}
    starts, ends = _micros(idle.start), _micros(idle.end)
    for number, start, end in zip(idle.line.tolist(), starts.tolist(), ends.tolist(), strict=True):
        line = idle.lines[number]
        if end > start and line.part not in inside:
            said = {"ph": "X", "name": line.name, "cat": line.part, "pid": stage, "tid": WAITING}
            yield json.dumps({**said, "ts": start, "dur": round(end - start, 3)})


def _memory(replayed: ReplayedStep, stage: int) -> Iterator[str]:
    curve = replayed.memory[stage]
    for time, held in zip(_micros(curve.time).tolist(), np.rint(curve.bytes).tolist(), strict=True):
        yield f'{{"ph":"C","name":"activations","pid":{stage},"ts":{time},"args":{{"bytes":{int(held)}}}}}'
