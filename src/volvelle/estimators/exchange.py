"""Data that change hands between all members of a group, each straight to the one that needs it."""

from collections.abc import Sequence
from dataclasses import replace

from volvelle.estimators.rates import SustainedRates
from volvelle.laws.nested_collectives import Tier, nested_all_to_all_time
from volvelle.quantities import Bytes, Count, Number, Seconds


def exchange_time(
    size: Bytes, machine: SustainedRates, *, group: Count, stride: Count, pipelined: bool = False
) -> Seconds:
    """Time of an all-to-all in which each member sends `size` bytes in all, its own share included.

    Of what leaves a chip, an inner dimension carries only what is meant for chips below the same switch; the rest goes
    out. Dimensions are used one after the other, or at once with `pipelined`.
    """
    return nested_all_to_all_time(size, _direct(machine.tiers(group, stride)), pipelined=pipelined)


def _direct(tiers: Sequence[Tier]) -> list[Tier]:
    found: list[Tier] = []
    beyond: Number = 1.0
    for tier in reversed(tiers):
        found.append(replace(tier, crossing=1.0 / beyond))
        beyond = beyond * tier.chips
    return found[::-1]
