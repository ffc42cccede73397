"""Rows of MPI events that are read together say what they say when each is read by itself."""

import random
from pathlib import Path

import numpy as np
import pytest

from volvelle.errors import VolvelleError
from volvelle.interchange.mpi_traces import csv_file
from volvelle.interchange.mpi_traces.csv_file import read_events
from volvelle.interchange.mpi_traces.event_columns import event_columns

HEAD = "rank,call,partner,bytes,tag,group,request,start,end,compute"
COLUMNS = HEAD.split(",")


def steps(count: int, number: str = "{:.9f}") -> list[str]:
    """Rows of two ranks that send to each other and then reduce."""
    rows = []
    for step in range(count):
        begin, end = (number.format(step * 1e-3 + later) for later in (1e-4, 2e-4))
        for rank in range(2):
            rows += [
                f"{rank},irecv,{1 - rank},4096,{step % 3},world,{2 * step},{begin},{begin},",
                f"{rank},MPI_Isend,{1 - rank},4096,{step % 3},,{2 * step + 1},{begin},{begin},{number.format(1e-5)}",
                f"{rank},wait,,,,,{2 * step},{begin},{end},0",
                f"{rank},wait,,,,,{2 * step + 1},{end},{end},",
                f"{rank},bcast,0,8,,low,,{end},{end},",
            ]
    return rows


def spoilt(rows: list[str], chance: random.Random) -> list[str]:
    """One cell of the rows as it might be instead."""
    found = list(rows)
    place = chance.randrange(len(found))
    cells = found[place].split(",")
    words = ("nan", "-1", " 3 ", "1_0", "+7", "1e-4", "9" * 20, '"0"', "", ".", "5.", "é", "0x1", "wait", "low", "1.5")
    cells[chance.randrange(len(cells))] = chance.choice(words)
    found[place] = ",".join(cells)
    return found


def answer(file: Path, rows: list[str]) -> str | list[list[float]]:
    """All columns of what is read, or why it is refused."""
    file.write_text("\n".join(["# ranks: 2", "# group low: 0 1", HEAD, *rows]) + "\n", "utf-8")
    try:
        trace = read_events(file)
    except VolvelleError as error:
        return str(error)
    names = ("rank", "call", "partner", "size", "tag", "group", "waited", "line", "start", "end", "compute")
    return [getattr(trace, name).tolist() for name in names]


@pytest.mark.parametrize("number", ["{:.9f}", "{:.3e}", "{!r}"])
def test_rows_say_the_same_together_and_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: str
) -> None:
    chance, file, refused = random.Random(16), tmp_path / "trace.csv", 0
    whole = steps(4, number)
    texts = [whole, *(spoilt(whole, chance) for _ in range(150))]
    monkeypatch.setattr(csv_file, "_AT_ONCE", 700)
    together = [answer(file, text) for text in texts]
    monkeypatch.setattr(csv_file, "event_columns", lambda *_: None)
    for text, found in zip(texts, together, strict=True):
        refused += isinstance(found, str)
        assert found == answer(file, text), text
    assert 0 < refused < len(texts)


def test_rows_in_quotes_and_between_remarks_are_read_together_too(tmp_path: Path) -> None:
    plain = steps(3)
    quoted = [",".join(f'"{cell}"' for cell in row.split(",")) for row in plain]
    assert event_columns("\n".join(quoted), COLUMNS, len) is not None
    remarked = [line for row in plain for line in (row, "# a remark", "")]
    found, told = answer(tmp_path / "plain.csv", plain), answer(tmp_path / "quoted.csv", quoted)
    between = answer(tmp_path / "remarked.csv", remarked)
    assert found == told
    assert not isinstance(between, str)
    assert [*between[:7], *between[8:]] == [*found[:7], *found[8:]]


def test_decimals_are_the_numbers_that_python_reads() -> None:
    chance = random.Random(16)
    times = [f"{chance.uniform(0.0, 10.0 ** chance.randint(-6, 5)):.9f}" for _ in range(2000)]
    found = event_columns("\n".join(f"0,barrier,,0,,,,{time},{time},{time}" for time in times), COLUMNS, len)
    assert found is not None
    assert np.array_equal(found.start, [float(time) for time in times])
    assert np.array_equal(found.compute, found.end)


def test_a_bad_row_is_named_by_its_line_wherever_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_file, "_AT_ONCE", 500)
    rows = steps(40)
    for place in (0, 1, 57, 200, 399):
        bad = [*rows[:place], "0,put,1,8,,,,9,9,", *rows[place:]]
        said = answer(tmp_path / "trace.csv", bad)
        assert isinstance(said, str)
        assert f"line {place + 4}: the call 'put' is not known" in said


def test_a_quoted_cell_with_commas_does_not_stand_for_those_that_a_row_lacks() -> None:
    columns = ["rank", "call", "partner", "bytes", "start", "end"]
    assert event_columns('0,bcast,"1,8",0,1', columns, lambda _: 0) is None
    assert event_columns("0,bcast,1,8,0,1", columns, lambda _: 0) is not None
