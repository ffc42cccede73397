"""Traces for SimGrid's SMPI, an engine that others wrote, which tests compare replays with."""

from collections.abc import Iterable

FLOP_RATE = 1e9
"""Of every host: a nanosecond of computing is one operation."""
BYTE = 6
"""The type of messages; 1 would be whole numbers of four bytes."""


def computing(rank: int, seconds: float) -> str:
    """The line of a rank that computes."""
    return f"{rank} compute {seconds * FLOP_RATE!r}"


def early_sends(size: int) -> tuple[str, ...]:
    """Settings by which messages below `size` bytes leave before they are asked for."""
    return (f"smpi/async-small-thresh:{size}", f"smpi/send-is-detached-thresh:{size}")


def platform_of(lines: Iterable[str]) -> str:
    """A platform file around what it is made of."""
    head = (
        "<?xml version='1.0'?>",
        '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">',
        '<platform version="4.1">',
    )
    return "\n".join([*head, *lines, "</platform>", ""])
