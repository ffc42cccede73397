"""Events of a Kineto profile (`torch.profiler`, Chrome's JSON): spans on threads and on streams of devices."""

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from volvelle.errors import DescriptionError, brief
from volvelle.interchange.traces.collective_words import collective_named, communication, is_communication
from volvelle.interchange.traces.tensors import ELEMENTS, arguments_of, said_of
from volvelle.interchange.traces.trace_file import JsonObjects, finite, refuse_many
from volvelle.workload.elements import ELEMENT_BYTES
from volvelle.workload.tensor_layout import Collective
from volvelle.workload.trace.counting import moved_bytes, tensors, work_of
from volvelle.workload.trace.values import HOST_COPY, Communication, Work

OPERATIONS: Final = frozenset(("cpu_op", "Operator", "user_annotation"))
RUNTIME: Final = frozenset(("cuda_runtime", "cuda_driver", "Runtime", "hip_runtime", "xpu_runtime", "mtia_runtime"))
DEVICE: Final = frozenset(
    ("kernel", "Kernel", "gpu_memcpy", "gpu_memset", "Memcpy", "Memset", "concurrent_kernel", "mtia_ccp_events")
)
DISPATCH: Final = "c10d::"
_LIBRARIES: Final = ("gloo:", "nccl:", "mccl:")


@dataclass(slots=True)
class Span:
    """A time on a thread or a stream, and what is known of what ran in it."""

    name: str
    node: str
    start: float
    """Microseconds, as the file counts."""
    end: float
    thread: str
    runtime: bool = False
    device: bool = False
    correlation: int = -1
    record: int = -1
    """By which an execution trace tells the same operation."""
    work: Work | None = None
    communication: Communication | None = None
    moved: float = 0.0


@dataclass(slots=True)
class Events:
    """All spans of a profile, and what was not taken."""

    format: str = ""
    spans: list[Span] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    groups: dict[str, int] = field(default_factory=dict)
    """Ranks of every process group that the file tells."""
    ranks: int = 0
    notes: list[str] = field(default_factory=list)


def read_events(text: str, file: Path) -> Events:
    """Spans of the file in its order."""
    refuse_many(text.count('"dur"'), file)
    found = Events()
    objects = JsonObjects(text, file, "traceEvents")
    for number, event in enumerate(objects):
        if not isinstance(event, dict):
            raise DescriptionError(f"{str(file)!r}, event {number} is {brief(event)}; an event is an object")
        kind = event.get("ph")
        if kind != "X":
            if kind not in ("M", "i", "I", "s", "t", "f", "C", None):
                found.left_out[f"events of phase {brief(kind)}"] += 1
            continue
        category = event.get("cat", "")
        if not isinstance(category, str):
            category = ""
        if category in OPERATIONS or category in RUNTIME or category in DEVICE:
            found.spans.append(_span(event, category, number, file))
        else:
            found.left_out[f"spans of {category or 'no category'}"] += 1
    version = objects.rest.get("schemaVersion")
    found.format = f"Kineto, schema {version}" if type(version) in (int, float, str) else "Kineto"
    _groups(objects.rest.get("distributedInfo"), found)
    spoken = [span for span in found.spans if span.communication is not None]
    if any(span.name.startswith(_LIBRARIES) for span in spoken):
        # c10d hands an exchange to a library, which runs it on a thread of its own: it counts once.
        for span in spoken:
            if span.name.startswith(DISPATCH):
                span.communication = None
    for span in spoken:
        if span.communication is not None:
            span.communication = _whole(span.communication, found)
    return found


def _span(event: dict[str, Any], category: str, number: int, file: Path) -> Span:
    name = event.get("name")
    name = name if isinstance(name, str) and name else "unnamed"
    start, length = finite(event.get("ts")), finite(event.get("dur", 0))
    if start is None or length is None or length < 0.0:
        raise DescriptionError(
            f"{str(file)!r}, event {number} ({brief(name)}): ts is {brief(event.get('ts'))} and dur is "
            f"{brief(event.get('dur'))}; both are microseconds, and a length is zero or more: mend or remove the event"
        )
    args = event.get("args")
    told: dict[str, Any] = args if isinstance(args, dict) else {}
    device = category in DEVICE
    thread = f"{_label(event.get('pid'))} {_label(event.get('tid'))}"
    if device:
        device_number, stream = told.get("device", event.get("pid")), told.get("stream", event.get("tid"))
        thread = f"device {_label(device_number)} stream {_label(stream)}"
    inputs = arguments_of(told.get("Input Dims", told.get("Input dims")), told.get("Input type"))
    span = Span(
        short_name(name) if device else name[:200],
        str(number),
        start,
        start + length,
        thread,
        runtime=category in RUNTIME,
        device=device,
    )
    span.correlation = _whole_number(told.get("correlation"))
    span.record = _whole_number(told.get("Record function id", told.get("External id")))
    span.moved = moved_bytes(inputs)
    if device and category not in ("kernel", "Kernel", "concurrent_kernel"):
        size = finite(told.get("bytes"))
        if size is not None and size >= 0.0:
            between = "Memcpy" in name and (
                "HtoD" in name or "DtoH" in name or "HostToDevice" in name or "ToHost" in name
            )
            span.moved = size
            kind, passes = (HOST_COPY, 1.0) if between else ("copy", 1.0 if "emset" in name else 2.0)
            span.work = Work(kind, traffic=size * passes)
    elif is_communication(name):
        span.communication = _communication(name, told, inputs)
    elif not span.runtime and not device:
        span.work = work_of(name, inputs, (), said_of(told.get("Concrete Inputs")))
    return span


_TEMPLATE: Final = re.compile(r"\(anonymous namespace\)::|^void |at::native::|\[clone[^]]*\]")


def short_name(name: str) -> str:
    """The name of a kernel without the types and arguments that its templates spell out."""
    plain = _TEMPLATE.sub("", name)
    return re.split(r"[<(]", plain, maxsplit=1)[0].strip()[:80] or name[:80]


def _label(value: object) -> str:
    return str(value)[:40]


def _whole_number(value: object) -> int:
    return value if type(value) is int else -1


def _communication(name: str, told: dict[str, Any], inputs: tuple[Any, ...]) -> Communication | None:
    word = told.get("Collective name")
    kind = collective_named(word) if isinstance(word, str) and word else collective_named(name)
    if kind is None:
        return None
    group = max(_whole_number(told.get("Group size")), 0)
    each = ELEMENT_BYTES.get(ELEMENTS.get(str(told.get("dtype")), ""), 4.0)
    sent, received = (finite(told.get(f"{side} msg nelems"), most=2.0**60) for side in ("In", "Out"))
    if sent is None and received is None:
        given = tensors(inputs)
        if not given and "barrier" not in name.lower():
            return None
        return Communication(kind, -sum(tensor.bytes for tensor in given), group)
    return communication(kind, max(sent or 0.0, 0.0) * each, max(received or 0.0, 0.0) * each, group)


def _whole(found: Communication, events: Events) -> Communication:
    """With the group of the file where the event has none, and all of an all-gather where only a part was told.

    A size below zero is what one rank gives in, as events without counts tell it.
    """
    group = found.group or events.ranks
    size = found.size
    if size < 0.0:
        size = -size * (max(group, 1) if found.collective is Collective.ALL_GATHER else 1)
    return found._replace(size=size, group=group)


def _groups(told: object, found: Events) -> None:
    if not isinstance(told, dict):
        return
    found.ranks = max(_whole_number(told.get("world_size")), 0)
