"""Rows of nccl-tests and rccl-tests: what each must satisfy before it is believed, whichever form it was written in.

The rate printed must be the size over the time, and the bus rate that of the collective among so many ranks. A mean
over sizes, as the footer has it, is no measurement and is never read.
"""

from dataclasses import dataclass

from volvelle.interchange.logs.lines import RefusedError, count, number
from volvelle.interchange.logs.logged import LoggedCollective
from volvelle.laws.collectives import bus_rate

ELEMENTS = {
    "int8": 1,
    "uint8": 1,
    "char": 1,
    "fp8_e4m3": 1,
    "fp8_e5m2": 1,
    "f8e4m3": 1,
    "f8e5m2": 1,
    "half": 2,
    "bfloat16": 2,
    "int32": 4,
    "uint32": 4,
    "int": 4,
    "float": 4,
    "int64": 8,
    "uint64": 8,
    "double": 8,
}
"""What the tools call element types → bytes."""
PROGRAMS = {
    "all_reduce": "all_reduce",
    "all_gather": "all_gather",
    "reduce_scatter": "reduce_scatter",
    "alltoall": "all_to_all",
    "broadcast": "broadcast",
    "reduce": "reduce",
    "sendrecv": "send_recv",
}
"""Programs → collectives; others are refused."""
_PASSES = {"all_reduce": 2.0, "all_gather": 1.0, "reduce_scatter": 1.0, "all_to_all": 1.0}
"""How often the data must cross; of those not named the bus rate is the rate."""
_EVEN = 0.02
_WRONG = 1e-2
"""Largest difference that an old version may print as its error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What the lines before a row say."""

    operation: str | None = None
    ranks: int | None = None
    nodes: int | None = None
    device: str = ""
    counts_errors: bool = True
    """Whether the last column counts wrong values; old versions print the largest difference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """One side of a row, as text."""

    size: str
    count: str = ""
    element: str = ""
    reduction: str = ""
    time: str
    rate: str
    bus: str
    wrong: str = "N/A"
    in_place: bool = False


def _unsure(text: str, value: float) -> float:
    """What the digits of a printed number leave open, relative."""
    digits, _, power = text.lower().partition("e")
    places = len(digits.partition(".")[2])
    return 0.51 * 10.0 ** (-places) * 10.0 ** int(power or 0) / value if value > 0.0 else 1.0


def believed(line: int, row: Timed, setting: Setting) -> LoggedCollective:
    """The row as a measurement, if all that it says agrees."""
    size = count(row.size, "the size")
    took = number(row.time, "the time")
    rate, bus = number(row.rate, "algbw", above=-1e-9), number(row.bus, "busbw", above=-1e-9)
    if row.wrong not in ("N/A", "n/a", "-1", ""):
        wrong = number(row.wrong, "#wrong", above=-1e-9)
        if wrong > (0.0 if setting.counts_errors else _WRONG):
            raise RefusedError(f"{row.wrong} values came out wrong")
    expected = size / took * 1e-3  # bytes a microsecond in GB/s
    operation, ranks = _collective(row, setting, size, rate, bus)
    even = _EVEN + _unsure(row.time, took)
    # Until 2020 the program had the bus rate of a gather and a scatter in the first column too.
    former = _PASSES.get(operation) == 1.0 and ranks is not None and abs(rate - bus) < 0.006
    factor = (ranks - 1.0) / ranks if former and ranks else 1.0
    if not any(_agree(rate, expected * by, row.rate, even) for by in {1.0, factor}):
        raise RefusedError(f"{size} bytes in {row.time} us are {expected:.4g} GB/s, and {row.rate} is printed as algbw")
    if ranks is not None:
        should = expected
        if operation in _PASSES:
            should = 1e-3 * float(bus_rate(size, ranks, took, passes=_PASSES[operation]))
        if not _agree(bus, should, row.bus, even):
            raise RefusedError(
                f"busbw of a {operation} among {ranks} ranks would be {should:.4g} GB/s, and {row.bus} is printed"
            )
    return LoggedCollective(
        line=line,
        operation=operation,
        size=size,
        seconds=took / 1e6,
        ranks=ranks,
        nodes=setting.nodes,
        device=setting.device,
        element=row.element,
        in_place=row.in_place,
        bus_rate=1e9 * bus,
    )


def _agree(printed: float, expected: float, text: str, even: float) -> bool:
    return abs(printed - expected) <= even * expected + _unsure(text, 1.0)


def _collective(row: Timed, setting: Setting, size: int, rate: float, bus: float) -> tuple[str, int | None]:
    """Which collective, among how many: as said, or as rates and counts tell."""
    told = _ranks_by_count(row, size)
    operation, ranks = setting.operation, setting.ranks
    if operation is None:
        if row.reduction not in ("", "none") and told in (None, 1) and bus > 1.02 * rate:
            operation = "all_reduce"
        elif row.reduction not in ("", "none") and told is not None and told > 1:
            operation = "reduce_scatter"
        else:
            raise RefusedError(
                "which collective it is cannot be told; keep the line with the program's name (all_reduce_perf …)"
            )
    if operation not in PROGRAMS.values():
        raise RefusedError(f"no law times {operation}; {', '.join(sorted(PROGRAMS))} are read")
    if ranks is None and operation in ("all_gather", "reduce_scatter", "all_to_all"):
        ranks = told
    if ranks is None and operation == "all_reduce" and rate > 1.0 and bus < 1.99 * rate:
        share = bus / rate
        ranks = round(2.0 / (2.0 - share))
        if ranks < 2 or abs(2.0 * (ranks - 1.0) / ranks - share) > 0.01:
            raise RefusedError(f"busbw over algbw is {share:.4g}, that of an all-reduce among no number of ranks")
    return operation, ranks


def _ranks_by_count(row: Timed, size: int) -> int | None:
    """Of a gather or a scatter the count is a rank's own, and the size the whole."""
    each = ELEMENTS.get(row.element)
    if each is None or not row.count.isdigit() or not int(row.count):
        return None
    whole = size / (int(row.count) * each)
    return round(whole) if abs(whole - round(whole)) < 1e-9 else None
