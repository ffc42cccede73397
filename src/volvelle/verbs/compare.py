"""Several answers side by side: systems, models, layouts, software, changes of a machine, or answers kept as JSON."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from volvelle.applications.training.evidence import RangeBasis
from volvelle.base.python_function import ask, asks, of_several
from volvelle.catalogue import Catalogue
from volvelle.catalogue.stacks import stack_entries, stack_named
from volvelle.economics.training_run import TrainingRun
from volvelle.errors import DescriptionError, UnknownNameError, brief
from volvelle.estimators.result import Range
from volvelle.estimators.training.closed_form import ClosedForm
from volvelle.interchange.layout_words import looks_like_layout, read_layout_words
from volvelle.mapping.parallelism import ParallelMapping
from volvelle.presentable import Presentable
from volvelle.questions.compare import CompareQuestion
from volvelle.questions.estimate import EstimateQuestion
from volvelle.questions.machine import read_changes
from volvelle.search.exhaustive import fastest, lightest
from volvelle.verbs.differences import Difference, Side, difference
from volvelle.verbs.estimate import Answer, estimate
from volvelle.verbs.named import catalogue_of, cluster_of, forward_pass, length_notes, model_of
from volvelle.verbs.plan import Plan, considered_space
from volvelle.verbs.question import resolved_step
from volvelle.verbs.saved import is_saved_answer, saved_answer
from volvelle.workload.graph import Workload

_NO_SPEED: dict[str, Any] = {
    **dict.fromkeys(("time", "range", "basis", "utilisation", "joules", "usd", "run", "side")),
    "parts": {},
}
"""What is not known of an alternative that cannot run."""
AS_IT_IS = "as it is"
"""The alternative without a change of the machine."""
_CHANGE = re.compile(r"[a-z_]+(\.[a-z_0-9]+)*\s*=\s*\S.*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """One of what is compared, and what it takes."""

    name: str
    what: str
    """What it is: system, model, layout, stack, change or answer."""
    model: str
    system: str
    stack: str
    feasible: bool
    layout: Mapping[str, object]
    """Every choice by the words of the command line; empty: not known."""
    time: float | None
    """Seconds a step; None: there is no such layout."""
    range: Range | None
    basis: RangeBasis | None = None
    """What the range rests on; None: it has none, or was kept without."""
    tokens: float
    """A step."""
    sequence: int
    """Tokens per sequence."""
    utilisation: float | None
    memory_bytes: float | None
    memory_capacity: float | None
    joules: float | None
    """A step."""
    usd: float | None
    """A step."""
    run: TrainingRun | None = None
    parts: Mapping[str, float]
    side: Side | None
    """What is compared; None: it cannot exist."""

    @property
    def tokens_per_second(self) -> float | None:
        """Its pace."""
        return None if self.time is None else self.tokens / self.time


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Comparison(Presentable):
    """Alternatives, and how each differs from the first."""

    alternatives: tuple[Alternative, ...]
    differences: tuple[Difference | None, ...]
    """Of every alternative but the first; None: it, or the first, cannot exist."""
    notes: tuple[str, ...] = ()

    @property
    def feasible(self) -> bool:
        """Whether every one of them can run."""
        return all(one.feasible for one in self.alternatives)


@of_several
@asks(CompareQuestion)
def compare(question: CompareQuestion) -> Comparison:
    """Return alternatives side by side: how each differs from the first, in which parts, and how sure that is.

    Each is a system (``dgx-h100/64``), a model, a layout (``"tp8 pp4 zero1"``), software (``fsdp``), a change of the
    machine (``scale_up.rate=2x``), an answer, or an answer saved as JSON. The other arguments state what an alternative
    leaves open. Without a layout, each alternative runs its fastest layout.
    """
    alternatives = question.alternatives
    if alternatives and all(isinstance(one, str) and _CHANGE.fullmatch(one.strip()) for one in alternatives):
        alternatives = (AS_IT_IS, *alternatives)  # what they change comes first
    if len(alternatives) < 2:
        raise DescriptionError(f"{len(alternatives)} to compare; give two or more")
    known = catalogue_of(question.catalogue)
    asked, notes = _with_one_length(question, alternatives, known)
    found = tuple(_answered(asked, one, known) for one in alternatives)
    first = found[0].side
    return Comparison(
        alternatives=found,
        differences=tuple(
            None if first is None or other.side is None else difference(other.side, first) for other in found[1:]
        ),
        notes=(*notes, *_notes(found)),
    )


def _is_answer(given: object) -> bool:
    """Whether an alternative is an answer, or one kept as JSON."""
    kept = isinstance(given, str | Path) and str(given).endswith(".json") and is_saved_answer(Path(given))
    return kept or isinstance(given, Answer | Plan | Mapping)


def _notes(found: Sequence[Alternative]) -> tuple[str, ...]:
    notes = []
    lengths = sorted({one.sequence for one in found})
    if len(lengths) > 1:
        notes.append(
            f"sequences differ ({' and '.join(f'{length:,}' for length in lengths)} tokens): a token of a longer "
            "sequence takes more work, so the differences are not of the alternatives alone"
        )
    if len({one.tokens for one in found}) > 1:
        notes.append("steps have different numbers of tokens: differences are of the time for as many tokens")
    if len({one.model for one in found}) > 1:
        notes.append("models differ: a faster one does less work a token")
    rents = [one.run.rent for one in found if one.run is not None and one.run.rent is not None]
    notes += [f"rented at {rent['usd_per_hour']:.2f} USD per accelerator-hour: {rent['offered']}" for rent in rents]
    return tuple(dict.fromkeys(notes))


def _with_one_length(
    question: CompareQuestion, alternatives: Sequence[object], known: Catalogue
) -> tuple[CompareQuestion, tuple[str, ...]]:
    """Return the question with one sequence length for all alternatives, and the note that states it.

    Without a stated length, it is the shortest default of the models.
    """
    if question.sequence is not None:
        return question, ()
    models = [_read(question, one, known)[1].model for one in alternatives if not _is_answer(one)]
    shapes = [model_of(model, known) for model in models if model is not None and not isinstance(model, Workload)]
    if not shapes:
        return question, ()
    shortest = min(shapes, key=lambda shape: shape.sequence)
    notes = length_notes(shortest, None)
    if len({shape.sequence for shape in shapes}) > 1:
        notes = tuple(f"{note}, for every column" for note in notes)
    return question.changed(sequence=shortest.sequence), notes


def _answered(question: CompareQuestion, given: object, known: Catalogue) -> Alternative:
    """Return one alternative with its answer."""
    if isinstance(given, Answer):
        return alternative_of(given, given.side.name, "answer")
    if isinstance(given, Plan):
        return _planned(given, f"{given.model} on {given.cluster.name}", "answer")
    if _is_answer(given):
        return _saved(given)
    text = str(given).strip()
    what, asked = _read(question, text, known)
    if asked.model is None or asked.on is None or asked.batch is None:
        missing = next(name for name in ("model", "on", "batch") if getattr(asked, name) is None)
        raise DescriptionError(f"{brief(text)} is a {what}; give --{missing} too, which it leaves open")
    cluster = cluster_of(asked.on, known, stack=asked.software, margin=asked.margin, changes=asked.set)
    _, forward, _ = forward_pass(asked.model, known, asked.sequence)
    of_machine = {"stack": "", "calibrated": None, "margin": None, "set": None}  # the machine has them already
    step = asked.as_question(EstimateQuestion, model=forward, on=cluster, anyway=True, **of_machine)
    searched = not asked.layout and asked.mapping is None
    fits = True
    if searched:
        mapping, fits = _fastest(step)
        step = step.changed(mapping=mapping)
    found = alternative_of(ask(estimate, step), text, what, searched=searched)
    return found if fits else replace(found, layout={}, **_NO_SPEED)


def _fastest(question: EstimateQuestion) -> tuple[ParallelMapping, bool]:
    """Return the fastest of the usual layouts and True; if none fits, the layout that needs least memory and False."""
    resolved = resolved_step(question)
    space = considered_space({}, int(resolved.step.model.sizes.get("position", 1)), offload=False)
    asked = (space, resolved.step, resolved.cluster, ClosedForm())
    found = fastest(*asked)
    held = found or lightest(*asked)
    assert held is not None, "a space without any layout is refused"
    return held.mapping, found is not None


def _read(question: CompareQuestion, given: object, known: Catalogue) -> tuple[str, CompareQuestion]:
    """Return what an alternative is, and the question with what it states."""
    text = str(given).strip()
    if looks_like_layout(text):
        return "layout", question.changed(**read_layout_words(text))
    if _CHANGE.fullmatch(text):
        return "change", question.changed(set={**(question.set or {}), **read_changes((text,))})
    if text in (AS_IT_IS, "baseline"):
        return "change", question
    if stack_named(text) is not None:
        return "stack", question.changed(stack=text, calibrated=None)
    name, slash, _ = text.partition("/")
    if known.name_of("clusters", name) is not None:
        return "system", question.changed(on=text)
    if known.name_of("models", text) is not None or text.endswith(".json") or Path(text).is_dir():
        return "model", question.changed(model=text)
    if slash and text.rpartition("/")[2].isdigit():
        known.cluster(text)  # raises an error that names similar clusters
    names = (*known.names("clusters"), *known.names("models"), *stack_entries())
    raise UnknownNameError.among("system, model, software or layout", text, names)


def alternative_of(answer: Answer, name: str, what: str, *, searched: bool = False) -> Alternative:
    """An estimate as an alternative."""
    timed = answer.speed
    return Alternative(
        name=name,
        what=what,
        model=answer.model,
        system=answer.cluster.name,
        stack=answer.stack,
        feasible=answer.estimate.feasible,
        layout=answer.estimate.mapping.described(),
        time=None if timed is None else timed.time,
        range=None if timed is None else timed.time_range,
        basis=None if timed is None else answer.basis,
        tokens=float(answer.step.tokens),
        sequence=answer.sequence,
        utilisation=None if timed is None else timed.utilisation,
        memory_bytes=answer.estimate.memory_bytes,
        memory_capacity=answer.estimate.capacity,
        joules=None if answer.costs.energy is None else float(answer.costs.energy),
        usd=None if answer.costs.dollars is None else float(answer.costs.dollars),
        run=answer.run,
        parts={} if timed is None else timed.parts(),
        side=None if timed is None else replace(answer.side, name=name, searched=searched),
    )


def _planned(found: Plan, name: str, what: str) -> Alternative:
    """The first layout of a plan as an alternative; one that cannot run where nothing fits."""
    best, capacity = found.best, float(found.cluster.chip.capacity)
    least = None if found.dead_end is None else found.dead_end.lightest
    return Alternative(
        name=name,
        what=what,
        model=found.model,
        system=found.cluster.name,
        stack="",
        feasible=best is not None,
        layout={} if best is None else best.mapping.described(),
        time=None if best is None else best.time,
        range=None if best is None else best.time_range,
        basis=None if best is None else found.basis,
        tokens=float(found.step.tokens),
        sequence=found.sequence,
        utilisation=None if best is None else best.utilisation,
        memory_bytes=best.memory_bytes if best is not None else None if least is None else least.memory,
        memory_capacity=capacity,
        joules=None,
        usd=None,
        run=found.run,
        parts={} if best is None else best.parts(),
        side=None if found.side is None else replace(found.side, name=name),
    )


def _saved(given: object) -> Alternative:
    """An answer that was kept as JSON."""
    kept = saved_answer(given)
    side = None
    if kept["time"] is not None:
        side = Side(
            name=kept["name"],
            time=kept["time"],
            tokens=kept["tokens"],
            range=kept["range"],
            parts=kept["parts"],
            figures={name: kept[name] for name in ("memory_bytes", "joules", "usd") if kept[name] is not None},
        )
    return Alternative(what="answer", side=side, **kept)
