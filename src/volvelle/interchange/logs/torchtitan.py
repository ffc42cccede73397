"""torchtitan: tokens a second of one device, a line a log interval; memory is what was reserved at most."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime

from volvelle.interchange.logs.lines import Line, RefusedError, count, number, once, printed_flop_rate
from volvelle.interchange.logs.logged import TOKEN, LoggedRun, LoggedStep, Refused
from volvelle.interchange.logs.runs import RunReader

_LOOKS = re.compile(r"\bstep:\s*\S+.*\b(?:tps|wps):")
_STEP = re.compile(r"\bstep:\s*(?P<step>\d+)(?:\s*/\s*(?P<total>\d+))?")
_RATE = re.compile(r"\b(?:tps|wps):\s*(?P<rate>\S+)(?P<more>\s+\S.*)?$")
_MEMORY = re.compile(r"memory:\s*(?P<size>\S+?)G(?P<binary>i?)B\((?P<share>[\d.]+)%\)")
_FLOP_RATE = re.compile(r"\btflops:\s*(?P<rate>[\d.,]+)")
_WHEN = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),(\d{3})")
_SETTINGS = {
    "local_batch_size": re.compile(r"local batch size:? (\d+)"),
    "global_batch_size": re.compile(r"global batch size:? (\d+)"),
    "sequence_length": re.compile(r"sequence length:? (\d+)"),
    "device": re.compile(r"(?:CUDA|XPU|HIP) capacity: (.+?) with [\d.]+GiB"),
    "peak_flops": re.compile(r"Peak FLOPS used for computing MFU: ([\d.e+]+)"),
    "model": re.compile(r"Building (\S+ [\d.]+[BM]) with"),
    "mesh": re.compile(r"Building \d-D device mesh with (\[.*?\], ?\[.*?\])"),
}
_GIBI, _GIGA = 2**30, 10**9


def is_step(text: str) -> bool:
    """Whether a line is of steps."""
    return _LOOKS.search(text) is not None


def read_torchtitan(file: str, lines: Iterable[Line]) -> tuple[tuple[LoggedRun, ...], list[Refused]]:
    """All runs of a log."""
    reader = RunReader(file, "torchtitan", key=is_step, step=_step, argument=_arguments, per=TOKEN)
    return reader.read(lines), reader.refused


def _arguments(text: str) -> Iterable[tuple[str, str]]:
    for name, pattern in _SETTINGS.items():
        found = pattern.search(text)
        if found is not None:
            yield name, found[1]


def _step(line: Line) -> tuple[LoggedStep, int | None]:
    once(line.text, "step:")
    step, rate, memory = _STEP.search(line.text), _RATE.search(line.text), _MEMORY.search(line.text)
    if step is None or rate is None:
        raise RefusedError("no step with tokens a second")
    if not line.ended and rate["more"] is None:
        raise RefusedError("the file ends in this line: its rate may be cut")
    when, printed = _WHEN.search(line.text), _FLOP_RATE.search(line.text)
    clock = None
    if when is not None:
        clock = datetime.fromisoformat(when[1]).replace(tzinfo=UTC).timestamp() + 1e-3 * int(when[2])
    size = None
    if memory is not None:
        size = number(memory["size"], "memory", above=-1.0) * (_GIBI if memory["binary"] else _GIGA)
        number(memory["share"], "the share of memory", above=-1.0)
    return (
        LoggedStep(
            line=line.number,
            step=count(step["step"], "the step"),
            seconds=1.0 / number(rate["rate"], "tokens a second", grouped=True),
            memory=size or None,
            flop_rate=None if printed is None else printed_flop_rate(printed["rate"]),
            clock=clock,
        ),
        None if step["total"] is None else count(step["total"], "steps"),
    )
