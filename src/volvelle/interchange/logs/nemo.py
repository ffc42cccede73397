"""NeMo 2: a line a step, its time in seconds."""

import re
from collections.abc import Iterable

from volvelle.interchange.logs.lines import Line, RefusedError, count, number, once, printed_flop_rate
from volvelle.interchange.logs.logged import LoggedRun, LoggedStep, Refused
from volvelle.interchange.logs.runs import RunReader

_TIME = "train_step_timing in s:"
_FLOP_RATES = ("TFLOPS_per_GPU", "tflops_per_sec_per_gpu")
_ITERATION = re.compile(r"iteration (\d+)/(\d+)")


def is_step(text: str) -> bool:
    """Whether a line is of a step."""
    return _TIME in text and _ITERATION.search(text) is not None


def read_nemo(file: str, lines: Iterable[Line]) -> tuple[tuple[LoggedRun, ...], list[Refused]]:
    """All runs of a log."""
    reader = RunReader(file, "nemo", key=is_step, step=_step)
    return reader.read(lines), reader.refused


def _step(line: Line) -> tuple[LoggedStep, int | None]:
    once(line.text, _TIME)
    iteration = _ITERATION.search(line.text)
    assert iteration is not None, "lines without one are no steps"
    parts = [part.strip() for part in line.text.split("|")]
    said = dict(part.rpartition(": ")[::2] for part in parts if ": " in part)
    said = {key.rstrip(":"): value for key, value in said.items()}
    if not line.ended and parts[-1].startswith(_TIME):
        raise RefusedError("the file ends in this line: its time may be cut")
    if _TIME[:-1] not in said:
        raise RefusedError("cut before its time")
    batch = said.get("global_batch_size")
    rate = next((said[name] for name in _FLOP_RATES if name in said), None)
    reserved = said.get("max_memory_reserved") or said.get("peak_memory_usage")
    return (
        LoggedStep(
            line=line.number,
            # Iterations are counted from 0 of each epoch; steps of the whole run where they are said.
            step=_counted(said.get("global_step", iteration[1])) + 1,
            seconds=number(said[_TIME[:-1]], "the time"),
            batch=None if batch is None else count(batch, "the global batch"),
            memory=None if reserved is None else number(reserved, "memory"),
            flop_rate=None if rate is None else printed_flop_rate(rate),
            beside="",
        ),
        count(iteration[2], "iterations"),
    )


def _counted(text: str) -> int:
    found = number(text, "the step", above=-1.0)
    if found != int(found):
        raise RefusedError(f"the step is {text}, and must be a whole number")
    return int(found)
