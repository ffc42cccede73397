"""Chakra traces of several ranks as one: what a rank receives waits for who sends it, by source, target and tag.

Of ranks that a folder does not hold, messages are taken as there when they are asked for; those are counted.
"""

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

from volvelle.errors import DescriptionError
from volvelle.interchange.traces.chakra import ChakraNode, chakra_nodes, chakra_trace
from volvelle.interchange.traces.trace_file import MOST_OPERATIONS, read_whole
from volvelle.workload.trace.values import Trace

_SEND, _RECEIVE = 5, 6
_STREAM = "volvelle_stream"


def read_chakra_folder(folder: Path) -> Trace:
    """All `.et` files of a folder, a rank each, numbered as their names end."""
    files = sorted((_rank(file), file) for file in folder.glob("*.et"))
    if not files:
        raise DescriptionError(f"{str(folder)!r} has no .et files; give a folder of Chakra traces, a file a rank")
    if len({rank for rank, _ in files}) < len(files):
        raise DescriptionError(f"{str(folder)!r} has two files for one rank; names end in the rank, like step.0.et")
    nodes: list[ChakraNode] = []
    version = ""
    for rank, file in files:
        own, version = chakra_nodes(read_whole(file), file)
        if len(nodes) + len(own) > MOST_OPERATIONS:
            raise DescriptionError(
                f"{str(folder)!r} has more than {MOST_OPERATIONS:,} nodes; give fewer ranks, or record fewer steps"
            )
        nodes += _renumbered(own, rank, len(nodes), file)
    missing = _linked(nodes)
    found = chakra_trace(nodes, files[0][1], f"Chakra {version}, {len(files)} ranks")
    if missing:
        words = "messages from ranks that are not in the folder, taken as there at once"
        found = replace(found, left_out={**found.left_out, words: missing})
    return found


def _rank(file: Path) -> int:
    told = re.search(r"(\d+)\.et$", file.name)
    if told is None:
        raise DescriptionError(f"{str(file)!r} does not end in a rank; name it like step.0.et")
    return int(told[1])


def _renumbered(nodes: list[ChakraNode], rank: int, first: int, file: Path) -> list[ChakraNode]:
    """With numbers and streams that no other rank has."""
    numbers = {node.number: first + place for place, node in enumerate(nodes)}
    if len(numbers) < len(nodes):
        twice = next(number for number, count in Counter(node.number for node in nodes).items() if count > 1)
        raise DescriptionError(f"{str(file)!r} has node {twice} twice; write it again with numbers of their own")
    for node in nodes:
        for before in (*node.control, *node.data):
            if before not in numbers:
                raise DescriptionError(
                    f"{str(file)!r}: node {node.number} waits for node {before}, which is not there; write it again"
                )
        stream = node.attributes.get(_STREAM, node.attributes.get("stream", node.attributes.get("tid")))
        if stream is None:
            stream = "communication" if node.kind >= _SEND else "compute"
        node.number = numbers[node.number]
        node.control = [numbers[before] for before in node.control]
        node.data = [numbers[before] for before in node.data]
        node.attributes[_STREAM] = f"{stream} of rank {rank}"
    return nodes


def _linked(nodes: list[ChakraNode]) -> int:
    """Receives wait for their sends, first for first of those with the same ends and tag; how many have none."""
    sends: dict[tuple[object, ...], list[ChakraNode]] = {}
    for node in nodes:
        if node.kind == _SEND:
            sends.setdefault(_ends(node), []).append(node)
    missing = 0
    for node in nodes:
        if node.kind == _RECEIVE:
            there = sends.get(_ends(node))
            if there:
                node.data.append(there.pop(0).number)
            else:
                missing += 1
    return missing


def _ends(node: ChakraNode) -> tuple[object, ...]:
    return tuple(node.attributes.get(name) for name in ("comm_src", "comm_dst", "comm_tag"))
