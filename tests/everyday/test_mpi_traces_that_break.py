"""Recorded MPI traces, spoilt by chance: read, replayed and made larger, or refused with a cure; never a crash."""

import gzip
import random
import time
from collections.abc import Callable
from pathlib import Path

from tests.conftest import ROOT
from volvelle.catalogue import Catalogue
from volvelle.errors import VolvelleError
from volvelle.estimators.message_passing.retimed import retimed
from volvelle.interchange.mpi_traces.csv_file import read_events
from volvelle.workload.message_passing.calls import Call
from volvelle.workload.message_passing.scaling.extrapolation import extrapolation_of
from volvelle.workload.message_passing.summary import summary_of

TRACES = ROOT / "examples" / "mpi" / "traces"
RECORDED = TRACES / "conjugate_gradient-4.csv.gz"
HEAD = 2
NUMBERS = ("nan", "-1", "1e308", "inf", "", "99999", "1048575", "3", "abc", "9" * 30, "0")


def lose(rows: list[str], place: int, chance: random.Random) -> None:
    del rows[place]


def cut(rows: list[str], place: int, chance: random.Random) -> None:
    del rows[place:]


def swap(rows: list[str], place: int, chance: random.Random) -> None:
    other = chance.randrange(HEAD, len(rows))
    rows[place], rows[other] = rows[other], rows[place]


def repeat(rows: list[str], place: int, chance: random.Random) -> None:
    rows.insert(place, rows[chance.randrange(HEAD, len(rows))])


def cell(rows: list[str], place: int, chance: random.Random) -> None:
    cells = rows[place].split(",")
    cells[chance.randrange(len(cells))] = chance.choice(NUMBERS)
    rows[place] = ",".join(cells)


def call(rows: list[str], place: int, chance: random.Random) -> None:
    cells = rows[place].split(",")
    cells[1:3] = chance.choice(list(Call)).word, str(chance.randrange(5))
    rows[place] = ",".join(cells)


WAYS: tuple[Callable[[list[str], int, random.Random], None], ...] = (lose, cut, swap, repeat, cell, call)


def untimed(row: str) -> str:
    """Without times, so that rows in another order are not refused for them."""
    cells = row.split(",")
    return ",".join([*cells[:7], "0", "0", *cells[9:]]) if len(cells) == 10 and cells[0] != "rank" else row


def test_traces_spoilt_by_chance_are_answered_or_refused(tmp_path: Path) -> None:
    chance, file = random.Random(16), tmp_path / "spoilt.csv"
    whole = [untimed(row) for row in gzip.decompress(RECORDED.read_bytes()).decode().splitlines()]
    larger = read_events(TRACES / "conjugate_gradient-8.csv.gz")
    cluster = Catalogue().cluster("dgx-h100/8")
    answered = refused = 0
    for _ in range(80):
        rows = list(whole)
        for _ in range(chance.randint(1, 3)):
            chance.choice(WAYS)(rows, chance.randrange(HEAD, len(rows)) if len(rows) > HEAD + 1 else HEAD, chance)
            if len(rows) <= HEAD + 1:
                break
        file.write_text("\n".join(rows) + "\n", "utf-8")
        began = time.monotonic()
        try:
            trace = read_events(file)
            summary_of(trace)
            retimed(trace, cluster, contended=False)
            extrapolation_of([trace, larger]).trace(16)
            answered += 1
        except VolvelleError as error:
            refused += 1
            said = str(error)
            assert "spoilt.csv" in said or "ranks" in said or "calls follow each other" in said
            assert ";" in said
        assert time.monotonic() - began < 10.0
    assert answered > 0
    assert refused > 40
