"""Phases of a run, each with its step time: as stated, as estimated for a layout, or of the fastest layout."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from volvelle.applications.goodput.run_plan import RunPhase
from volvelle.base.python_function import ask
from volvelle.domains import TOKENS
from volvelle.economics.training_run import run_tokens
from volvelle.errors import DescriptionError, MappingError
from volvelle.interchange.layout_words import read_layout_words
from volvelle.interchange.phases_file import PhaseForm, read_phases_form
from volvelle.quantities import SECONDS, show
from volvelle.questions.estimate import EstimateQuestion
from volvelle.questions.job import JobQuestion, Phases
from volvelle.questions.plan import PlanQuestion
from volvelle.system.cluster import Cluster
from volvelle.verbs.estimate import Answer, estimate
from volvelle.verbs.job.answer import TimedPhase
from volvelle.verbs.named import NO_BATCH, catalogue_of, forward_pass
from volvelle.verbs.plan import plan


def read_phases(phases: Phases | None, tokens: str | float | None) -> tuple[PhaseForm, ...]:
    """Return phases as stated, or one phase of all tokens."""
    if (phases is None) == (tokens is None):
        raise DescriptionError("give --tokens of the whole run, or --phases with tokens of each; one of the two")
    if phases is None:
        return (PhaseForm(tokens=TOKENS.read(tokens, "tokens")),)
    return read_phases_form(Path(phases) if isinstance(phases, str) else phases)


def timed_phases(
    question: JobQuestion, cluster: Cluster, phases: Sequence[PhaseForm]
) -> tuple[tuple[TimedPhase, ...], tuple[str, ...]]:
    """Return all phases with their step times, and notes about them."""
    given = question.si("step")
    found, notes = [], list(cluster.notes_on_power)
    for place, phase in enumerate(phases, start=1):
        stated = {name: getattr(phase, name) for name in ("batch", "sequence", "element") if getattr(phase, name)}
        asked = question.changed(**stated)
        if phase.layout:
            if given is not None and phase.step is None:
                raise DescriptionError(
                    f"phase {place} states a layout, {phase.layout!r}, and a step of {show(given, SECONDS)} is given "
                    "for all; state the step in the phase, or leave one of the two out"
                )
            words = read_layout_words(phase.layout)
            left = sorted(set(question.layout) - set(words))
            if left:
                notes.append(f"phase {place} has its own layout: {', '.join(left)} as asked is of the others alone")
            asked = asked.with_layout(**words)
        run, timed, said = _timed(asked, cluster, phase.tokens, phase.step if phase.step is not None else given)
        name = phase.name or (f"phase {place}" if len(phases) > 1 else "")
        mapping, basis = (None, None) if timed is None else (timed.estimate.mapping, timed.basis)
        found.append(TimedPhase(name=name, run=run, mapping=mapping, basis=basis))
        notes += [f"{name}: {note}" if name else note for note in said]
    return tuple(found), tuple(notes)


def _timed(
    question: JobQuestion, cluster: Cluster, tokens: float, step: float | None
) -> tuple[RunPhase, Answer | None, list[str]]:
    """Return one phase, the estimate of its step (None if its time was given), and notes."""
    if question.batch is None:
        raise DescriptionError(NO_BATCH)
    _, forward, length_notes = forward_pass(question.model, catalogue_of(question.catalogue), question.sequence)
    per_step = float(question.batch * int(forward.sizes.get("position", 1)))
    tokens = run_tokens(tokens, per_step)
    if step is not None:
        return RunPhase(tokens=tokens, tokens_per_step=per_step, step=step), None, list(length_notes)
    notes: list[str] = []
    asked = question.as_question(EstimateQuestion, tokens=None, seed=0, anyway=True)
    if not question.layout and question.mapping is None:
        planned = question.as_question(PlanQuestion, tokens=None)
        found = ask(plan, planned.changed(top=1, anyway=True))
        if not found.layouts:
            raise MappingError(f"no layout of {forward.name} runs on {cluster.name}; {planned.command} says why")
        asked = asked.changed(mapping=found.layouts[0].mapping)
        notes.append("no layout given: the fastest of volvelle plan")
    answer = ask(estimate, asked)
    notes += answer.notes
    if answer.speed is None:
        raise MappingError(f"there is no such layout: {answer.estimate.violations[0].problem}")
    if not answer.estimate.feasible:
        notes.append("the layout does not fit in memory; volvelle estimate says by how much")
    doubt = 1.0 if answer.samples is None else float(np.exp(np.std(np.log(answer.samples))))
    timed = answer.estimate
    phase = RunPhase(tokens=tokens, tokens_per_step=float(timed.tokens), step=float(timed.time), doubt=doubt)
    return phase, answer, notes
