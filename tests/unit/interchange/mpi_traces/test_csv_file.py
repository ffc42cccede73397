"""A CSV of MPI events says what ranks did, or which of its lines makes no sense."""

import gzip
import random
import resource
import time
from pathlib import Path

import numpy as np
import pytest

from volvelle.errors import VolvelleError
from volvelle.interchange.mpi_traces import csv_file
from volvelle.interchange.mpi_traces.csv_file import read_events, write_events
from volvelle.workload.message_passing.calls import Call
from volvelle.workload.message_passing.trace import matched

HEAD = "rank,call,partner,bytes,tag,group,request,start,end,compute\n"
PING = (
    "# ranks: 2\n"
    "# not recorded: Iprobe 3\n" + HEAD + "0,MPI_Isend,1,100,5,world,1,0.5,0.6,0.4\n"
    "1,recv,0,120,5,,,0,1.5,\n"
    "0,wait,,,,,1,0.7,0.8,\n"
    "0,Allreduce,,8,,world,,1,2,0.1\n"
    "1,allreduce,,8,,world,,1.75,2,\n"
)


def read(folder: Path, text: str) -> csv_file.MessageTrace:
    file = folder / "trace.csv"
    file.write_text(text, "utf-8")
    return read_events(file)


def test_rows_become_events_of_ranks_in_program_order(tmp_path: Path) -> None:
    trace = read(tmp_path, PING)
    assert trace.ranks == 2
    assert [Call(call) for call in trace.call] == [Call.ISEND, Call.WAIT, Call.ALLREDUCE, Call.RECV, Call.ALLREDUCE]
    assert trace.waited.tolist() == [-1, 0, -1, -1, -1]
    assert trace.left_out == {"Iprobe": 3}


def test_computation_is_what_is_told_or_the_time_between_calls(tmp_path: Path) -> None:
    assert read(tmp_path, PING).compute == pytest.approx([0.4, 0.1, 0.1, 0.0, 0.25])


def test_sends_meet_receives_and_a_receive_with_more_room_is_counted(tmp_path: Path) -> None:
    pairs = matched(read(tmp_path, PING))
    assert pairs.peer.tolist() == [3, -1, -1, 0, -1]
    assert (pairs.instances, pairs.larger) == (1, 1)


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    trace = read(tmp_path, PING)
    for name in ("again.csv", "again.csv.gz"):
        write_events(trace, tmp_path / name)
        again = read_events(tmp_path / name)
        for column in ("rank", "call", "partner", "size", "tag", "group", "waited"):
            assert np.array_equal(getattr(again, column), getattr(trace, column)), column
        assert again.compute == pytest.approx(trace.compute)
        assert again.left_out == trace.left_out


def test_groups_of_fewer_ranks_are_named_above_the_columns(tmp_path: Path) -> None:
    text = (
        "# ranks: 3\n# group low: 0 1\n"
        + HEAD
        + "0,barrier,,,,low,,0,1,\n1,barrier,,,,low,,0,1,\n2,barrier,,,,own,,0,1,\n"
    )
    with pytest.raises(VolvelleError, match="'own' and does not say who is in it; add a line '# group own: 0 1 2'"):
        read(tmp_path, text)
    trace = read(tmp_path, text.replace("2,barrier,,,,own,,0,1,\n", ""))
    assert [group.members for group in trace.groups] == [(0, 1, 2), (0, 1)]
    with pytest.raises(VolvelleError, match=r"line 5: barrier of rank 2 on low: it or its partner is not in group"):
        read(tmp_path, text.replace("1,barrier", "2,barrier").replace("2,barrier,,,,own,,0,1,\n", ""))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("0,MPI_Isend", "-1,MPI_Isend", r"line 4: rank is '-1'; write a whole number from 0 to"),
        ("MPI_Isend", "MPI_Put", r"line 4: the call 'MPI_Put' is not known; leave it out and say"),
        ("MPI_Isend", "Sendrecv", r"line 4: the call 'Sendrecv' is not known; write isend, irecv and a wait for each"),
        ("0,MPI_Isend,1", "0,MPI_Isend,7", r"line 4: there is no rank 7; there are 2, from 0"),
        ("1,100,5", "1,nan,5", r"line 4: bytes is 'nan'; write a whole number from 0 to"),
        ("1,100,5", "1,1e300,5", r"line 4: bytes is '1e300'; write a whole number"),
        ("1,100,5", f"1,{10**30},5", r"line 4: bytes is '10{30}'; write a whole number"),
        ("1,100,5", "1,-4,5", r"line 4: bytes is '-4'; write a whole number"),
        ("0.5,0.6", "0.5,nan", r"line 4: end is 'nan'; write a number from 0 to"),
        ("0.5,0.6", "0.5,inf", r"line 4: end is 'inf'; write a number"),
        ("0.5,0.6", "0.5,0.4", r"line 4: the call ends at 0.4 s and starts at 0.5 s; mend its times"),
        ("1,0.7,0.8", "1,0.1,0.8", r"line 6: rank 0 starts it at 0.1 s, before its row above ended"),
        ("world,1,0.5", "world,,0.5", r"line 4: request of isend is ''; write a whole number"),
        (",,,,,1,0.7", ",,,,,9,0.7", r"line 6: rank 0 waits for request 9, which is not open; post it above"),
        ("0,wait,,,,,1,0.7,0.8,\n", "", r"line 4: request 1 of rank 0 is never waited for; add its row"),
        ("1,recv,0,120", "1,recv,0,10", "has room for 10 bytes and 100 are sent"),
        ("1,recv,0,120,5", "1,recv,0,120,6", r"is never received; add the receive"),
        ("1,recv,0,120,5,,,0,1.5,\n", "", r"line 4: isend of rank 0 to 1, tag 5 is never received"),
        ("1,allreduce,,8", "1,allreduce,,16", r"has bytes 16, and rank 0 has 8 \(line 7\) in the same collective"),
        ("1,allreduce,,8", "1,barrier,,8", r"has call barrier, and rank 0 has allreduce"),
        ("1,allreduce,,8,,world,,1.75,2,\n", "", r"its collective number 1 there, and rank 1 has 0: every member"),
        ("rank,call", "rang,call", r"line 3: columns are .*, without rank; name them rank,call,partner"),
        ("# ranks: 2", "# ranks: 0", r"line 1: ranks is '0'; write a whole number from 1 to"),
        (",0.1\n", ",0.1,9\n", r"line 7: it has 11 cells, and there are 10 columns"),
        (PING, "", "is empty; give a row for every call"),
        (PING, HEAD, "has no events; give a row for every call"),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_line_and_a_cure(tmp_path: Path, old: str, new: str, said: str) -> None:
    with pytest.raises(VolvelleError, match=said):
        matched(read(tmp_path, PING.replace(old, new, 1)))


def test_a_receive_without_a_send_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        VolvelleError, match=r"line 2: recv of rank 1 from 0, tag 5 waits for a message that nobody sends"
    ):
        matched(read(tmp_path, HEAD + "1,recv,0,8,5,,,0,1,\n0,barrier,,,,,,0,1,\n1,barrier,,,,,,1,1,\n"))


def test_a_file_that_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_file, "LARGEST", 2**20)
    (tmp_path / "bomb.csv.gz").write_bytes(gzip.compress(b"0" * 2**22))
    with pytest.raises(VolvelleError, match="holds more than 1 MiB; take a part of the run"):
        read_events(tmp_path / "bomb.csv.gz")
    (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(PING.encode())[:-12])
    with pytest.raises(VolvelleError, match=r"cannot be unpacked: .*; compress it again"):
        read_events(tmp_path / "cut.csv.gz")


def test_files_spoilt_by_chance_are_read_or_refused_soon_and_never_crash(tmp_path: Path) -> None:
    chance = random.Random(16)
    began, refused = time.monotonic(), 0
    file = tmp_path / "spoilt.csv"
    words = [
        "nan",
        "-1",
        "1e999",
        "9" * 25,
        "",
        '"',
        ",,,",
        "\0",
        "é",
        "0x10",
        "world",
        "wait",
        "irecv",
        "# ranks: 1\n",
    ]
    for _ in range(400):
        text = list(PING)
        for _ in range(chance.randint(1, 4)):
            place = chance.randrange(len(text))
            match chance.randrange(3):
                case 0:
                    text[place] = chance.choice(words)
                case 1:
                    del text[place : place + chance.randint(1, 20)]
                case _:
                    del text[place:]
            text = text or [""]
        file.write_text("".join(text), "utf-8")
        try:
            matched(read_events(file))
        except VolvelleError as error:
            refused += 1
            assert "spoilt.csv" in str(error)  # noqa: PT017 - many are read in a loop
            assert ";" in str(error)  # noqa: PT017
    assert refused > 200
    assert time.monotonic() - began < 10.0
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 2**21
