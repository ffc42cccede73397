"""Writes a replayed step for another simulator, in the format that is asked for."""

from pathlib import Path

import numpy as np

from volvelle.errors import DescriptionError, OutsideDomainError
from volvelle.estimators.event_driven.estimator import ReplayedStep
from volvelle.interchange.step_traces.astra_sim import write_astra_sim
from volvelle.interchange.step_traces.chakra import write_chakra
from volvelle.interchange.step_traces.messages import Wires
from volvelle.interchange.step_traces.smpi import write_smpi
from volvelle.interchange.step_traces.stage_program import Kind, StageProgram, stage_programs
from volvelle.interchange.step_traces.written import WrittenTrace

MOST_NODES = 2_000_000
"""That are written, of all ranks together: some ten seconds, 200 MB."""
FORMATS = ("chakra", "astra-sim", "smpi")


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
        if form == "astra-sim":
            return write_astra_sim(stage_programs(replayed), basis.machine, folder)
        programs, wires = list(stage_programs(replayed)), Wires.of(basis.machine)
        return write_smpi(programs, wires, folder, overlapped=overlapped(programs, replayed.time))
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


def overlapped(programs: list[StageProgram], time: float) -> float:
    """Seconds a rank works on two things at once, over those of the step; of the stage that does so most."""
    most = 0.0
    for program in programs:
        busy = [node for node in program.nodes if node.kind in (Kind.COMPUTE, Kind.COLLECTIVE)]
        starts = np.array([node.start for node in busy])
        ends = starts + np.array([node.seconds for node in busy])
        order = np.argsort(starts, kind="stable")
        reached = np.maximum.accumulate(np.concatenate([[0.0], ends[order]]))
        covered = float(np.maximum(ends[order] - np.maximum(starts[order], reached[:-1]), 0.0).sum())
        most = max(most, float((ends - starts).sum()) - covered)
    return most / time if most > 1e-9 * time else 0.0
