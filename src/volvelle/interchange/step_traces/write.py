"""Writes a replayed step for another simulator, in the format that is asked for."""

from pathlib import Path

import numpy as np

from volvelle.errors import DescriptionError, OutsideDomainError
from volvelle.estimators.event_driven.estimator import ReplayedStep
from volvelle.interchange.step_traces.astra_sim import write_astra_sim
from volvelle.interchange.step_traces.chakra import write_chakra
from volvelle.interchange.step_traces.stage_program import stage_programs
from volvelle.interchange.step_traces.written import WrittenTrace

MOST_NODES = 2_000_000
"""That are written, of all ranks together: some ten seconds, 200 MB."""
FORMATS = ("chakra", "astra-sim")


def write_step_trace(
    replayed: ReplayedStep, folder: Path, *, form: str = "chakra", every_rank: bool = False
) -> WrittenTrace:
    """Into a folder, which is made; one that has something in it is refused."""
    if form not in FORMATS:
        raise DescriptionError(f"a step is not written as {form!r}; choose one of {', '.join(FORMATS)}")
    _check_count(replayed, every_rank=every_rank or form != "chakra")
    basis = replayed.closed.basis
    assert basis is not None, "a replay keeps it"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise DescriptionError(
                f"{str(folder)!r} has files in it, which a trace would be mixed with; name a new folder"
            )
        if form == "chakra":
            return write_chakra(stage_programs(replayed), folder, every_rank=every_rank)
        return write_astra_sim(stage_programs(replayed), basis.machine, folder)
    except OSError as error:
        raise DescriptionError(
            f"{str(folder)!r} cannot be written: {error.strerror}; name a folder elsewhere"
        ) from None


def _check_count(replayed: ReplayedStep, *, every_rank: bool) -> None:
    """Refuse what would be too long, before it is made."""
    each = replayed.mapping.chips // replayed.mapping.pipeline if every_rank else 1
    nodes = int(np.count_nonzero(replayed.step.graph.durations)) * each
    if nodes > MOST_NODES:
        less = "take fewer ranks, layers or micro-batches" + (", or leave --every-rank" if every_rank else "")
        raise OutsideDomainError(f"a trace of {nodes:,} nodes is not written, {MOST_NODES:,} are the most; {less}")
