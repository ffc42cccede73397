"""A step's layers as a file for other tools: CSV, or the text that ASTRA-sim's first generation reads.

The text names the policy, how many layers there are, and for each layer: name, a reserved number, then computing time
in nanoseconds, collective and bytes of the forward pass, of input gradients and of weight gradients, and the update's.
Its policies know model-parallel groups and replicas; what they cannot say is refused, and CSV has it.
"""

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest
from pathlib import Path

from volvelle.errors import MappingError
from volvelle.estimators.training.layer_phases import (
    FORWARD,
    WEIGHT_GRADIENT,
    LayerExchange,
    LayerPhase,
)
from volvelle.mapping.axes import DATA, TAKING, TENSOR
from volvelle.mapping.parallelism import ParallelMapping
from volvelle.workload.tensor_layout import Collective

COLUMNS = (
    "block",
    "repeats",
    "micro_batches",
    "operation",
    "phase",
    "flops",
    "bytes",
    "seconds",
    "collective",
    "axis",
    "volume_bytes",
    "collective_seconds",
    "exposed_seconds",
    "per_step",
)
_NANO = 1e9
_NOTHING = "NONE"
_WORDS = {
    Collective.ALL_REDUCE.value: "ALLREDUCE",
    Collective.ALL_GATHER.value: "ALLGATHER",
    Collective.REDUCE_SCATTER.value: "REDUCESCATTER",
    Collective.ALL_TO_ALL.value: "ALLTOALL",
}


def write_layer_workload(rows: Sequence[LayerPhase], mapping: ParallelMapping, file: Path) -> None:
    """Write the layers of a step: as text where the file ends in .txt, else as CSV."""
    if file.suffix == ".txt":
        file.write_text(astra_sim_text(rows, mapping), "utf-8")
        return
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(_cells(rows))


def _cells(rows: Iterable[LayerPhase]) -> Iterator[tuple[object, ...]]:
    """One line an operation and phase; further collectives of it have lines of their own, without computing."""
    for row in rows:
        head = (row.block, row.layers, row.micro_batches, row.layer, row.phase)
        computed: tuple[object, ...] = (row.flops, row.bytes, row.time)
        for one in row.exchanges or (None,):
            said = ("", "", 0.0, 0.0, 0.0, "")
            yield (*head, *computed, *(said if one is None else _said(one)))
            computed = (0.0, 0.0, 0.0)


def _said(one: LayerExchange) -> tuple[object, ...]:
    return one.collective, one.axis, one.bytes, one.time, one.exposed, one.per_step


# -- ASTRA-sim -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Sent:
    """A collective as the text has it."""

    word: str = _NOTHING
    size: int = 0


def astra_sim_text(rows: Sequence[LayerPhase], mapping: ParallelMapping) -> str:
    """The text; one pass of it is one step, all micro-batches of a layer together."""
    unknown = [axis for axis in TAKING if axis not in (TENSOR, DATA) and getattr(mapping, axis.name) > 1]
    others = [f"{axis.name} {getattr(mapping, axis.name)}" for axis in unknown]
    others += [f"expert {mapping.expert}"] if mapping.expert > 1 else []
    others += ["ZeRO-3, which gathers weights in the forward pass"] if mapping.zero == 3 and mapping.data > 1 else []
    if others:
        raise MappingError(
            f"ASTRA-sim's text knows model-parallel groups and replicas alone, and the layout has {', '.join(others)}; "
            "leave that away, or write a .csv"
        )
    split = mapping.tensor > 1
    policy = f"HYBRID_TRANSFORMER model_parallel_NPU_group: {mapping.tensor}" if split else "DATA"
    lines = list(_lines(rows, mapping))
    return "\n".join([policy, str(len(lines)), *lines]) + "\n"


def _lines(rows: Sequence[LayerPhase], mapping: ParallelMapping) -> Iterator[str]:
    """Layers in the order in which they run forward, each repetition of a block by itself."""
    for block, own in groupby(rows, key=lambda row: row.block):
        of_layers = [(layer, list(group)) for layer, group in groupby(own, key=lambda row: row.layer)]
        for number in range(round(of_layers[0][1][0].layers)):
            for layer, phases in of_layers:
                yield from _layer(f"{block}{number}.{layer}".replace(" ", "_"), phases, mapping)


def _layer(name: str, phases: Sequence[LayerPhase], mapping: ParallelMapping) -> Iterator[str]:
    """A layer, and lines without computing for further collectives of it."""
    computing = [0.0, 0.0, 0.0]
    sent: list[list[_Sent]] = [[], [], []]
    for row in phases:
        # What is recomputed delays input gradients; collectives of replicas are the only ones of weight gradients.
        place = {FORWARD: 0, WEIGHT_GRADIENT: 2}.get(row.phase, 1)
        computing[place] += row.micro_batches * row.time
        for one in row.exchanges:
            of_replicas = one.axis == DATA.name
            sent[2 if of_replicas else min(place, 1)].append(_sent(one, row, mapping))
    for number, several in enumerate(zip_longest(*[one or [_Sent()] for one in sent], fillvalue=_Sent())):
        fields = [name if not number else f"{name}.{number}", "-1"]
        for time, said in zip(computing, several, strict=True):
            fields += [str(round(_NANO * time) if not number else 0), said.word, str(said.size)]
        yield "\t".join([*fields, "0"])


def _sent(one: LayerExchange, row: LayerPhase, mapping: ParallelMapping) -> _Sent:
    """Bytes of a step: of all micro-batches; a gather's are those that each chip brings."""
    size = one.bytes * (1.0 if one.per_step else row.micro_batches)
    if one.axis == DATA.name:  # gradients scattered and weights gathered are an all-reduce in two halves
        return _Sent(_WORDS[Collective.ALL_REDUCE.value], round(size))
    if one.collective == Collective.ALL_GATHER.value:
        size = size / mapping.tensor
    return _Sent(_WORDS[one.collective], round(size))
