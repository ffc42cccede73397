"""MLPerf: events of one JSON object a line; blocks of training between evaluations are timed by their ends."""

import json
from collections.abc import Iterable, Mapping

from volvelle.interchange.logs.lines import Line, RefusedError
from volvelle.interchange.logs.logged import SAMPLE, LoggedRun, LoggedStep, Refused
from volvelle.interchange.logs.steady import FEWEST, SteadySteps

_MARK = ":::MLLOG"
_SAID = (
    *("global_batch_size", "gradient_accumulation_steps", "max_sequence_length", "submission_benchmark"),
    *("submission_platform", "submission_org", "tensor_parallelism", "pipeline_parallelism", "context_parallelism"),
)


def is_event(text: str) -> bool:
    """Whether a line is an event."""
    return _MARK in text


def read_mlperf(file: str, lines: Iterable[Line]) -> tuple[tuple[LoggedRun, ...], list[Refused]]:
    """All runs of a log."""
    refused: list[Refused] = []
    runs: list[LoggedRun] = []
    events: list[tuple[int, Mapping[str, object]]] = []
    seen = set[str]()
    for line in lines:
        if not is_event(line.text):
            continue
        try:
            event = _event(line.text)
        except RefusedError as why:
            refused.append(Refused(line.number, str(why)))
            continue
        same = json.dumps({key: event.get(key) for key in ("time_ms", "key", "value", "metadata")}, sort_keys=True)
        if same in seen:
            continue  # another process printed it too
        seen.add(same)
        if event.get("key") == "run_start" and any(one.get("key") == "run_start" for _, one in events):
            runs += _run(file, events, refused)
            events = []
        events.append((line.number, event))
    return (*runs, *_run(file, events, refused)), refused


def _event(text: str) -> Mapping[str, object]:
    try:
        event = json.loads(text.partition(_MARK)[2])
    except (ValueError, RecursionError):
        raise RefusedError("not JSON: cut, or lines of several processes in one") from None
    if not isinstance(event, dict) or not isinstance(event.get("key"), str):
        raise RefusedError("no event with a key")
    when = event.get("time_ms")
    if isinstance(when, bool) or not isinstance(when, int | float) or not 0 <= when < 1e14:
        raise RefusedError(f"its time is {when!r}")
    return event


def _samples(event: Mapping[str, object]) -> float | None:
    """How many samples had been trained on."""
    told = event.get("metadata")
    if not isinstance(told, dict):
        return None
    for name in ("samples_count", "epoch_num", "step"):
        found = told.get(name)
        if isinstance(found, int | float) and not isinstance(found, bool) and found >= 0:
            return float(found)
    return None


def _run(file: str, events: list[tuple[int, Mapping[str, object]]], refused: list[Refused]) -> tuple[LoggedRun, ...]:
    arguments = {str(event["key"]): f"{event.get('value')}" for _, event in events if event["key"] in _SAID}
    batch = int(arguments["global_batch_size"]) if arguments.get("global_batch_size", "").isdigit() else None
    steps: list[LoggedStep] = []
    begun: tuple[float, float] | None = None
    for line, event in events:
        samples, when = _samples(event), 1e-3 * float(event["time_ms"])  # type: ignore[arg-type]
        if event["key"] == "block_start" and samples is not None:
            begun = samples, when
        elif event["key"] == "block_stop" and begun is not None and samples is not None:
            done, took = samples - begun[0], when - begun[1]
            begun = None
            if done <= 0 or took <= 0:
                refused.append(Refused(line, f"a block of {done:g} samples in {took:g} s"))
                continue
            steps.append(LoggedStep(line=line, step=max(round(samples / (batch or 1)), 1), seconds=took / done))
        elif event["key"] == "tracked_stats":
            steps += _tracked(line, event, batch, refused)
    if not steps:
        return ()
    # A block is many steps, and the first has the start of the run in it.
    blocks = [step for step in steps if step.beside != "printed"] or steps
    kept = blocks[1:] if len(blocks) > 1 and _starts(events) else blocks
    values = sorted(step.seconds for step in kept)
    middle = (
        values[len(values) // 2] if len(values) % 2 else (values[len(values) // 2 - 1] + values[len(values) // 2]) / 2
    )
    low, high = values[len(values) // 4], values[(3 * len(values)) // 4]
    only = () if len(kept) >= 3 else (f"{len(kept)} blocks between evaluations only, and {FEWEST} steps are wanted",)
    return (
        LoggedRun(
            file=file,
            tool="mlperf",
            first_line=events[0][0],
            last_line=events[-1][0],
            per=SAMPLE,
            steps=tuple(steps),
            steady=SteadySteps(
                seconds=middle,
                spread=(high - low) / middle,
                steps=len(kept),
                lines=frozenset(step.line for step in kept),
                started=len(blocks) - len(kept),
                beside=len(steps) - len(blocks),
            ),
            batch=batch,
            arguments=arguments,
            warnings=only,
        ),
    )


def _starts(events: list[tuple[int, Mapping[str, object]]]) -> bool:
    return any(event["key"] == "run_start" for _, event in events)


def _tracked(line: int, event: Mapping[str, object], batch: int | None, refused: list[Refused]) -> list[LoggedStep]:
    """A throughput that the run itself printed: shown, and used where no block was timed."""
    value = event.get("value")
    rate = value.get("throughput") if isinstance(value, dict) else None
    if rate is None:
        return []
    if isinstance(rate, bool) or not isinstance(rate, int | float) or not 0.0 < rate < 1e15:
        refused.append(Refused(line, f"its throughput is {rate!r}"))
        return []
    samples = _samples(event) or 1.0
    return [LoggedStep(line=line, step=max(round(samples / (batch or 1)), 1), seconds=1.0 / rate, beside="printed")]
