"""What replicas and the host exchange with a stage, as seconds of each of its blocks."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from volvelle.estimators.event_driven.block_steps import one
from volvelle.estimators.event_driven.moved import Group, Moved
from volvelle.estimators.event_driven.slot_tasks import Label, gathered, reduced
from volvelle.estimators.training.copies import (
    Copies,
    copies_anything,
    copies_of,
    layers_in,
    listed_parts,
    regathers,
    runs_behind,
)
from volvelle.estimators.training.replicas import replica_sizes
from volvelle.estimators.training.stage_memory import Held
from volvelle.estimators.training.step_time import StepBasis, optimiser_time
from volvelle.laws.overlap import hidden_time, overlap_slowdown_time
from volvelle.mapping.parallelism import MappingTable
from volvelle.workload.elements import element_bytes
from volvelle.workload.tensor_layout import Collective
from volvelle.workload.training import TrainingStep


@dataclass(frozen=True, slots=True, kw_only=True)
class StageExchanges:
    """Of one stage, collectives of all its weights cut in proportion to the parameters of each block."""

    at_end: Mapping[str, Label]
    """Block → what is exchanged after its last backward of the step."""
    every: Mapping[str, Label]
    """Block → after each backward (ZeRO-2 and 3)."""
    gathered: Mapping[str, Label]
    """Block → before each forward (ZeRO-3)."""
    gathered_again: Mapping[str, Label]
    """Block → before each backward (ZeRO-3)."""
    after_optimiser: Label
    """New weights, gathered."""
    optimiser: float
    slowed: float
    """Seconds that computation loses to gradients that are reduced beside it."""
    copies: Mapping[str, Copies]
    """Block → what is copied of its weights and gradients."""


def stage_exchanges(
    counts: Mapping[str, float],
    basis: StepBasis,
    workload: TrainingStep,
    table: MappingTable,
    *,
    is_last: bool,
    stretch: float = 1.0,
) -> StageExchanges:
    """Of a stage that holds so many of each block; collectives take `stretch` times as long as the closed form says."""
    zero, machine, layers = int(table.zero[0]), basis.machine, layers_in(workload)
    at_end, every, needed, again = ({name: list[Moved]() for name in counts} for _ in range(4))
    after: list[Moved] = []
    stepped = 0.0
    copies = dict.fromkeys(counts, Copies())
    for kind in basis.kinds:
        shares, parameters = _shares(counts, kind, is_last=is_last)
        if parameters == 0.0 and kind.frozen is None:
            continue
        replicas = kind.replicas
        frozen = _all_bytes(counts, kind, workload, is_last=is_last)
        sizes = replica_sizes(parameters, workload, table, gathered_bytes=frozen)
        times = replicas.times(sizes, table)
        gradients, weights = one(sizes.gradients), one(sizes.weights)
        stepped += parameters / (one(replicas.sharing) if zero >= 1 else 1.0)
        sharing = Group(round(one(replicas.sharing)), round(one(replicas.stride)))
        between = Group(max(round(one(replicas.count)) // sharing.chips, 1), sharing.stride * sharing.chips)
        every_copy = Group(round(one(replicas.count)), sharing.stride)
        left, among = (gradients, every_copy) if zero < 1 else (gradients / sharing.chips, between)
        summed = Moved(Collective.ALL_REDUCE, left, among, stretch * one(times.summed))
        scattered = Moved(Collective.REDUCE_SCATTER, gradients, sharing, stretch * one(times.scattered))
        collected = Moved(Collective.ALL_GATHER, weights, sharing, stretch * one(times.gathered))
        near = Group(round(one(replicas.secondary)) or sharing.chips, sharing.stride)
        recollected = Moved(Collective.ALL_GATHER, weights, near, stretch * one(times.gathered_again))
        again_too = {name: one(regathers(machine, table)) * layers[name] for name in counts}
        if copies_anything(machine, workload):
            whole = (sizes, parameters, replicas.sharing, workload, table, machine)
            for name, share in shares.items():
                copies[name] = copies[name] + copies_of(*whole, again=again_too[name]).part(share)
                if kind is basis.kinds[0]:
                    copies[name] = replace(
                        copies[name], lists=listed_parts(layers[name], replicas.sharing, table, machine)
                    )
        for name, share in shares.items():
            at_end[name] += [summed.part(share), *([scattered.part(share)] if zero < 2 else [])]
            every[name] += [scattered.part(share)] if zero >= 2 else []
            needed[name] += [collected.part(share)] if zero == 3 else []
            again[name] += [recollected.part(share * (1.0 + again_too[name]))] if zero == 3 else []
        after += [collected] if zero < 3 else []
    # What hides of it is known to the closed form: behind the backward of one micro-batch, or of all.
    turns = one(basis.micro_batches)
    exchanged = sum(
        count * (_seconds(at_end[name]) + turns * sum(_seconds(moves[name]) for moves in (every, needed, again)))
        for name, count in counts.items()
    )
    window = sum(
        count * (one(basis.blocks.times[name].backward_work) - one(basis.blocks.times[name].repeated_hidden))
        for name, count in counts.items()
    )
    window *= turns if zero >= 2 else 1.0
    hidden = hidden_time(exchanged, window, overlap=one(runs_behind(machine, table)))
    return StageExchanges(
        at_end={name: reduced(moves) for name, moves in at_end.items()},
        every={name: reduced(moves) for name, moves in every.items()},
        gathered={name: gathered(moves) for name, moves in needed.items()},
        gathered_again={name: gathered(moves) for name, moves in again.items()},
        after_optimiser=gathered(after),
        optimiser=one(optimiser_time(stepped, workload, basis.machine, table)) if basis.kinds else 0.0,
        slowed=float(overlap_slowdown_time(one(hidden), share=one(basis.machine.communication_sm_share))),
        copies=copies,
    )


def _seconds(moves: Iterable[Moved]) -> float:
    return sum(moved.seconds for moved in moves)


def _shares(counts: Mapping[str, float], kind: Held, *, is_last: bool) -> tuple[dict[str, float], float]:
    """Block → its share of a stage's parameters of one kind, one repetition of it; and how many those are."""
    own = {name: one(kind.each.get(name, 0.0)) for name in counts}
    tied = one(kind.tied) if is_last else 0.0
    total = sum(counts[name] * each for name, each in own.items()) + tied
    if tied:  # of the last block that it runs
        last = next(reversed(own))
        own[last] += tied / counts[last]
    return {name: each / total if total else 0.0 for name, each in own.items()}, total


def _all_bytes(counts: Mapping[str, float], kind: Held, workload: TrainingStep, *, is_last: bool) -> float | None:
    """Bytes of a stage's weights, those that are frozen among them; None: none are."""
    if kind.frozen is None:
        return None
    each = element_bytes(workload.weight_element)
    found = sum(
        count * (one(kind.each.get(name, 0.0)) * each + one(kind.frozen.each.get(name, 0.0)))
        for name, count in counts.items()
    )
    return found + (one(kind.tied) * each + one(kind.frozen.tied) if is_last else 0.0)
