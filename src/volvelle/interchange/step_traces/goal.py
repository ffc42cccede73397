"""GOAL, the graphs of messages that LogGOPSim runs: sends, receives and computations, and what each requires.

Times are whole numbers; here they are picoseconds.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from volvelle.interchange.step_traces.messages import Wires, exchanged, unsaid_as_messages
from volvelle.interchange.step_traces.stage_program import Kind, StageProgram
from volvelle.interchange.step_traces.written import WrittenTrace

PICO = 1e12


def write_goal(programs: Sequence[StageProgram], wires: Wires, folder: Path) -> WrittenTrace:
    """One file of all ranks: step.goal."""
    unsaid = unsaid_as_messages(programs, wires)
    ranks = sum(len(program.ranks) for program in programs)
    count = 0
    with (folder / "step.goal").open("w", encoding="utf-8") as out:
        out.write(f"num_ranks {ranks}\n")
        for program in programs:
            for rank in program.ranks:
                out.write(f"\nrank {rank} {{\n")
                for line in _lines(program, rank, wires):
                    out.write(f"{line}\n")
                    count += " requires " not in line
                out.write("}\n")
    links = (
        f"links: GOAL has none; give LogGOPSim L = {max(wires.latencies) * PICO:.0f} ps, "
        f"G = {PICO / min(wires.rates):.6g} ps/B of the slowest dimension"
    )
    return WrittenTrace(folder=str(folder), files=1, ranks=ranks, nodes=count, unsaid=(*unsaid, links))


def _lines(program: StageProgram, rank: int, wires: Wires) -> Iterator[str]:
    made: dict[int, tuple[int, ...]] = {}
    """Node → labels after which it has ended."""
    count = 0

    def add(action: str, after: Sequence[int]) -> tuple[list[str], int]:
        nonlocal count
        count += 1
        return [f"l{count}: {action}", *(f"l{count} requires l{before}" for before in after)], count

    for node in program.nodes:
        after = tuple(dict.fromkeys(label for before in node.after for label in made[before]))
        if node.kind is Kind.COMPUTE:
            lines, label = add(f"calc {round(node.seconds * PICO)}", after)
            yield from lines
            made[node.number] = (label,)
        elif node.kind is Kind.COLLECTIVE and node.group is not None:
            messages = exchanged(node, rank, wires)
            if messages.wait > 0.0:
                lines, label = add(f"calc {round(messages.wait * PICO)}", after)
                yield from lines
                after = (label,)
            tag = 2 * node.number
            for to, source, size in messages.sent:
                lines, sent = add(f"send {size}b to {to} tag {tag}", after)
                yield from lines
                lines, taken = add(f"recv {size}b from {source} tag {tag}", after)
                yield from lines
                after = (sent, taken)
            made[node.number] = after
        else:
            other, tag = program.peer(rank, node), 2 * node.tag + 1
            # There are no links: fixed costs of a message count as bytes.
            fixed = max(wires.longer(node, rank, other), 0.0)
            size = round(node.size + fixed * wires.rates[wires.tier(rank, other)])
            word = f"send {size}b to" if node.kind is Kind.SEND else f"recv {size}b from"
            lines, label = add(f"{word} {other} tag {tag}", after)
            yield from lines
            made[node.number] = (label,)
