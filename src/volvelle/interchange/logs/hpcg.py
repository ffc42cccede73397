"""HPCG: one report a run, as pairs with the section before each (3.1) or indented under it (3.0, YAML)."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from volvelle.interchange.logs.lines import Line, RefusedError, count, number
from volvelle.interchange.logs.logged import LoggedGradients, Refused

_VERDICT = re.compile(
    r"HPCG result is (?P<verdict>VALID|INVALID)\b(?: with a GFLOP/s rating of\s*[=:]\s*(?P<rate>\S+))?"
)
_PAIR = re.compile(r"^[>\s]*(?:(?P<section>[\w/ ]+?)::)?(?P<key>[^=:]+?)\s*[=:]\s*(?P<value>\S+)\s*$")
_HEAD = re.compile(r"^[>\s]*(?P<section>Machine Summary|[\w/ ]+ (?:Dimensions|Summary))\s*[=:]\s*$")
_WANTED = {
    "Machine Summary": ("Distributed Processes", "Threads per processes"),
    "Local Domain Dimensions": ("nx", "ny", "nz"),
    "Processor Dimensions": ("npx", "npy", "npz"),
    "Benchmark Time Summary": ("Total",),
    "Floating Point Operations Summary": ("Total",),
    "GFLOP/s Summary": ("Raw Total",),
}
_GIGA = 1e9
_OFF = 0.01
"""Share by which printed figures may contradict each other."""


def is_verdict(text: str) -> bool:
    """Whether a line is of a run's end."""
    return _VERDICT.search(text) is not None


@dataclass(slots=True)
class _Report:
    """What was read of a run so far, by section and key."""

    found: dict[tuple[str, str], str] = field(default_factory=dict)

    def text(self, section: str, key: str) -> str | None:
        return self.found.get((section, key))

    def counts(self, section: str) -> tuple[int, ...] | None:
        """All counts of a section; None: one of them is not said."""
        said = [self.text(section, key) for key in _WANTED[section]]
        words = [text for text in said if text is not None]
        return tuple(count(text, section) for text in words) if len(words) == len(said) else None


def read_hpcg(lines: Iterable[Line]) -> tuple[tuple[LoggedGradients, ...], list[Refused]]:
    """All runs of a file that the benchmark itself calls valid."""
    runs: list[LoggedGradients] = []
    refused: list[Refused] = []
    for report, line, verdict in _reports(lines):
        try:
            runs.append(_run(report, line, verdict))
        except RefusedError as why:
            refused.append(Refused(line.number, str(why)))
    return tuple(runs), refused


def _reports(lines: Iterable[Line]) -> Iterator[tuple[_Report, Line, re.Match[str]]]:
    """Every run: its report up to the verdict, and the verdict."""
    report, section = _Report(), ""
    for line in lines:
        verdict = _VERDICT.search(line.text)
        if verdict is not None:
            # Programs print the verdict once more by itself, without a sign before the rate.
            if verdict["rate"] is not None or verdict["verdict"] == "INVALID":
                yield report, line, verdict
                report, section = _Report(), ""
            continue
        head, pair = _HEAD.match(line.text), _PAIR.match(line.text)
        if head is not None:
            section = head["section"].strip()
        elif pair is not None:
            place = (pair["section"] or section).strip()
            if pair["key"].strip() in _WANTED.get(place, ()):
                report.found[place, pair["key"].strip()] = pair["value"]


def _run(report: _Report, line: Line, verdict: re.Match[str]) -> LoggedGradients:
    if verdict["verdict"] == "INVALID":
        raise RefusedError("the benchmark calls its result INVALID")
    rate = number(verdict["rate"], "the rating") * _GIGA
    _check_rates(report, rate)
    machine = report.text("Machine Summary", "Distributed Processes")
    processes, sides = report.counts("Processor Dimensions"), report.counts("Local Domain Dimensions")
    ranks = None if machine is None else count(machine, "Distributed Processes")
    if ranks is not None and processes is not None and processes[0] * processes[1] * processes[2] != ranks:
        raise RefusedError(f"a grid of {' × '.join(map(str, processes))} processes, and {ranks} are said")
    return LoggedGradients(line=line.number, ranks=ranks, grid=sides, flop_rate=rate)


def _check_rates(report: _Report, rate: float) -> None:
    """Work over time must be the raw rate, which the rating cannot exceed."""
    seconds, work = (
        report.text(f"{name} Summary", "Total") for name in ("Benchmark Time", "Floating Point Operations")
    )
    raw = report.text("GFLOP/s Summary", "Raw Total")
    if raw is None:
        return
    most = number(raw, "Raw Total") * _GIGA
    if rate > most * (1.0 + _OFF):
        raise RefusedError(f"a rating of {rate / _GIGA:g} GFLOP/s, above the raw {raw}")
    if seconds is None or work is None:
        return
    done = number(work, "FLOP") / number(seconds, "the time")
    if abs(done / most - 1.0) > _OFF:
        raise RefusedError(f"{work} FLOP in {seconds} s are {done / _GIGA:.5g} GFLOP/s, and {raw} are printed")
