"""High-Performance Linpack: a line a run, and whether its residual passed."""

import re
from collections.abc import Iterable

from volvelle.interchange.logs.lines import Line, RefusedError, count, number
from volvelle.interchange.logs.logged import LoggedLinpack, Refused
from volvelle.laws.hpl.closed_form import hpl_work

_LOOKS = re.compile(r"^\s*W[RC]\d\d[A-Z]\S*\s")
_RUN = re.compile(
    r"^\s*W[RC]\S+\s+(?P<n>\S+)\s+(?P<nb>\S+)\s+(?P<p>\S+)\s+(?P<q>\S+)\s+(?P<time>\S+)\s+(?P<rate>\S+)"
    r"(?:\s+\(\s*(?P<each>\S+)\s*\))?\s*$"
)
_CHECK = re.compile(r"\|\|Ax-b\|\|_oo/\(eps\*.*=\s*(\S+)\s*\.+\s*(PASSED|FAILED)")
_GIGA = 1e9


def is_run(text: str) -> bool:
    """Whether a line is of a run."""
    return _LOOKS.match(text) is not None


def read_hpl(lines: Iterable[Line]) -> tuple[tuple[LoggedLinpack, ...], list[Refused]]:
    """All runs of a file that passed."""
    runs: list[LoggedLinpack] = []
    refused: list[Refused] = []
    waiting: LoggedLinpack | None = None
    for line in lines:
        check = _CHECK.search(line.text)
        if check is not None and waiting is not None:
            try:
                number(check[1], "the residual", above=-1.0)
                if check[2] == "FAILED":
                    raise RefusedError("its residual FAILED")
                runs.append(waiting)
            except RefusedError as why:
                refused.append(Refused(waiting.line, str(why)))
            waiting = None
        if not is_run(line.text):
            continue
        if waiting is not None:
            refused.append(Refused(waiting.line, "no residual was checked before the next run"))
            waiting = None
        try:
            waiting = _run(line)
        except RefusedError as why:
            refused.append(Refused(line.number, str(why)))
    if waiting is not None:
        refused.append(Refused(waiting.line, "no residual was checked: the file is cut, or the check was switched off"))
    return tuple(runs), refused


def _run(line: Line) -> LoggedLinpack:
    found = _RUN.match(line.text)
    if found is None:
        raise RefusedError("cut, or columns of another kind")
    run = LoggedLinpack(
        line=line.number,
        n=count(found["n"], "N"),
        nb=count(found["nb"], "NB"),
        p=count(found["p"], "P"),
        q=count(found["q"], "Q"),
        seconds=number(found["time"], "the time"),
        flop_rate=number(found["rate"], "Gflops") * _GIGA,
    )
    done = float(hpl_work(float(run.n))) / run.seconds
    if abs(done / run.flop_rate - 1.0) > 0.01:
        raise RefusedError(
            f"N of {run.n} in {run.seconds:g} s is {done / _GIGA:.5g} Gflops, and {found['rate']} is printed"
        )
    return run
