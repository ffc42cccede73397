"""Runs of logs as questions: what a log says of itself, what is told beside it, and where both disagree."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from volvelle.applications.contract import Question
from volvelle.applications.measured_table import RowHead
from volvelle.applications.training.measurements import TrainingMeasurement
from volvelle.applications.training.stack_fit import Run
from volvelle.catalogue import Catalogue
from volvelle.errors import DescriptionError
from volvelle.estimators.calibration import calibrations_of, with_margin
from volvelle.interchange.logs.logged import STEP, LoggedRun
from volvelle.interchange.logs.run_settings import gated, run_settings, shape_settings, step_by_clock, step_seconds
from volvelle.interchange.logs.steady import FEWEST
from volvelle.mapping.parallelism import CHOICES, Recompute
from volvelle.system.cluster import Cluster
from volvelle.verbs.named import Model, length_notes, model_of
from volvelle.verbs.own_runs.plausibility import check_step_time
from volvelle.verbs.question import question_of
from volvelle.workload.families.shape import Experts, Transformer

_LAYOUT = frozenset(choice.name for choice in CHOICES)
_FLAGS = {
    "tensor": "--tp",
    "pipeline": "--pp",
    "data": "--dp",
    "context": "--cp",
    "expert": "--ep",
    "chips": "--on",
    "sequence": "--seq",
}
_FEW_STEPS, _WHOLE_RUN = 1.5, 2.0
"""How much further such runs may be off than those of enough steady steps."""
_CLOCK = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnRun:
    """A run of a log, as it is asked about."""

    logged: LoggedRun
    run: Run
    settings: Mapping[str, object]
    doubt: float = 1.0
    """How much further it may be off than a run of enough steady steps."""
    notes: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """For people."""
        return self.logged.place


def own_run(
    logged: LoggedRun, *, on: str, model: Model | None, told: Mapping[str, Any], catalogue: Catalogue
) -> OwnRun | str:
    """The question that a run puts, or why it puts none."""
    said = run_settings(logged)
    settings = _agreed(logged, said, {name: value for name, value in told.items() if value is not None})
    notes: list[str] = []
    if logged.steady is None:
        return "no steady step: let it run longer"
    template, slash, count = on.partition("/")
    chips = settings.get("chips")
    if slash and chips is not None and int(count) != chips:
        raise DescriptionError(
            f"{logged.place}: it ran on {chips} chips, which is not --on {on}; give the machine that it ran on, or "
            f"{template} alone to take the number from each log"
        )
    if not slash and chips is None:
        return f"the log does not state the number of chips: give --on {template}/N"
    number = int(str(chips)) if chips is not None else int(count)
    missing = [name for name in ("batch",) if name not in settings]
    if missing and _batch_by_clock(logged, settings, number) is None:
        return "the log does not state the global batch: give --batch"
    shape = _shape(logged, model, catalogue)
    if isinstance(shape, str):
        return shape
    sequence = int(str(settings.get("sequence", shape.sequence)))
    if "sequence" not in settings:
        notes += length_notes(shape, None)
    if missing:
        batch = _batch_by_clock(logged, {**settings, "sequence": sequence}, number)
        if batch is None:
            return "the log does not state the global batch: give --batch"
        settings["batch"] = batch
        notes.append(f"a batch of {batch}, by the times of its lines")
    batch = int(str(settings["batch"]))
    seconds = step_seconds(logged, batch=batch, sequence=sequence, chips=number)
    assert seconds is not None, "runs without steady steps are told before"
    by_clock = step_by_clock(logged) if logged.per != STEP else None
    if by_clock is not None and abs(by_clock / seconds - 1.0) > _CLOCK:
        raise DescriptionError(
            f"{logged.place}: a batch of {batch} × {sequence} tokens at its rate takes {seconds:.4g} s a step, and its "
            f"lines are {by_clock:.4g} s a step apart; check --batch, --seq and --on"
        )
    layout: dict[str, Any] = {name: value for name, value in settings.items() if name in _LAYOUT}
    if isinstance(layout.get("recompute"), str):
        layout["recompute"] = Recompute[str(layout["recompute"]).upper()]
    asked = question_of(
        shape,
        on=f"{template}/{number}",
        batch=batch,
        sequence=sequence,
        element=str(settings.get("element", "bf16")),
        stack=str(settings.get("stack", "")),
        catalogue=catalogue,
        **layout,
    )
    check_step_time(logged.place, asked.step, asked.cluster, seconds=seconds, printed=logged.flop_rate)
    system = with_margin(asked.cluster, 0.0)
    run = Run(
        row=TrainingMeasurement(
            head=RowHead(row_id=logged.place, group="own", split="calibration"),
            layers=shape.layers,
            hidden=shape.hidden,
            heads=shape.heads,
            sequence=sequence,
            accelerator=system.chip.name,
            chips=number,
            tensor=asked.mapping.tensor,
            pipeline=asked.mapping.pipeline,
            data=asked.mapping.data,
            micro_batch=asked.mapping.micro_batch,
            global_batch=batch,
            step_time=seconds,
        ),
        question=Question(candidates=((asked.step, asked.mapping),), system=system, calibration=None),
        seconds=seconds,
        source="own",
        family=system.chip.family,
        element=asked.step.element,
        stack=calibrations_of(system).stack,
    )
    doubt = _WHOLE_RUN if logged.whole_run else _FEW_STEPS if logged.steady.steps < FEWEST else 1.0
    return OwnRun(
        logged=logged,
        run=run,
        settings={**settings, "chips": number, "sequence": sequence, "model": shape.name},
        doubt=doubt,
        notes=(*notes, *logged.warnings),
    )


def _agreed(logged: LoggedRun, said: Mapping[str, object], told: Mapping[str, Any]) -> dict[str, object]:
    """What the log says and what is told, if both agree; software is told where a log knows its tool only."""
    found = dict(said)
    for name, value in told.items():
        word = getattr(value, "word", value)
        if name in said and name != "stack" and said[name] != word:
            flag = _FLAGS.get(name, f"--{name.replace('_', '-')}")
            raise DescriptionError(
                f"{logged.place}: it ran with {flag} {said[name]}, and the question states {word}; leave that out, "
                f"or give the log that it belongs to"
            )
        found[name] = word
    return found


def _batch_by_clock(logged: LoggedRun, settings: Mapping[str, object], chips: int) -> int | None:
    """Sequences of a step, where a log has tokens a second and times of lines; None: they make no whole number."""
    by_clock = step_by_clock(logged)
    if by_clock is None or logged.steady is None or logged.per != "token a chip" or "sequence" not in settings:
        return None
    tokens = by_clock / logged.steady.seconds * chips
    batch = round(tokens / int(str(settings["sequence"])))
    return batch if batch >= 1 and abs(tokens / (batch * int(str(settings["sequence"]))) - 1.0) < 0.02 else None


def _shape(logged: LoggedRun, model: Model | None, catalogue: Catalogue) -> Transformer | str:
    """The model that was named, if the log does not say another; else the one that the log describes."""
    stated = shape_settings(logged)
    if model is not None:
        shape = model_of(model, catalogue)
        for name in ("layers", "hidden", "heads"):
            if stated.get(name, getattr(shape, name)) != getattr(shape, name):
                raise DescriptionError(
                    f"{logged.place}: its model has {stated[name]} {name}, and {shape.name} has "
                    f"{getattr(shape, name)}; give the model that ran with --model"
                )
        return shape
    needed = ("layers", "hidden", "heads")
    if not all(name in stated for name in needed):
        return "the log does not name the model: give --model, a name or a config.json"
    hidden, heads = stated["hidden"], stated["heads"]
    sequence = run_settings(logged).get("sequence")
    if "vocabulary" not in stated or sequence is None:
        return "the log has neither vocabulary nor sequence: give --model, a name or a config.json"
    ffn = stated.get("ffn", 4 * hidden)
    experts = None
    if stated.get("experts", 0) > 1:
        experts = Experts(
            count=stated["experts"], chosen=stated.get("chosen_experts", 2), ffn=stated.get("expert_ffn", ffn)
        )
    return Transformer(
        name=f"{stated['layers']} layers of {hidden}",
        layers=stated["layers"],
        hidden=hidden,
        heads=heads,
        kv_heads=stated.get("kv_heads", heads) if heads % stated.get("kv_heads", heads) == 0 else heads,
        head_dim=hidden // heads,
        ffn=ffn,
        vocabulary=stated["vocabulary"],
        sequence=int(str(sequence)),
        activation="swiglu" if gated(logged) else "gelu",
        experts=experts,
    )


def same_machine(runs: list[OwnRun]) -> Cluster:
    """The machine of all runs, if it is one: same chip, same element type, same software."""
    first = runs[0]
    for one in runs[1:]:
        for what, mine, theirs in (
            ("the element type", first.run.element, one.run.element),
            ("the software", first.run.stack, one.run.stack),
        ):
            if mine != theirs:
                raise DescriptionError(
                    f"{one.place} has {what} {theirs or 'of none in particular'}, and {first.place} has {mine}; "
                    f"calibrate each by itself"
                )
    return replace(first.run.question.system)
