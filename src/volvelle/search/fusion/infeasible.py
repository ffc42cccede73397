"""Reasons why no fusion fits a chip."""

from math import inf

from volvelle.estimators.dataflow.partition_time import PartitionTimes
from volvelle.estimators.result import Violation
from volvelle.quantities import BYTES, show


def reasons(times_of: PartitionTimes) -> tuple[Violation, ...]:
    """What stands in the way: kernels too large alone, pins that overflow together, too few partitions, DRAM."""
    alone = [times_of.time_of([number]).violations for number in range(len(times_of.names))]
    found = [violation for violations in alone for violation in violations]
    if found:
        return tuple(found)
    together: dict[int, list[int]] = {}
    for number, kernel in enumerate(times_of.kernels):
        if kernel.pinned is not None:
            together.setdefault(kernel.pinned, []).append(number)
    for slot, members in sorted(together.items()):
        found += [
            Violation(
                name="pins",
                problem=f"pinned to slot {slot}: {violation.problem}",
                cures=(),
            )
            for violation in times_of.time_of(members).violations
        ]
    if found:
        return tuple(found)
    choices, chip = times_of.problem.choices, times_of.problem.chip
    if together:
        found.append(
            Violation(
                name="pins",
                problem="each slot's pinned kernels fit, but the kernels that must run between them do not",
                cures=(),
            )
        )
    if choices.partitions is not None:
        needs = sum(times_of.weights) / chip.sram
        found.append(
            Violation(
                name="partitions",
                problem=f"no fusion of at most {choices.partitions} partitions fits; weights alone fill the SRAM "
                f"{needs:.3g} times",
                cures=(),
            )
        )
    if times_of.dram_limit < inf:
        found.append(
            Violation(
                name="dram",
                problem=f"what lives between partitions overflows the DRAM of {show(chip.dram_capacity, BYTES)} "
                f"({show(times_of.dram(0.0), BYTES)} of it weights and what is resident)",
                cures=(),
            )
        )
    return tuple(found)
