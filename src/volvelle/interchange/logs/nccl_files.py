"""nccl-tests and rccl-tests as they write files: JSON (``-J``, or RCCL's reporter) and CSV."""

import csv
import json
import re
from collections.abc import Iterable, Mapping

from volvelle.interchange.logs.lines import Line, RefusedError
from volvelle.interchange.logs.logged import LoggedCollective, Refused
from volvelle.interchange.logs.nccl_rows import PROGRAMS, Setting, Timed, believed

_PROGRAM = re.compile(r"(?<![a-z_])([a-z_]+)_perf(?:_mpi)?(?:\.exe)?$")
_COLUMNS = {"size", "time", "algbw", "busbw"}
_UNNAMED = "nodes"
"""A column that rccl-tests wrote before `ranks` where it was built with MPI, and left out of the header until 2026."""


def is_csv_header(text: str) -> bool:
    """Whether a line names the columns of such a file."""
    return {_plain(cell) for cell in text.split(",")} >= _COLUMNS


def _plain(name: str) -> str:
    return re.sub(r"\(.*?\)|[\s_#]", "", name.strip().strip('"')).lower()


def read_nccl_csv(lines: Iterable[Line]) -> tuple[tuple[LoggedCollective, ...], list[Refused]]:
    """All rows; columns are read by their names, in any order."""
    found: list[LoggedCollective] = []
    refused: list[Refused] = []
    header: list[str] = []
    named = ""
    for line in lines:
        cells = next(csv.reader([line.text]), [])
        if is_csv_header(line.text):
            header = [_plain(cell) for cell in cells]
        elif header and cells and cells[0].strip().lstrip("-").isdigit():
            names = _with_unnamed(header) if len(cells) == len(header) + 1 else header
            if len(cells) != len(names):
                refused.append(Refused(line.number, f"{len(cells)} columns, and the header has {len(header)}"))
                continue
            row = dict(zip(names, map(str.strip, cells), strict=True))
            _take(line.number, {"collective": named, **row}, found, refused)
        elif header and line.text.strip(" ,"):
            refused.append(Refused(line.number, "no row of numbers"))
        else:
            program = _PROGRAM.search(line.text.strip())
            named = program[1] if program else named
    return tuple(found), refused


def _with_unnamed(header: list[str]) -> list[str]:
    """The header with the column that it lacks, where it is one that does."""
    if "rankspernode" not in header or "ranks" not in header or _UNNAMED in header:
        return header
    place = header.index("ranks")
    return [*header[:place], _UNNAMED, *header[place:]]


def _take(line: int, row: Mapping[str, str], found: list[LoggedCollective], refused: list[Refused]) -> None:
    name = _operation(row.get("collective") or row.get("name", ""))
    ranks = next((int(row[key]) for key in ("gpus", "nranks") if row.get(key, "").isdigit()), None)
    if ranks is None and row.get("ranks", "").isdigit():
        ranks = int(row["ranks"]) * (int(row["gpusperrank"]) if row.get("gpusperrank", "").isdigit() else 1)
    nodes = int(row["nodes"]) if row.get("nodes", "").isdigit() else None
    try:
        found.append(
            believed(
                line,
                Timed(
                    size=row["size"],
                    count=row.get("count", ""),
                    element=row.get("type", ""),
                    reduction=row.get("redop", ""),
                    time=row["time"],
                    rate=row["algbw"],
                    bus=row["busbw"],
                    wrong=row.get("wrong", "N/A"),
                    in_place=row.get("inplace", "0").lower() in ("1", "true"),
                ),
                Setting(operation=name, ranks=ranks, nodes=nodes),
            )
        )
    except RefusedError as why:
        refused.append(Refused(line, str(why)))


def _operation(text: str) -> str | None:
    plain = text.strip().lower().replace("_perf", "").replace("-", "_")
    spelled = {name.replace("_", ""): value for name, value in PROGRAMS.items()}
    return spelled.get(plain.replace("_", ""))


def is_json_row(text: str) -> bool:
    """Whether a line is a result of its own, as RCCL's reporter writes them."""
    return text.lstrip().startswith("{") and '"busBw"' in text


def read_nccl_json_rows(lines: Iterable[Line]) -> tuple[tuple[LoggedCollective, ...], list[Refused]]:
    """All results of a file that has one a line."""
    found: list[LoggedCollective] = []
    refused: list[Refused] = []
    for line in lines:
        if not line.text.strip():
            continue
        try:
            row = json.loads(line.text, parse_float=str, parse_int=str)
        except (ValueError, RecursionError) as error:
            refused.append(Refused(line.number, f"cut, or no JSON ({error})"))
            continue
        _take_json(line.number, row, "it", found, refused)
    return tuple(found), refused


def _take_json(line: int, row: object, called: str, found: list[LoggedCollective], refused: list[Refused]) -> None:
    if not isinstance(row, dict):
        refused.append(Refused(line, f"{called} is no table"))
        return
    plain = {_plain(str(key)): str(value) for key, value in row.items()}
    if plain.keys() >= _COLUMNS:
        _take(line, plain, found, refused)
    else:
        refused.append(Refused(line, f"{called} has no size, time and rates"))


def is_json(found: object) -> bool:
    """Whether values of a JSON file are such results."""
    if isinstance(found, dict):
        return isinstance(found.get("results"), list)
    return isinstance(found, list) and bool(found) and isinstance(found[0], dict) and "busBw" in found[0]


def read_nccl_json(text: str) -> tuple[tuple[LoggedCollective, ...], list[Refused]]:
    """All results; lines are those of the file where it is written one result a line, else 1."""
    whole = json.loads(text, parse_float=str, parse_int=str)
    found: list[LoggedCollective] = []
    refused: list[Refused] = []
    if isinstance(whole, list):
        for place, row in enumerate(whole, start=1):
            _take_json(1, row, f"result {place}", found, refused)
        return tuple(found), refused
    setting = _setting(whole)
    for place, row in enumerate(whole["results"], start=1):
        for key in ("out_of_place", "in_place"):
            try:
                side = row.get(key) if isinstance(row, dict) else None
                if side is None:
                    continue
                found.append(believed(1, _timed(row, side, in_place=key == "in_place"), setting))
            except RefusedError as why:
                refused.append(Refused(1, f"result {place}, {key.replace('_', ' ')}: {why}"))
    return tuple(found), refused


def _timed(row: Mapping[str, object], side: object, *, in_place: bool) -> Timed:
    if not isinstance(side, dict) or "time" not in side:
        what = "the time is that of the host (cpu_time)" if isinstance(side, dict) and "cpu_time" in side else "no time"
        raise RefusedError(what)
    wrong = side.get("nwrong")
    return Timed(
        size=str(row.get("size")),
        count=str(row.get("count", "")),
        element=str(row.get("type", "")),
        reduction=str(row.get("redop", "")),
        time=str(side["time"]),
        rate=str(side.get("alg_bw")),
        bus=str(side.get("bus_bw")),
        wrong="N/A" if wrong is None else str(wrong),
        in_place=in_place,
    )


def _setting(whole: Mapping[str, object]) -> Setting:
    arguments = whole.get("args")
    program = _PROGRAM.search(str(arguments[0])) if isinstance(arguments, list) and arguments else None
    config = whole.get("config")
    devices = config.get("devices") if isinstance(config, dict) else None
    listed = [one for one in devices if isinstance(one, dict)] if isinstance(devices, list) else []
    # Where ranks are split into groups, each runs a test of its own, and results are those of the first.
    listed = [one for one in listed if one.get("group") == listed[0].get("group")]
    names = sorted({str(one.get("device_info", "")) for one in listed})
    # A process lists its first device alone: others of its own are counted by the setting.
    each = 1
    if isinstance(config, dict):
        for key in ("nthreads", "ngpus"):
            said = str(config.get(key, "1"))
            each *= int(said) if said.isdigit() else 1
    return Setting(
        operation=PROGRAMS.get(program[1], program[1]) if program else None,
        ranks=len(listed) * each or None,
        nodes=len({str(one.get("hostname")) for one in listed}) or None,
        device=", ".join(names),
    )
