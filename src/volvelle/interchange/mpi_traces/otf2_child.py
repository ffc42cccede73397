"""Writes the MPI events of an OTF2 archive as a CSV: run by a Python that has OTF2's bindings, imports nothing of ours.

The archive's anchor file and the CSV to write are its arguments. A call's times are those of the region around it.
What is called inside one region (all completions of an MPI_Waitall) shares them: the first takes the time.
"""

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import otf2
from otf2 import events as kinds

HEAD = "rank,call,partner,bytes,tag,group,request,start,end"
_KNOWN = (
    "barrier",
    "bcast",
    "reduce",
    "allreduce",
    "gather",
    "allgather",
    "scatter",
    "alltoall",
    "reduce_scatter",
    "scan",
)
_ROOTED = ("bcast", "reduce", "gather", "scatter")


class Rank:
    """Rows of one rank, and what its region has so far."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.rows: list[list[Any]] = []
        self.inside: list[list[Any]] = []
        self.regions: list[tuple[str, float]] = []
        self.receives: dict[int, list[Any]] = {}

    def add(self, call: str, time: float, **told: Any) -> list[Any]:
        """A row; its end is that of the region around it, once that is known."""
        start = self.regions[-1][1] if self.regions else time
        row = [self.number, call, told.get("partner", ""), told.get("size", 0), told.get("tag", "")]
        row += [told.get("group", "world"), told.get("request", ""), start, time]
        self.inside.append(row)
        self.rows.append(row)
        if not self.regions:
            self.inside = []
        return row

    def leave(self, time: float) -> None:
        """A region ends."""
        if self.regions:
            self.regions.pop()
        for place, row in enumerate(self.inside):
            row[8] = time
            if place:
                row[7] = time
        self.inside = []


def main(anchor: str, file: str) -> None:
    """Read all events in the order of time."""
    left_out: Counter[str] = Counter()
    with otf2.reader.open(anchor) as trace:
        world = _world(trace.definitions)
        ranks = {location: Rank(number) for number, location in enumerate(world)}
        places = {location: number for number, location in enumerate(world)}
        groups = _Groups(places)
        resolution = float(trace.definitions.clock_properties.timer_resolution)
        offset = int(trace.definitions.clock_properties.global_offset)
        for location, event in trace.events:
            if location in ranks:
                _take(ranks[location], event, (event.time - offset) / resolution, groups, left_out)
            elif type(event).__name__.startswith("Mpi"):
                left_out[f"{type(event).__name__} of other threads"] += 1
    lines = [f"# ranks: {len(ranks)}"]
    lines += [f"# group {name}: {' '.join(map(str, members))}" for name, members in groups.named.items()]
    lines += [f"# not recorded: {name} {count}" for name, count in sorted(left_out.items())]
    lines.append(HEAD)
    for rank in ranks.values():
        for row in rank.rows:
            lines.append(",".join(map(str, row[:7])) + f",{row[7]:.9f},{row[8]:.9f}")
    Path(file).write_text("\n".join(lines) + "\n", "utf-8")


class _Groups:
    """Communicators by name; that of all ranks is the world."""

    def __init__(self, places: dict[Any, int]) -> None:
        self.places = places
        self.named: dict[str, list[int]] = {}
        self.known: dict[int, tuple[str, list[int]]] = {}

    def of(self, communicator: Any) -> tuple[str, list[int]]:
        number = communicator._ref
        if number not in self.known:
            members = [self.places[location] for location in communicator.group.members]
            name = "world" if members == list(range(len(self.places))) else f"comm{number}"
            if name != "world":
                self.named[name] = members
            self.known[number] = name, members
        return self.known[number]


def _world(definitions: Any) -> list[Any]:
    """Locations of ranks in their order."""
    for group in definitions.groups:
        if group.group_type == otf2.GroupType.COMM_LOCATIONS and group.paradigm == otf2.Paradigm.MPI:
            return list(group.members)
    raise SystemExit("the archive has no group of MPI locations; it is no trace of an MPI program")


def _take(rank: Rank, event: Any, time: float, groups: _Groups, left_out: "Counter[str]") -> None:
    kind = type(event)
    if kind is kinds.Enter:
        if event.region.name.startswith("MPI_"):
            rank.regions.append((event.region.name, time))
    elif kind is kinds.Leave:
        if event.region.name.startswith("MPI_"):
            rank.leave(time)
    elif kind in (kinds.MpiSend, kinds.MpiIsend):
        name, members = groups.of(event.communicator)
        told = {"partner": members[event.receiver], "size": event.msg_length, "tag": event.msg_tag, "group": name}
        if kind is kinds.MpiIsend:
            rank.add("isend", time, request=event.request_id, **told)
        else:
            rank.add("send", time, **told)
    elif kind is kinds.MpiIrecvRequest:
        rank.receives[event.request_id] = rank.add("irecv", time, request=event.request_id)
    elif kind in (kinds.MpiRecv, kinds.MpiIrecv):
        name, members = groups.of(event.communicator)
        if kind is kinds.MpiRecv:
            rank.add("recv", time, partner=members[event.sender], size=event.msg_length, tag=event.msg_tag, group=name)
        elif event.request_id in rank.receives:
            posted = rank.receives.pop(event.request_id)
            posted[2:6] = members[event.sender], event.msg_length, event.msg_tag, name
            rank.add("wait", time, request=event.request_id)
        else:
            left_out["MpiIrecv without a request"] += 1
    elif kind is kinds.MpiIsendComplete:
        rank.add("wait", time, request=event.request_id)
    elif kind is kinds.MpiCollectiveEnd:
        _collective(rank, event, time, groups, left_out)
    elif kind.__name__.startswith(("Mpi", "Rma")) and kind is not kinds.MpiCollectiveBegin:
        left_out[kind.__name__] += 1


def _collective(rank: Rank, event: Any, time: float, groups: _Groups, left_out: "Counter[str]") -> None:
    word = str(event.collective_op).rpartition(".")[2].lower()
    call = word if word in _KNOWN else word.removesuffix("_block").removesuffix("v").removesuffix("w")
    if call not in _KNOWN:
        left_out[word] += 1
        return
    name, members = groups.of(event.communicator)
    told: dict[str, Any] = {"group": name}
    if call in _ROOTED:
        told["partner"] = members[event.root]
    told["size"] = 0 if call == "barrier" else event.size_received if call in ("bcast", "scatter") else event.size_sent
    rank.add(call, time, **told)


if __name__ == "__main__":
    main(*sys.argv[1:3])
