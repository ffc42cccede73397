"""DeepSpeed: samples a second of its timer, a line every few steps, and the summary of its FLOP profiler."""

import re
from collections.abc import Iterable

from volvelle.interchange.logs.lines import Line, RefusedError, count, number, once
from volvelle.interchange.logs.logged import SAMPLE, LoggedRun, LoggedStep, Refused
from volvelle.interchange.logs.megatron import arguments_of
from volvelle.interchange.logs.runs import RunReader
from volvelle.interchange.logs.steady import SteadySteps

_RATE = "CurrSamplesPerSec="
_STEP = re.compile(r"(?:global_step=|\] \d+/)(\d+), RunningAvgSamplesPerSec=")
_CURRENT = re.compile(r"CurrSamplesPerSec=(\S+?)(, |\s*$)")
_MEMORY = re.compile(r"MaxMemAllocated=([^G\s]+)GB")
_CONFIG = re.compile(r"\[config\.py:\d+:print\]\s+(.*)$")
_SUMMARY = re.compile(r"Profile Summary at step (\d+):")
_LABEL = re.compile(r"^\s*([A-Za-z+/][A-Za-z+/ ]*?)(?: = [^:]*)?:\s+(\S+)(?:\s+([A-Za-z]+))?\s*$")
_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6}
_GIBI = 2**30


def is_step(text: str) -> bool:
    """Whether a line is of steps."""
    return "RunningAvgSamplesPerSec=" in text


def read_deepspeed(file: str, lines: Iterable[Line]) -> tuple[tuple[LoggedRun, ...], list[Refused]]:
    """All runs of a log."""
    reader = RunReader(file, "deepspeed", key=is_step, step=_step, argument=_arguments, per=SAMPLE)
    return reader.read(lines), reader.refused


def _arguments(text: str) -> Iterable[tuple[str, str]]:
    config = _CONFIG.search(text)
    yield from arguments_of(text if config is None else config[1])


def _step(line: Line) -> tuple[LoggedStep, int | None]:
    once(line.text, _RATE)
    step, rate, memory = _STEP.search(line.text), _CURRENT.search(line.text), _MEMORY.search(line.text)
    if step is None or rate is None:
        raise RefusedError("no step with samples a second")
    if not rate[2].startswith(",") and not line.ended:
        raise RefusedError("the file ends in this line: its rate may be cut")
    return (
        LoggedStep(
            line=line.number,
            step=count(step[1], "the step"),
            seconds=1.0 / number(rate[1], "samples a second"),
            # Allocated is less than reserved: it is kept for the reader, not as reserved memory.
            memory=None if memory is None else number(memory[1], "memory") * _GIBI,
        ),
        None,
    )


def is_summary(text: str) -> bool:
    """Whether a line begins a summary of the profiler."""
    return _SUMMARY.search(text) is not None


def read_profiler(file: str, lines: Iterable[Line]) -> tuple[tuple[LoggedRun, ...], list[Refused]]:
    """Summaries of the profiler: one step each, so the weakest evidence."""
    refused: list[Refused] = []
    runs: list[LoggedRun] = []
    at: Line | None = None
    step, said, places = 0, dict[str, tuple[str, str]](), dict[str, int]()
    for line in (*lines, Line(0, "Profile Summary at step 0:")):
        begins = _SUMMARY.search(line.text)
        if begins is None:
            label = _LABEL.match(line.text)
            if at is not None and label is not None:
                said.setdefault(label[1], (label[2], label[3] or ""))
                places.setdefault(label[1], line.number)
            continue
        if at is not None:
            try:
                runs.append(_profile(file, at, step, said, places))
            except RefusedError as why:
                refused.append(Refused(_where(str(why), places, at.number), str(why)))
        at, step, said, places = line, int(begins[1]), {}, {}
    return tuple(runs), refused


def _where(why: str, places: dict[str, int], begins: int) -> int:
    return next((place for label, place in places.items() if why.startswith(label)), begins)


def _profile(file: str, at: Line, step: int, said: dict[str, tuple[str, str]], places: dict[str, int]) -> LoggedRun:
    latencies = {}
    for label in ("fwd latency", "bwd latency", "step latency", "iter latency"):
        if label in said:
            text, unit = said[label]
            if unit not in _UNITS:
                raise RefusedError(f"{label} is {text} {unit or 'of no unit'}; s, ms or us is wanted")
            latencies[label] = number(text, label) * _UNITS[unit]
    if "iter latency" not in latencies:
        raise RefusedError("no time of a whole iteration (iter latency): the profiler timed a part of it")
    whole = latencies["iter latency"]
    parts = sum(value for label, value in latencies.items() if label != "iter latency")
    if len(latencies) == 4 and abs(parts / whole - 1.0) > 0.02:
        raise RefusedError(f"iter latency is {whole:.4g} s, and its parts make {parts:.4g} s: lines of several ranks?")
    batch = None
    if "samples/second" in said:
        rate = number(said["samples/second"][0], "samples/second")
        if "batch size per GPU" in said and "data parallel size" in said:
            batch = count(said["batch size per GPU"][0], "batch size per GPU")
            batch *= count(said["data parallel size"][0], "data parallel size")
            ranks = count(said.get("world size", ("1", ""))[0], "world size")
            # Versions count the samples of all ranks, those that share a model too.
            counted = (batch, batch * ranks // count(said["data parallel size"][0], "data parallel size"))
            if all(abs(samples / (rate * whole) - 1.0) > 0.02 for samples in counted):
                raise RefusedError(f"samples/second is {rate:g}, and {batch} in {whole:.4g} s are {batch / whole:.4g}")
    last = max(places.values(), default=at.number)
    line = places["iter latency"]
    return LoggedRun(
        file=file,
        tool="deepspeed-profiler",
        first_line=at.number,
        last_line=last,
        steps=(LoggedStep(line=line, step=max(step, 1), seconds=whole, batch=batch),),
        steady=SteadySteps(seconds=whole, spread=0.0, steps=1, lines=frozenset({line}), started=0, beside=0),
        batch=batch,
        arguments={label.replace(" ", "_"): " ".join(value).strip() for label, value in said.items()},
        warnings=("one micro-step under a profiler: 10 steady steps are wanted",),
    )
