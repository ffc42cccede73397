"""A replayed step as time-independent traces that SMPI runs on a platform of the same links.

A rank is one thread of control: what it does is written in the order in which the replay begins it. Type 6 is bytes.
The latency of a route is what its two links add up to.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.smpi import BYTE, FLOP_RATE, computing, early_sends, platform_of
from tests.smpi.messages import Wires, exchanged
from volvelle.estimators.event_driven.estimator import ReplayedStep
from volvelle.interchange.simgrid.engine import SETTINGS as PLAIN
from volvelle.interchange.step_traces.stage_program import Kind, Node, StageProgram, stage_programs

EAGER = 2**31 - 1
"""Bytes up to which a send does not wait for its receive, and that a message has at most."""
SETTINGS = (*PLAIN, *early_sends(EAGER))
_WIDE = 10**18
"""Bytes a second of a link that slows nobody."""


def write_step(replayed: ReplayedStep, folder: Path) -> None:
    """Write a trace for each rank, their list, the platform, the hosts, and the command that replays them."""
    basis = replayed.closed.basis
    assert basis is not None, "a replay keeps it"
    programs, wires = list(stage_programs(replayed)), Wires.of(basis.machine)
    routes: dict[tuple[int, int], float] = {}
    ranks = [rank for program in programs for rank in program.ranks]
    for program in programs:
        order = sorted(program.nodes, key=lambda node: (node.start, node.kind is not Kind.SEND, node.number))
        for rank in program.ranks:
            lines = _actions(program, rank, order, wires, routes)
            (folder / f"rank{rank}.txt").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    (folder / "traces.txt").write_text("".join(f"rank{rank}.txt\n" for rank in ranks), "utf-8")
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


def _actions(
    program: StageProgram, rank: int, order: Sequence[Node], wires: Wires, routes: dict[tuple[int, int], float]
) -> Iterator[str]:
    yield f"{rank} init"
    sent: list[tuple[int, int]] = []
    tags = {node.number: place for place, node in enumerate(order)}
    for node in order:
        if node.kind is Kind.COMPUTE:
            yield computing(rank, node.seconds)
        elif node.kind is Kind.COLLECTIVE and node.group is not None:
            messages = exchanged(node, rank, wires)
            if messages.wait > 0.0:
                yield computing(rank, messages.wait)
            tag = 2 * tags[node.number]
            for to, source, size in messages.sent:
                routes.setdefault((rank, to), 0.0)
                yield f"{rank} isend {to} {tag} {size} {BYTE}"
                yield f"{rank} recv {source} {tag} {size} {BYTE}"
                yield f"{rank} wait {rank} {to} {tag}"
        elif node.kind is Kind.SEND:
            to = program.peer(rank, node)
            routes[rank, to] = max(wires.longer(node, rank, to), 0.0)
            sent.append((to, 2 * node.tag + 1))
            yield f"{rank} isend {to} {2 * node.tag + 1} {round(node.size)} {BYTE}"
        else:
            source = program.peer(rank, node)
            yield f"{rank} recv {source} {2 * node.tag + 1} {round(node.size)} {BYTE}"
    for to, tag in sent:
        yield f"{rank} wait {rank} {to} {tag}"
    yield f"{rank} finalize"


def _platform(ranks: Sequence[int], routes: dict[tuple[int, int], float], wires: Wires) -> str:
    """Every host has a link out and one in for each dimension; a message takes those of where the two meet.

    What a message between stages takes beyond that is the latency of a link that all may use at once.
    """
    lines = ['  <zone id="machine" routing="Full">']
    lines += [f'    <host id="h{rank}" speed="{FLOP_RATE:.0f}f"/>' for rank in ranks]
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
    return platform_of([*lines, "  </zone>"])
