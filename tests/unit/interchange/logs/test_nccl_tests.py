"""Sweeps of the corpus, written as nccl-tests writes them, are read back bit for bit."""

import csv
import io
import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache

import pytest

from volvelle.applications.measured_table import shipped_table
from volvelle.applications.table_cells import table_text
from volvelle.interchange.logs.logged import Log
from volvelle.interchange.logs.nccl_rows import PROGRAMS
from volvelle.interchange.logs.readers import log_of
from volvelle.laws.collectives import bus_rate

Rows = Sequence[tuple[int, float]]
_PROGRAM = {operation: program for program, operation in PROGRAMS.items()}
_PASSES = {"all_reduce": 2.0, "all_gather": 1.0, "reduce_scatter": 1.0, "all_to_all": 1.0}


def printed(value: float, width: int) -> str:
    """As util.cu of nccl-tests has it."""
    for places in (2, 1, 0):
        text = f"{value:{width}.{places}f}"
        if len(text) <= width:
            return text
    return f"{value:{width}.{1 if width >= 7 else 0}e}"


def held(time: float) -> bool:
    """Whether the tool's text holds all digits that a source states."""
    return float(printed(time, 7)) == time


def rates(operation: str, ranks: int, size: int, time: float) -> tuple[float, float]:
    rate = size / time / 1e3
    return rate, 1e-3 * float(bus_rate(size, ranks, time, passes=_PASSES[operation])) if operation in _PASSES else rate


def count(operation: str, ranks: int, size: int) -> int:
    return size // 4 if operation in ("all_reduce", "broadcast") else size // 4 // ranks


def as_text(operation: str, ranks: int, rows: Rows) -> str:
    lines = [f"# Collective test starting: {_PROGRAM[operation]}_perf"]
    lines += [
        f"#  Rank {rank:2d} Group  0 Pid {100 + rank:6d} on {f'node{rank // 8}':>10s} device  0 [0x07] A Chip"
        for rank in range(ranks)
    ]
    for size, time in rows:
        rate, bus = rates(operation, ranks, size, time)
        side = f"  {printed(time, 7)}  {printed(rate, 6)}  {printed(bus, 6)}  {0.0:6g}"
        lines.append(
            f"{size:12d}  {count(operation, ranks, size):12d}  {'float':>8s}  {'sum':>6s}  {-1:>6d}{side}{side}"
        )
    return "\n".join([*lines, "# Out of bounds values : 0 OK", "# Avg bus bandwidth    : 66.2058", "#", ""])


def as_json(operation: str, ranks: int, rows: Rows) -> str:
    devices = [{"rank": rank, "hostname": f"node{rank // 8}", "device_info": "A Chip"} for rank in range(ranks)]
    results = []
    for size, time in rows:
        rate, bus = rates(operation, ranks, size, time)
        side = {"time": time, "alg_bw": rate, "bus_bw": bus, "nwrong": 0.0}
        written = {"size": size, "count": count(operation, ranks, size), "type": "float", "redop": "sum"}
        results.append({**written, "root": "    -1", "out_of_place": side, "in_place": side})
    config = {"nthreads": 1, "ngpus": 1, "devices": devices}
    return json.dumps(
        {"version": 3, "args": [f"/opt/{_PROGRAM[operation]}_perf"], "config": config, "results": results}
    )


def as_csv(operation: str, ranks: int, rows: Rows) -> str:
    lines = ["numCycle,collective,nodes,ranks,ranksPerNode,gpusPerRank,size,type,redop,inplace,time,algbw,busbw,#wrong"]
    for size, time in rows:
        rate, bus = rates(operation, ranks, size, time)
        name = operation.title().replace("_", "")
        lines += [
            f"0,{name},{-(-ranks // 8)},{ranks},8,1,{size},float,sum,{side},{time!r},{rate},{bus},0" for side in (0, 1)
        ]
    return "\n".join([*lines, ""])


@cache
def sweeps() -> dict[tuple[str, str, int], list[tuple[int, float]]]:
    """Those that state times; where a source printed rates alone, times are derived and have other digits."""
    found = defaultdict[tuple[str, str, int], list[tuple[int, float]]](list)
    for row in csv.DictReader(io.StringIO(table_text(shipped_table("collectives")))):
        ours = "nccl-tests" in row["library"] or "rccl-tests" in row["library"]
        size = float(row["size_bytes"] or 0)
        if ours and row["op"] in _PROGRAM and row["time_from"] == "time" and size >= 4 * int(row["chips"]):
            found[row["group"], row["op"], int(row["chips"])].append((int(size), float(row["time_us"])))
    return dict(found)


@pytest.mark.parametrize("write", [as_text, as_json, as_csv])
def test_sweeps_of_the_corpus_are_read_back_bit_for_bit(write: Callable[[str, int, Rows], str]) -> None:
    kept = {whose: [row for row in rows if held(row[1]) or write is not as_text] for whose, rows in sweeps().items()}
    assert sum(map(len, kept.values())) > 150
    for (_, operation, ranks), rows in kept.items():
        if not rows:
            continue
        log: Log = log_of(write(operation, ranks, rows), "sweep")
        assert log.refused == ()
        for in_place in (False, True):
            back = [row for row in log.collectives if row.in_place == in_place]
            assert [(row.size, row.seconds) for row in back] == [(size, time / 1e6) for size, time in rows]
            assert {(row.operation, row.ranks) for row in back} == {(operation, ranks)}


def test_several_tests_in_one_file_keep_their_own_ranks_and_collectives() -> None:
    rows = [(2**26, 1000.0), (2**28, 4000.0)]
    log = log_of(as_text("all_reduce", 8, rows) + as_text("all_gather", 16, rows), "both")
    assert {(row.operation, row.ranks, row.nodes) for row in log.collectives} == {
        ("all_reduce", 8, 1),
        ("all_gather", 16, 2),
    }
