"""Several answers side by side: systems, models, layouts, software, changes of a machine, or answers kept as JSON."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from volvelle.applications.training.evidence import RangeBasis
from volvelle.catalogue import Catalogue
from volvelle.catalogue.stacks import stack_entries, stack_named
from volvelle.domains import EXPERT_LOAD, MARGIN, SEED, SEQUENCES, TOKENS, WIDTH, within_domains
from volvelle.economics.training_run import TrainingRun
from volvelle.errors import DescriptionError, UnknownNameError, brief
from volvelle.estimators.result import Range
from volvelle.estimators.training.closed_form import ClosedForm
from volvelle.interchange.layout_words import looks_like_layout, read_layout_words
from volvelle.mapping.parallelism import ParallelMapping
from volvelle.presentable import Presentable
from volvelle.questions.machine import Changes, read_changes
from volvelle.search.exhaustive import fastest, lightest
from volvelle.verbs.command_words import in_command_words
from volvelle.verbs.differences import Difference, Side, difference
from volvelle.verbs.estimate import Answer, estimate
from volvelle.verbs.named import (
    Folder,
    Machine,
    Model,
    catalogue_of,
    cluster_of,
    forward_pass,
    length_notes,
    model_of,
)
from volvelle.verbs.plan import Plan, considered_space
from volvelle.verbs.saved import is_saved_answer, saved_answer
from volvelle.verbs.training_step import split_off_tuning, training_step
from volvelle.workload.families.shape import Transformer
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


@in_command_words
@within_domains
def compare(
    *alternatives: str | Path | Answer | Plan | Mapping[str, Any],
    model: Model | None = None,
    on: Machine | None = None,
    batch: Annotated[int | None, SEQUENCES] = None,
    sequence: Annotated[int | None, WIDTH] = None,
    element: str = "bf16",
    expert_load: Annotated[float, EXPERT_LOAD] = 1.0,
    seed: Annotated[int, SEED] = 0,
    stack: str = "",
    margin: Annotated[str | float | None, MARGIN] = None,
    tokens: Annotated[str | float | None, TOKENS] = None,
    set: Changes | None = None,  # noqa: A002 - the option's name
    catalogue: Folder = None,
    **choices: Any,
) -> Comparison:
    """Hold alternatives against the first of them, part by part, with ranges and whether the difference is real.

    Each is a system (``dgx-h100/64``), a model, a layout (``"tp8 pp4 zero1"``), software (``fsdp``), a change of the
    machine (``scale_up.rate=2x``), an answer, or one kept as JSON; what it does not say, the other arguments do. Where
    no layout is named, each alternative has its fastest.
    """
    if alternatives and all(isinstance(one, str) and _CHANGE.fullmatch(one.strip()) for one in alternatives):
        alternatives = (AS_IT_IS, *alternatives)  # what they change comes first
    if len(alternatives) < 2:
        raise DescriptionError(f"{len(alternatives)} to compare; give two or more")
    known = catalogue_of(catalogue)
    work = {"model": model, "batch": batch, "sequence": sequence, "element": element, "expert_load": expert_load}
    machine = {"on": on, "stack": stack, "margin": margin, "set": set}
    asked = _Asked(known, {**work, **machine, "tokens": tokens}, seed, choices)
    notes = asked.with_one_length(alternatives)
    found = tuple(asked.answered(one) for one in alternatives)
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


class _Asked:
    """Answers of alternatives to one question."""

    def __init__(self, known: Catalogue, base: Mapping[str, Any], seed: int, choices: Mapping[str, Any]) -> None:
        self.known, self.base, self.seed = known, base, seed
        self.recipe, layout = split_off_tuning(choices)
        self.choices = {name: value for name, value in layout.items() if value not in (None, ())}

    def with_one_length(self, alternatives: Sequence[object]) -> tuple[str, ...]:
        """Take one sequence length for all alternatives that state none, the shortest default of their models.

        Returns the note that says so.
        """
        if self.base["sequence"] is not None:
            return ()
        shapes = [shape for one in alternatives if (shape := self._shape(one)) is not None]
        if not shapes:
            return ()
        shortest = min(shapes, key=lambda shape: shape.sequence)
        self.base = {**self.base, "sequence": shortest.sequence}
        notes = length_notes(shortest, None)
        if len({shape.sequence for shape in shapes}) > 1:
            return tuple(f"{note}, for every column" for note in notes)
        return notes

    def _shape(self, given: object) -> Transformer | None:
        """Return the model of an alternative that is still to be estimated; None: it is an answer, or a workload."""
        if _is_answer(given):
            return None
        _, said, _ = self._read(str(given).strip())
        model = said.get("model", self.base["model"])
        return None if model is None or isinstance(model, Workload) else model_of(model, self.known)

    def answered(self, given: str | Path | Answer | Plan | Mapping[str, Any]) -> Alternative:
        """What one of them takes."""
        if isinstance(given, Answer):
            return alternative_of(given, given.side.name, "answer")
        if isinstance(given, Plan):
            return _planned(given, f"{given.model} on {given.cluster.name}", "answer")
        if _is_answer(given):
            return _saved(given)
        text = str(given).strip()
        what, said, layout = self._read(text)
        question = {**self.base, **said}
        for name, option in (("model", "--model"), ("on", "--on"), ("batch", "--batch")):
            if question[name] is None:
                raise DescriptionError(f"{brief(text)} is a {what}; say {option} too, which it leaves open")
        taken = ("model", "sequence", "tokens", "stack", "margin", "set")
        named, sequence, tokens, stack, margin, changes = (question.pop(name) for name in taken)
        question["on"] = cluster_of(question["on"], self.known, stack=stack, margin=margin, changes=changes)
        _, forward, _ = forward_pass(named, self.known, sequence)
        choices, fits = {**self.choices, **layout}, True
        searched = not choices
        if searched:
            choices["mapping"], fits = self._laid_out(forward, question)
        answer = estimate(forward, **question, anyway=True, seed=self.seed, tokens=tokens, **self.recipe, **choices)
        found = alternative_of(answer, text, what, searched=searched)
        return found if fits else replace(found, layout={}, **_NO_SPEED)

    def _laid_out(self, forward: Workload, question: Mapping[str, Any]) -> tuple[ParallelMapping, bool]:
        """The fastest of the usual layouts, or where nothing fits the one that holds least; and whether it fits."""
        said = {name: value for name, value in question.items() if name != "on"}
        step = training_step(forward, **said, **self.recipe)
        space = considered_space({}, int(forward.sizes.get("position", 1)), offload=False)
        asked = (space, step, question["on"], ClosedForm())
        found = fastest(*asked)
        held = found or lightest(*asked)
        assert held is not None, "a space without any layout is refused"
        return held.mapping, found is not None

    def _read(self, text: str) -> tuple[str, dict[str, Any], dict[str, Any]]:
        """What a text stands for: what it is, what it says of the question, and of the layout."""
        if looks_like_layout(text):
            return "layout", {}, read_layout_words(text)
        if _CHANGE.fullmatch(text):
            return "change", {"set": {**(self.base["set"] or {}), **read_changes((text,))}}, {}
        if text in (AS_IT_IS, "baseline"):
            return "change", {}, {}
        if stack_named(text) is not None:
            return "stack", {"stack": text}, {}
        name, slash, _ = text.partition("/")
        if self.known.name_of("clusters", name) is not None:
            return "system", {"on": text}, {}
        if self.known.name_of("models", text) is not None or text.endswith(".json") or Path(text).is_dir():
            return "model", {"model": text}, {}
        if slash and text.rpartition("/")[2].isdigit():
            self.known.cluster(text)  # says what it is instead
        known = (*self.known.names("clusters"), *self.known.names("models"), *stack_entries())
        raise UnknownNameError.among("system, model, software or layout", text, known)


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
