"""Phases of a run, each with the time of its step: as given, as estimated for a layout, or of the best layout."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from volvelle.applications.goodput.run_plan import RunPhase
from volvelle.domains import STEP_TIME, TOKENS
from volvelle.economics.training_run import run_tokens
from volvelle.errors import DescriptionError, MappingError
from volvelle.interchange.layout_words import read_layout_words
from volvelle.interchange.phases_file import PhaseForm, read_phases_form
from volvelle.mapping.parallelism import CHOICES
from volvelle.quantities import SECONDS, show
from volvelle.system.cluster import Cluster
from volvelle.verbs.estimate import Answer, estimate
from volvelle.verbs.job.answer import TimedPhase
from volvelle.verbs.named import NO_BATCH, Model, catalogue_of, length_notes, model_of
from volvelle.verbs.plan import plan

Phases = Path | str | Sequence[Mapping[str, object]]
"""A file of phases, or what it would have under ``phases``."""


def read_phases(phases: Phases | None, tokens: str | float | None) -> tuple[PhaseForm, ...]:
    """Phases as stated, or the one of all tokens."""
    if (phases is None) == (tokens is None):
        raise DescriptionError("give tokens to train on in all, or phases with tokens of each; one of the two")
    if phases is None:
        return (PhaseForm(tokens=TOKENS.read(tokens, "tokens")),)
    return read_phases_form(Path(phases) if isinstance(phases, str) else phases)


def timed_phases(
    model: Model,
    *,
    cluster: Cluster,
    phases: Sequence[PhaseForm],
    step: str | float | None,
    asked: Mapping[str, Any],
    settings: Mapping[str, Any],
    choices: Mapping[str, Any],
) -> tuple[tuple[TimedPhase, ...], tuple[str, ...]]:
    """All phases, and what is to be said of them."""
    given = None if step is None else STEP_TIME.read(step, "step")
    found, notes = [], list(cluster.notes_on_power)
    for place, phase in enumerate(phases, start=1):
        own = {name: getattr(phase, name) or asked[name] for name in ("batch", "sequence", "element")}
        own = {**asked, **own}
        laid = choices
        if phase.layout:
            if given is not None and phase.step is None:
                raise DescriptionError(
                    f"phase {place} states a layout, {phase.layout!r}, and a step of {show(given, SECONDS)} is given "
                    "for all; state the step in the phase, or leave one of the two out"
                )
            words = read_layout_words(phase.layout)
            left = sorted({choice.name for choice in CHOICES} & set(choices) - set(words))
            if left:
                notes.append(f"phase {place} has its own layout: {', '.join(left)} as asked is of the others alone")
            rest = {name: value for name, value in choices.items() if name not in left}
            laid, own = {**rest, **words}, {**own, "mapping": None}
        run, timed, said = _timed(
            model,
            cluster=cluster,
            tokens=phase.tokens,
            step=phase.step if phase.step is not None else given,
            asked=own,
            settings=settings,
            choices=laid,
        )
        name = phase.name or (f"phase {place}" if len(phases) > 1 else "")
        mapping, basis = (None, None) if timed is None else (timed.estimate.mapping, timed.basis)
        found.append(TimedPhase(name=name, run=run, mapping=mapping, basis=basis))
        notes += [f"{name}: {note}" if name else note for note in said]
    return tuple(found), tuple(notes)


def _timed(
    model: Model,
    *,
    cluster: Cluster,
    tokens: float,
    step: float | None,
    asked: Mapping[str, Any],
    settings: Mapping[str, Any],
    choices: Mapping[str, Any],
) -> tuple[RunPhase, Answer | None, list[str]]:
    """One of them, and the estimate of its step; None: its time was given."""
    notes: list[str] = []
    if asked["batch"] is None:
        raise DescriptionError(NO_BATCH)
    shape = model_of(model, catalogue_of(settings["catalogue"]))
    per_step = float(asked["batch"] * (asked["sequence"] or shape.sequence))
    tokens = run_tokens(tokens, per_step)
    if step is not None:
        notes += length_notes(shape, asked["sequence"])
        return RunPhase(tokens=tokens, tokens_per_step=per_step, step=step), None, notes
    if not choices and asked["mapping"] is None:
        found = plan(
            model, top=1, anyway=True, **{name: value for name, value in asked.items() if name != "mapping"}, **settings
        )
        if not found.layouts:
            raise MappingError(
                f"no layout of {model} runs on {cluster.name}; volvelle plan {model} --on {cluster.name} says why"
            )
        asked = {**asked, "mapping": found.layouts[0].mapping}
        notes.append("no layout given: the fastest of volvelle plan")
    answer = estimate(model, anyway=True, **asked, **settings, **choices)
    notes += answer.notes
    if answer.speed is None:
        raise MappingError(f"there is no such layout: {answer.estimate.violations[0].problem}")
    if not answer.estimate.feasible:
        notes.append("the layout does not fit in memory; volvelle estimate says by how much")
    doubt = 1.0 if answer.samples is None else float(np.exp(np.std(np.log(answer.samples))))
    timed = answer.estimate
    phase = RunPhase(tokens=tokens, tokens_per_step=float(timed.tokens), step=float(timed.time), doubt=doubt)
    return phase, answer, notes
