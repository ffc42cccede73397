"""A layout as a command to copy, and what its letters mean."""

import shlex
from collections.abc import Sequence

from volvelle.mapping.axes import AXES, DATA
from volvelle.mapping.parallelism import CHOICES, ParallelMapping


def layout_flags(mapping: ParallelMapping) -> list[str]:
    """Options of ``volvelle estimate`` that give this layout: what is not the default, and the replicas."""
    told = ((choice, getattr(mapping, choice.name)) for choice in CHOICES)
    return [
        word
        for choice, value in told
        if value != choice.default or choice.name == DATA.name
        for word in choice.typed(value)
    ]


def estimate_command(asked: Sequence[str], mapping: ParallelMapping) -> str:
    """The question about one layout, as it is typed; `asked` are the words before the layout."""
    return shlex.join(["volvelle", "estimate", *asked, *layout_flags(mapping)])


def layout_facts(mapping: ParallelMapping) -> tuple[tuple[str, str, str, str], ...]:
    """Every field of a layout: its name, what it has, its option, and what that says."""
    facts = []
    for choice in CHOICES:
        value = getattr(mapping, choice.name)
        shown = value.word if choice.words else {True: "yes", False: "no"}[value] if choice.kind is bool else str(value)
        flag = f"--{choice.listed} {choice.listed_word}" if choice.listed else choice.flag
        facts.append((choice.name.replace("_", " "), shown, flag, choice.says.rstrip(".")))
    return tuple(facts)


def legend_of_letters() -> str:
    """What ``tp8 pp8 mb1 zero1`` means."""
    axes = ", ".join(f"{axis.word} {axis.name}" for axis in AXES)
    return (
        f"Degrees of parallelism: {axes}; mb: sequences in a micro-batch; zero: stage of ZeRO, what replicas share of "
        "optimiser state (1), gradients (2) and weights (3); sp: sequence parallelism."
    )
