"""Files that ASTRA-sim 2 reads beside a Chakra trace: network, system, memory and groups of ranks.

Its analytical network takes `bandwidth` in GiB/s, though comments in its examples say GB/s, and `latency` in
nanoseconds; a dimension is a ring, fully connected, or a switch.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from volvelle.errors import OutsideDomainError
from volvelle.estimators.rates import SustainedRates
from volvelle.interchange.step_traces.chakra import write_chakra
from volvelle.interchange.step_traces.stage_program import StageProgram
from volvelle.interchange.step_traces.written import WrittenTrace
from volvelle.mapping.placement import members
from volvelle.system.topologies import AbstractTopology, FullyConnected, Ring, Switch, Torus

_GIB = 2.0**30
_NANO = 1e9
_WORDS: dict[type[AbstractTopology], str] = {Ring: "Ring", FullyConnected: "FullyConnected", Switch: "Switch"}
_ALGORITHMS = {
    "Ring": ("ring", "ring"),
    "FullyConnected": ("direct", "direct"),
    "Switch": ("halvingDoubling", "direct"),
}
"""What its users set for each shape: of collectives that reduce or gather, and of an all-to-all."""


def write_astra_sim(programs: Iterable[StageProgram], machine: SustainedRates, folder: Path) -> WrittenTrace:
    """Traces of every rank, network.yml, system.json and memory.json."""
    held = list(programs)
    ranks = sum(len(program.ranks) for program in held)
    written = write_chakra(held, folder, every_rank=True)
    rows, unsaid = _dimensions(machine, ranks)
    lines = [f"{key}: [ {', '.join(row[at] for row in rows)} ]" for at, key in enumerate(_KEYS)]
    (folder / "network.yml").write_text("\n".join(lines) + "\n", "utf-8")
    ringed, dealt = ([_ALGORITHMS[row[0]][which] for row in rows] for which in (0, 1))
    system = {
        "scheduling-policy": "LIFO",
        "endpoint-delay": 1,
        "active-chunks-per-dimension": 1,
        "preferred-dataset-splits": 4,
        **{f"{kind}-implementation": ringed for kind in ("all-reduce", "all-gather", "reduce-scatter")},
        "all-to-all-implementation": dealt,
        "collective-optimization": "localBWAware",
        "local-mem-bw": round(float(np.max(machine.memory_rate)) / _GIB),
        "boost-mode": 0,
    }
    (folder / "system.json").write_text(json.dumps(system, indent=2) + "\n", "utf-8")
    (folder / "memory.json").write_text(json.dumps({"memory-type": "NO_MEMORY_EXPANSION"}) + "\n", "utf-8")
    return WrittenTrace(
        folder=str(folder),
        files=written.files + 3,
        ranks=ranks,
        nodes=written.nodes,
        unsaid=(
            *unsaid,
            "seconds of collectives: ASTRA-sim finds its own; launching, filling of pipelines and contention of "
            "fitted links are not in its network",
            "streams: nodes wait for each other as ours do, but a rank computes one at a time and orders collectives "
            "by its scheduling-policy",
        ),
    )


_KEYS = ("topology", "npus_count", "bandwidth", "latency")


def _dimensions(machine: SustainedRates, ranks: int) -> tuple[list[tuple[str, str, str, str]], list[str]]:
    """A row for every dimension that the ranks span, and what it does not say of the machine's."""
    rows: list[tuple[str, str, str, str]] = []
    unsaid: list[str] = []
    along = [round(float(np.max(count))) for count in members(float(ranks), 1.0, machine.spans)]
    if int(np.prod(along)) != ranks:
        raise OutsideDomainError(
            f"{ranks} ranks do not fill whole units of the machine ({along} along its dimensions), and ASTRA-sim's "
            "network has no others; take a number of ranks that does"
        )
    for level, count in zip(machine.levels, along, strict=True):
        if count == 1:
            continue
        shapes = _shapes(level.topology, count)
        word = shapes[0][0]
        if type(level.topology) not in (*_WORDS, Torus):
            name = type(level.topology).__name__
            unsaid.append(f"{level.name}: a {name} is written as a {word}, whose links are never shared")
        if level.reduces:
            unsaid.append(f"{level.name}: its switches add up, which ASTRA-sim's do not")
        rate = float(np.max(level.rate)) / len(shapes)
        latency = float(np.max(level.latency)) * _NANO
        rows += [(word, str(side), f"{rate / _GIB:.6g}", f"{latency:.6g}") for word, side in shapes]
    return rows, unsaid


def _shapes(topology: AbstractTopology, count: int) -> Sequence[tuple[str, int]]:
    if isinstance(topology, Torus) and topology.chips == count:
        return [("Ring", side) for side in topology.shape if side > 1]
    if isinstance(topology, Torus):
        return [("Ring", count)]
    return [(_WORDS.get(type(topology), "Switch"), count)]
