"""Mutated logs: nothing crashes, no number is taken that the log did not have, every refusal names a line."""

import random
import re

import pytest

from tests.conftest import ROOT
from volvelle import DescriptionError
from volvelle.interchange.logs.logged import Log
from volvelle.interchange.logs.readers import log_of

LOGS = {file.stem: file.read_text("utf-8") for file in sorted((ROOT / "tests" / "data" / "logs").glob("*.txt"))}
_NUMBER = re.compile(r"(?<![\w.-])\d+\.?\d*(?![\w.])")


def values(log: Log) -> set[tuple[object, ...]]:
    """Every measurement, as what it is of and its time."""
    steps = {("step", step.step, step.seconds) for run in log.runs for step in run.steps}
    collectives = {("collective", row.operation, row.size, row.seconds) for row in log.collectives}
    products = {("product", row.m, row.n, row.k, row.batch, row.seconds) for row in log.gemms}
    products |= {("gradients", row.ranks, row.grid, row.flop_rate) for row in log.gradients}
    return steps | collectives | products | {("linpack", row.n, row.p, row.q, row.seconds) for row in log.linpack}


def coloured(text: str, draw: random.Random) -> str:
    lines = text.split("\n")
    return "\n".join(
        f"\x1b[{draw.randint(30, 37)}m{line}\x1b[0m" if line and draw.random() < 0.7 else line for line in lines
    )


def cut(text: str, draw: random.Random) -> str:
    return text[: draw.randrange(1, len(text))]


def cut_before(text: str, draw: random.Random) -> str:
    return text[draw.randrange(len(text)) :]


def interleaved(text: str, draw: random.Random) -> str:
    """Another rank prints every line too, now and then into the same line."""
    found = []
    for line in text.split("\n"):
        if draw.random() < 0.1 and line.strip():
            found.append(f"[rank0]:{line[: draw.randrange(len(line))]}[rank1]:{line}")
        else:
            found += [f"[rank0]:{line}", f"[rank1]:{line}"] if line.strip() else [line]
    return "\n".join(found)


def prefixed(text: str, draw: random.Random) -> str:
    prefix = draw.choice(["0: ", "[default0]:", "[1,0]<stdout>:", "[rank0]:", "2026-01-01T00:00:00.000Z "])
    return "\n".join(prefix + line if line else line for line in text.split("\n"))


def twice(text: str, draw: random.Random) -> str:
    return text + draw.choice(["", "\n", "another run\n"]) + text


def replaced(text: str, draw: random.Random, change: str) -> str:
    places = [match for match in _NUMBER.finditer(text) if "." in match[0]] or list(_NUMBER.finditer(text))
    match = draw.choice(places)
    now = {"nan": "nan", "negative": f"-{match[0]}", "locale": match[0].replace(".", ","), "inf": "inf"}[change]
    return text[: match.start()] + now + text[match.end() :]


MUTATIONS = {
    "coloured": coloured,
    "cut": cut,
    "cut before": cut_before,
    "interleaved": interleaved,
    "prefixed": prefixed,
    "twice": twice,
    **{
        change: (lambda text, draw, change=change: replaced(text, draw, change))
        for change in ("nan", "negative", "locale", "inf")
    },
}


def read(text: str, name: str) -> Log | str:
    try:
        return log_of(text, name)
    except DescriptionError as refused:
        return str(refused)


def whole(text: str) -> Log:
    return log_of(text, "whole")


def alone(line: str) -> Log:
    log = read(line, "line")
    return log if isinstance(log, Log) else Log(file="line", tool="", digest="")


def lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def mutated(seed: int) -> None:
    draw = random.Random(seed)
    name = draw.choice(sorted(LOGS))
    what = draw.choice(sorted(MUTATIONS))
    text = MUTATIONS[what](LOGS[name], draw)
    # Where the lines of one tool are cut off, those of another that stand beside them may be read.
    good = set[tuple[object, ...]]().union(
        *(values(log) for log in (whole(LOGS[name]), *map(alone, lines(LOGS[name]))))
    )
    log = read(text, name)
    if isinstance(log, str):
        assert re.search(r"line \d+", log), (name, what, log)
        return
    assert all(1 <= one.line <= text.count("\n") + 1 for one in log.refused), (name, what)
    assert values(log) <= good, (name, what, seed, values(log) - good)


@pytest.mark.parametrize("seed", range(60))
def test_a_mutated_log_is_read_rightly_or_refused_with_a_line(seed: int) -> None:
    mutated(seed)


@pytest.mark.long
def test_five_hundred_mutated_logs_are_read_rightly_or_refused_with_a_line() -> None:
    for seed in range(500):
        mutated(1000 + seed)


def test_colours_and_prefixes_change_nothing() -> None:
    for name, text in LOGS.items():
        for mutation in (coloured, prefixed):
            assert values(log_of(mutation(text, random.Random(1)), name)) == values(log_of(text, name)), name
