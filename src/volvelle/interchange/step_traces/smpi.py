"""Time-independent traces that SimGrid's SMPI replays, and the platform they run on.

A rank is one thread of control: what it does is written in the order in which the replay begins it. Type 6 is bytes.
The latency of a route is what its two links add up to.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from volvelle.interchange.simgrid.engine import SETTINGS as PLAIN
from volvelle.interchange.step_traces.messages import Wires, check_count, hops
from volvelle.interchange.step_traces.stage_program import Kind, Node, StageProgram
from volvelle.interchange.step_traces.written import WrittenTrace

SPEED = 1e9
"""FLOP/s of every host: a nanosecond of computing is one."""
EAGER = 2**31 - 1
"""Bytes up to which a send does not wait for its receive, and that a message has at most."""
SETTINGS = (*PLAIN, f"smpi/async-small-thresh:{EAGER}", f"smpi/send-is-detached-thresh:{EAGER}")
_BYTES = 6
_WIDE = 10**18
"""Bytes a second of a link that slows nobody."""


def write_smpi(programs: Sequence[StageProgram], wires: Wires, folder: Path, *, overlapped: float) -> WrittenTrace:
    """A trace a rank, their list, the platform, the hosts, and the command that replays them."""
    check_count(programs, wires)
    routes: dict[tuple[int, int], float] = {}
    ranks = [rank for program in programs for rank in program.ranks]
    lines = 0
    for program in programs:
        order = sorted(program.nodes, key=lambda node: (node.start, node.kind is not Kind.SEND, node.number))
        for rank in program.ranks:
            said = list(_actions(program, rank, order, wires, routes))
            lines += len(said)
            (folder / f"rank{rank}.txt").write_text("\n".join(said) + "\n", "utf-8")
    names = "".join(f"rank{rank}.txt\n" for rank in ranks)
    (folder / "traces.txt").write_text(names, "utf-8")
    (folder / "hosts.txt").write_text("".join(f"h{rank}\n" for rank in ranks), "utf-8")
    (folder / "platform.xml").write_text(_platform(ranks, routes, wires), "utf-8")
    command = " ".join(
        [
            f"smpirun -np {len(ranks)} -platform platform.xml -hostfile hosts.txt",
            *(f"--cfg={setting}" for setting in SETTINGS),
            "-replay traces.txt",
        ]
    )
    (folder / "replay.sh").write_text(f'#!/bin/sh\nset -e\ncd "$(dirname "$0")"\n{command}\n', "utf-8")
    unsaid = ["groups: collectives are messages along dimensions, their fixed costs waits before them"]
    if overlapped > 0.0:
        unsaid.append(
            f"streams: a rank does one thing at a time, so {overlapped:.1%} of the step, which runs beside other work, "
            "runs one after another (--no-overlap has none)"
        )
    if wires.faster > 0.0:
        unsaid.append(
            f"networks that add up and dimensions in a pipeline: laws are {wires.faster / len(ranks):.3g} s a rank "
            "below what the messages take"
        )
    return WrittenTrace(folder=str(folder), files=len(ranks) + 4, ranks=len(ranks), nodes=lines, unsaid=tuple(unsaid))


def _actions(
    program: StageProgram, rank: int, order: Sequence[Node], wires: Wires, routes: dict[tuple[int, int], float]
) -> Iterator[str]:
    yield f"{rank} init"
    sent: list[tuple[int, int]] = []
    tags = {node.number: place for place, node in enumerate(order)}
    for node in order:
        if node.kind is Kind.COMPUTE:
            yield f"{rank} compute {node.seconds * SPEED:.9g}"
        elif node.kind is Kind.COLLECTIVE and node.group is not None:
            members = node.group.members(rank)
            place = members.index(rank)
            ways = hops(node, place, wires)
            waited = wires.wait(node, ways)
            if waited > 0.0:
                yield f"{rank} compute {waited * SPEED:.9g}"
            tag = 2 * tags[node.number]
            for hop in ways:
                to, source = members[place + hop.to], members[place + hop.source]
                routes.setdefault((rank, to), 0.0)
                yield f"{rank} isend {to} {tag} {round(hop.size)} {_BYTES}"
                yield f"{rank} recv {source} {tag} {round(hop.size)} {_BYTES}"
                yield f"{rank} wait {rank} {to} {tag}"
        elif node.kind is Kind.SEND:
            to = program.peer(rank, node)
            routes[rank, to] = wires.longer(node, rank, to)
            sent.append((to, 2 * node.tag + 1))
            yield f"{rank} isend {to} {2 * node.tag + 1} {round(node.size)} {_BYTES}"
        else:
            source = program.peer(rank, node)
            yield f"{rank} recv {source} {2 * node.tag + 1} {round(node.size)} {_BYTES}"
    for to, tag in sent:
        yield f"{rank} wait {rank} {to} {tag}"
    yield f"{rank} finalize"


def _platform(ranks: Sequence[int], routes: dict[tuple[int, int], float], wires: Wires) -> str:
    """Every host has a link out and one in for each dimension; a message takes those of where the two meet.

    What a message between stages takes beyond that is the latency of a link that all may use at once.
    """
    lines = [
        "<?xml version='1.0'?>",
        '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">',
        '<platform version="4.1">',
        '  <zone id="machine" routing="Full">',
    ]
    lines += [f'    <host id="h{rank}" speed="{SPEED:.0f}f"/>' for rank in ranks]
    used = {(rank, wires.tier(*pair)) for pair in routes for rank in pair}
    for rank, tier in sorted(used):
        for way in ("out", "in"):
            lines.append(
                f'    <link id="h{rank}-{tier}-{way}" bandwidth="{wires.rates[tier]:.17g}Bps" '
                f'latency="{wires.latencies[tier] / 2.0:.17g}s"/>'
            )
    longer = {seconds: place for place, seconds in enumerate(sorted(set(routes.values()) - {0.0}))}
    for seconds, place in longer.items():
        lines.append(
            f'    <link id="fixed-{place}" bandwidth="{_WIDE}Bps" latency="{seconds:.17g}s" sharing_policy="FATPIPE"/>'
        )
    for (one, other), seconds in sorted(routes.items()):
        tier = wires.tier(one, other)
        fixed = f'<link_ctn id="fixed-{longer[seconds]}"/>' if seconds > 0.0 else ""
        lines.append(
            f'    <route src="h{one}" dst="h{other}" symmetrical="NO"><link_ctn id="h{one}-{tier}-out"/>'
            f'<link_ctn id="h{other}-{tier}-in"/>{fixed}</route>'
        )
    return "\n".join([*lines, "  </zone>", "</platform>", ""])
