"""Megatron-LM and what descends from it: BigScience, GPT-NeoX, Megatron-Bridge, Primus, MindSpeed.

One line a log interval, its time a mean over the interval; arguments are dumped above. Printed FLOP rates follow the
version's own count, so they only serve to check the time.
"""

import re
from collections.abc import Iterable
from datetime import UTC, datetime

from volvelle.interchange.logs.lines import Line, RefusedError, count, number, once, printed_flop_rate
from volvelle.interchange.logs.logged import LoggedRun, LoggedStep, Refused
from volvelle.interchange.logs.runs import RESERVED, RunReader

_TIME = "elapsed time per iteration (ms):"
_WHEN = re.compile(r"\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?)\]")
_ITERATION = re.compile(r"\biteration\s+(\d+)\s*/\s*(\d+|infinity)\b")
_ARGUMENT = re.compile(r"^\s*(?P<name>[a-z][a-z0-9_]*)\s\.{2,}\s(?P<value>[^\s:.][^|]*?)(?:\.{3,}\w+)?\s*$")
_MEMORY = re.compile(r"memory \(MB\) \|.*?\bmax reserved:\s*(\d+(?:\.\d+)?)\b")
_BATCH = re.compile(r"^glo(?:bal|abl) batch size$")
_FLOP_RATE = re.compile(r"^(?:throughput per GPU \(TFLOP/s/GPU\)|TFLOPs|model TFLOP/s/GPU|approx flops per GPU)$")


def is_step(text: str) -> bool:
    """Whether a line is of steps."""
    return _TIME in text and "iteration" in text


def arguments_of(text: str) -> Iterable[tuple[str, str]]:
    """Arguments that a line states."""
    found = _ARGUMENT.match(text)
    if found is not None:
        yield found["name"], found["value"]
    reserved = _MEMORY.search(text)
    if reserved is not None:
        yield RESERVED, reserved[1]


def read_megatron(file: str, lines: Iterable[Line]) -> tuple[tuple[LoggedRun, ...], list[Refused]]:
    """All runs of a log."""
    reader = RunReader(file, "megatron", key=is_step, step=_step, argument=arguments_of)
    return reader.read(lines), reader.refused


def _step(line: Line) -> tuple[LoggedStep, int | None]:
    once(line.text, _TIME)
    iteration = _ITERATION.search(line.text)
    if iteration is None:
        raise RefusedError("no iteration of how many")
    said = {}
    for part in line.text.split("|")[:-1]:  # what stands behind the last bar was cut, or is nothing
        key, colon, value = part.rpartition(":")
        if colon:
            said[key.strip()] = value.strip()
    elapsed = next((value for key, value in said.items() if key.endswith(_TIME[:-1])), None)
    if elapsed is None:
        raise RefusedError("cut before the end of its time")
    now, _, mean = elapsed.partition("/")
    seconds = 1e-3 * number(now, "the time")
    if mean:
        number(mean, "the mean time")
    batch = next((value for key, value in said.items() if _BATCH.match(key)), None)
    power = next((value for key, value in said.items() if key.startswith("power per GPU")), None)
    rate = next((value for key, value in said.items() if _FLOP_RATE.match(key)), None)
    total = None if iteration[2] == "infinity" else count(iteration[2], "iterations")
    when = _WHEN.search(line.text)
    if said.get("number of nan iterations", "0").strip() not in ("0", ""):
        raise RefusedError(f"{said['number of nan iterations'].strip()} of its iterations were NaN")
    return (
        LoggedStep(
            line=line.number,
            step=count(iteration[1], "the iteration"),
            seconds=seconds,
            batch=None if batch is None else count(batch, "the global batch"),
            power=None if power is None else number(power, "the power"),
            flop_rate=None if rate is None else printed_flop_rate(rate),
            clock=None if when is None else datetime.fromisoformat(when[1]).replace(tzinfo=UTC).timestamp(),
        ),
        total,
    )
