"""Trainer of Hugging Face's transformers: one mean over the whole run, with its start, checkpoints and evaluations."""

import ast
import json
import re
from collections.abc import Iterable, Mapping

from volvelle.interchange.logs.lines import Line, RefusedError, number
from volvelle.interchange.logs.logged import LoggedRun, LoggedStep, Refused
from volvelle.interchange.logs.steady import SteadySteps

_DICT = re.compile(r"\{[^{}]*'train_runtime':[^{}]*\}")
_LOOKS = "'train_runtime':"
_SETTINGS = {
    "batch": re.compile(r"Total train batch size \(w\. parallel, distributed & accumulation\) = ([\d,]+)"),
    "accumulation": re.compile(r"Gradient Accumulation steps = ([\d,]+)"),
    "steps": re.compile(r"Total optimization steps = ([\d,]+)"),
    "examples": re.compile(r"Num examples = ([\d,]+)"),
}


def is_result(text: str) -> bool:
    """Whether a line is the result of a run."""
    return _LOOKS in text


def read_trainer(file: str, lines: Iterable[Line]) -> tuple[tuple[LoggedRun, ...], list[Refused]]:
    """All runs of a log."""
    runs, refused, settings = [], [], dict[str, str]()
    first: int | None = None
    for line in lines:
        for name, pattern in _SETTINGS.items():
            found = pattern.search(line.text)
            if found is not None:
                settings[name] = found[1].replace(",", "")
                first = line.number if first is None else first
        if not is_result(line.text):
            continue
        try:
            found = _DICT.search(line.text)
            if found is None:
                raise RefusedError("cut, or other values are within its braces")
            runs.append(_run(file, _literal(found[0]), line.number, settings, first or line.number))
        except RefusedError as why:
            refused.append(Refused(line.number, str(why)))
        settings, first = {}, None
    return tuple(runs), refused


def read_results_file(file: str, text: str) -> tuple[tuple[LoggedRun, ...], list[Refused]]:
    """``train_results.json`` or ``all_results.json``."""
    try:
        return (_run(file, json.loads(text), 1, {}, 1),), []
    except (RefusedError, ValueError) as why:
        return (), [Refused(1, str(why))]


def _literal(text: str) -> Mapping[str, object]:
    try:
        found = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        raise RefusedError("not values of Python: nan, or cut") from None
    if not isinstance(found, dict):
        raise RefusedError("no table of values")
    return found


def _run(file: str, said: Mapping[str, object], line: int, settings: Mapping[str, str], first: int) -> LoggedRun:
    def value(name: str) -> float:
        if name not in said:
            raise RefusedError(f"{name} is missing")
        return number(str(said[name]), name)

    runtime, rate = value("train_runtime"), value("train_steps_per_second")
    steps = round(runtime * rate)
    if "steps" in settings and abs(int(settings["steps"]) / (runtime * rate) - 1.0) > _rounding(rate):
        raise RefusedError(
            f"{settings['steps']} steps in {runtime:g} s are not {rate:g} a second: resumed, or of two runs"
        )
    seconds = runtime / int(settings.get("steps", max(steps, 1)))
    batch = int(settings["batch"]) if "batch" in settings else None
    if "train_samples_per_second" in said:
        samples = value("train_samples_per_second")
        if batch is not None and abs(samples / (rate * batch) - 1.0) > max(0.05, _rounding(rate) + _rounding(samples)):
            raise RefusedError(f"{samples:g} samples and {rate:g} steps a second do not make a batch of {batch}")
    return LoggedRun(
        file=file,
        tool="hf-trainer",
        first_line=first,
        last_line=line,
        steps=(LoggedStep(line=line, step=max(steps, 1), seconds=seconds, batch=batch),),
        steady=SteadySteps(seconds=seconds, spread=0.0, steps=1, lines=frozenset({line}), started=0, beside=0),
        whole_run=True,
        batch=batch,
        arguments=dict(settings),
        warnings=("a mean over the whole run, its start, checkpoints and evaluations included",),
    )


def _rounding(rate: float) -> float:
    """What three decimals leave open, relative."""
    return max(0.01, 0.0011 / rate)
