"""Runs out of lines of steps: several processes and several runs in one file are told apart, never averaged."""

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median, median_low

from volvelle.interchange.logs.lines import Line, RefusedError
from volvelle.interchange.logs.logged import STEP, LoggedRun, LoggedStep, Refused
from volvelle.interchange.logs.steady import FEWEST, steady_steps

_LATE = 2
"""Log intervals by which a line of another process may come late; a step further back begins another run."""
RESERVED = "reserved_megabytes"
"""Memory that a chip reserved at most, among arguments: it is measured, so it may differ."""
_BESIDE = {
    "checkpoint": (
        "saving checkpoint",
        "saved checkpoint",
        "saving the checkpoint",
        "checkpoint saved",
        "save-checkpoint",
    ),
    "evaluation": (
        "validation loss at",
        "validation results",
        "evaluating",
        "eval_start",
        "evaluate ..",
        "'eval_loss'",
    ),
}
"""Words that say what a step waited for."""


def beside(text: str) -> str:
    """What a line says that was done beside training; nothing: it says no such thing."""
    low = text.lower()
    return next((what for what, words in _BESIDE.items() if any(word in low for word in words)), "")


@dataclass(slots=True)
class _Part:
    """A run while it is read."""

    steps: dict[int, list[LoggedStep]] = field(default_factory=lambda: defaultdict(list))
    arguments: dict[str, str] = field(default_factory=dict)
    total: int | None = None
    begins: bool = False
    """Whether lines of a start, like arguments, stand before it."""
    last: int = 0
    interval: int = 1


class RunReader:
    """Takes lines one after the other; steps, arguments and the rest are told apart by what reads the tool."""

    def __init__(
        self,
        file: str,
        tool: str,
        *,
        key: Callable[[str], bool],
        step: Callable[[Line], tuple[LoggedStep, int | None]],
        argument: Callable[[str], Iterable[tuple[str, str]]] = lambda text: (),
        per: str = STEP,
    ) -> None:
        self.file, self.tool, self.per = file, tool, per
        self._key, self._step, self._argument = key, step, argument
        self._parts: list[_Part] = [_Part()]
        self._waits = ""
        self._rank: int | None = None
        self.refused: list[Refused] = []

    def read(self, lines: Iterable[Line]) -> tuple[LoggedRun, ...]:
        """All runs of a file."""
        for line in lines:
            if self._key(line.text):
                self._take(line)
                continue
            self._waits = beside(line.text) or self._waits
            for name, value in self._argument(line.text):
                self._told(name, value)
        return tuple(run for part in self._parts if part.steps for run in [self._run(part)])

    def _told(self, name: str, value: str) -> None:
        part = self._parts[-1]
        if name == RESERVED:  # measured on each rank, and printed between steps
            part.arguments[name] = max(part.arguments.get(name, "0"), value, key=float)
            return
        if part.steps and part.arguments.get(name) not in (None, value):
            # Arguments are printed anew, and otherwise: what follows is another run.
            part = _Part()
            self._parts.append(part)
            self._waits = ""
        if not part.steps:
            part.begins = True
        part.arguments.setdefault(name, value)

    def _take(self, line: Line) -> None:
        try:
            step, total = self._step(line)
        except RefusedError as why:
            self.refused.append(Refused(line.number, str(why)))
            return
        if line.rank is not None:
            self._rank = line.rank if self._rank is None else self._rank
            if line.rank != self._rank:
                return  # another process says the same of the same steps
        part = self._parts[-1]
        if part.steps:
            back = part.last - step.step
            if back > _LATE * part.interval or (total is not None and part.total not in (None, total)):
                part = _Part(arguments=dict(part.arguments), begins=True)
                self._parts.append(part)
            elif step.step > part.last:
                gap = step.step - part.last
                part.interval = gap if len(part.steps) == 1 else min(part.interval, gap)
        part.total = total if part.total is None else part.total
        part.last = max(part.last, step.step)
        waits, self._waits = self._waits, ""
        part.steps[step.step].append(replace(step, beside=step.beside or waits))

    def _run(self, part: _Part) -> LoggedRun:
        warnings = []
        steps = [_of_processes(part.steps[number]) for number in sorted(part.steps)]
        most = Counter(step.batch for step in steps if step.batch is not None).most_common(1)
        batch = most[0][0] if most else None
        others = [step for step in steps if step.batch not in (None, batch)]
        for step in others:
            self.refused.append(
                Refused(step.line, f"a batch of {step.batch}, and most steps of the run have {batch}: not averaged")
            )
        kept = [step for step in steps if step.batch in (None, batch)]
        first = kept[0].step
        begins = part.begins or first <= part.interval
        steady = steady_steps(
            [step.seconds for step in kept],
            [step.step for step in kept],
            [step.line for step in kept],
            disturbed=[bool(step.beside) for step in kept],
            begins=begins,
        )
        if not begins:
            warnings.append(f"the log begins at step {first}: whether it was warm then is not known")
        if steady is None:
            warnings.append("every step is of the start of the run, or beside a checkpoint or an evaluation")
        elif steady.steps < FEWEST:
            warnings.append(f"{steady.steps} steady steps only, and {FEWEST} are wanted")
        if steady is not None and steady.outliers:
            warnings.append(f"steps far from the middle one on lines {', '.join(map(str, steady.outliers[:8]))}")
        warnings += list(_clocks(kept, steady.lines if steady else frozenset(), self.per))
        return LoggedRun(
            file=self.file,
            tool=self.tool,
            first_line=kept[0].line,
            last_line=kept[-1].line,
            per=self.per,
            steps=tuple(kept),
            steady=steady,
            batch=batch,
            arguments=part.arguments,
            warnings=tuple(warnings),
        )


def _of_processes(said: Sequence[LoggedStep]) -> LoggedStep:
    """One step that several processes printed: the middle time of them."""
    if len(said) == 1:
        return said[0]
    return replace(
        said[0],
        seconds=median_low(step.seconds for step in said),
        memory=max((step.memory for step in said if step.memory), default=None),
        beside=next((step.beside for step in said if step.beside), ""),
    )


def clock_seconds(steps: Sequence[LoggedStep], lines: frozenset[int]) -> float | None:
    """Seconds a step by the times that lines were printed at, the middle of the steady ones; None: they have none."""
    found = []
    for sooner, later in itertools.pairwise(steps):
        if later.line in lines and sooner.clock is not None and later.clock is not None:
            between = later.clock - sooner.clock
            if between > 0:
                found.append(between / (later.step - sooner.step))
    return median(found) if found else None


def _clocks(steps: Sequence[LoggedStep], lines: frozenset[int], per: str) -> Iterable[str]:
    by_clock = clock_seconds(steps, lines)
    if per != STEP or by_clock is None or len(lines) < 3:
        return
    printed = median(step.seconds for step in steps if step.line in lines)
    # Times of day are printed to the second, some to the microsecond.
    if abs(by_clock / printed - 1.0) > 0.1 and abs(by_clock - printed) > 1.0:
        yield f"steps take {printed:.4g} s as printed and {by_clock:.4g} s by the times of day of their lines"


def known(arguments: Mapping[str, str], *names: str) -> int | None:
    """A whole number among arguments, by the first of some names that says one."""
    for name in names:
        said = arguments.get(name, "").replace(",", "")
        if said.isdigit() and int(said) > 0:
            return int(said)
    return None
