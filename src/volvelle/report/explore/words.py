"""Words for the answers of a study: names of fields and measures, sentences, layouts, prices."""

from collections.abc import Mapping

from volvelle.interchange.study_file import StudyForm
from volvelle.interchange.workload_form import WorkloadForm
from volvelle.mapping.parallelism import ParallelMapping as Layout
from volvelle.quantities import DOLLARS, percent, show
from volvelle.questions.training import Tuned
from volvelle.questions.workloads import MappedWork, TrainedWork
from volvelle.studies.answers.answers import Answers
from volvelle.studies.answers.designs import Design, field_text, measure_text
from volvelle.studies.answers.pareto import Front
from volvelle.studies.answers.sensitivity import Elasticity, Sensitivity, Step
from volvelle.studies.design_space.design_study import DesignStudy
from volvelle.studies.design_space.measures import MEASURES, Objective
from volvelle.workload.families.shape import TRAINING_LENGTH

_NAMES = {
    "chip.matrix_rate": "matrix rate",
    "chip.vector_rate": "vector rate",
    "chip.memory.rate": "memory bandwidth",
    "chip.memory.capacity": "memory capacity",
    "chip.expansion.rate": "expansion bandwidth",
    "chip.expansion.capacity": "expansion capacity",
    "scale_up.rate": "scale-up bandwidth",
    "scale_up.latency": "scale-up latency",
    "scale_up.size": "scale-up size",
    "scale_out.rate": "scale-out bandwidth",
    "scale_out.latency": "scale-out latency",
    "workload.batch": "batch",
    "workload.batch_per_replica": "batch of a replica",
    "workload.sequence": "sequence length",
    "workload.memory_limit": "memory limit",
}
_MEASURES = {
    "time": "step time",
    "mfu": "MFU",
    "machine_usd": "machine price",
    "usd": "cost of ownership",
    "run_usd": "cost of the run",
    "usd_per_mtoken": "cost of a million tokens",
    "tokens_per_s": "tokens a second",
    "samples_per_s": "sequences a second",
    "time_per_sample": "time a sequence",
    "power": "power",
    "joules_per_sample": "energy a sequence",
    "tokens_per_joule": "tokens a joule",
    "flops_per_usd": "FLOP/s a dollar",
    "flops_per_joule": "FLOP a joule",
}
_NEGLIGIBLE = 5e-3


def field_name(path: str) -> str:
    """What a field is called among people."""
    return _NAMES.get(path, path.removeprefix("mapping.").replace("_", " ") if path.startswith("mapping.") else path)


def measure_name(name: str) -> str:
    """What a measure is called."""
    return _MEASURES.get(name, name)


def design_words(design: Design, study: DesignStudy) -> str:
    """A design in one line: what its axes have."""
    return ", ".join(f"{field_name(path)} {field_text(path, value, study)}" for path, value in design.fields.items())


def layout_words(layout: Layout) -> str:
    """A layout in one line."""
    words = [f"{axis.word}{degree}" for axis, degree in layout.shown]
    words += [f"mb{layout.micro_batch}", f"zero{layout.zero}"]
    if layout.pipeline > 1:
        words.append(layout.schedule.word + (f"/{layout.interleave}" if layout.interleave > 1 else ""))
    return " ".join([*words, f"recompute {layout.recompute.word}"])


def policy_words(study: DesignStudy) -> str:
    """How a study lays work out."""
    if study.form.published is not None:
        return "each mapped to a proven optimum"
    if study.maps:
        stated = all(one.assumptions is not None for one in study.form.workloads)
        return "the mapping that is stated at each" if stated else "the best mapping searched at each"
    if all(work.pace is not None for work in study.form.workloads):
        return "at the pace that is stated"
    return "the best layout at each" if study.form.mapping.policy == "best" else "the layout as given at each"


def work_words(work: WorkloadForm, form: StudyForm) -> str:
    """A workload of a study in one line."""
    asked = work.asked
    stated = getattr(asked, "batch", None)
    batch = f": {stated:,} sequences or samples a step" if stated else ""
    if isinstance(asked, TrainedWork):
        if asked.batch_per_replica:
            batch = f": {asked.batch_per_replica:,} sequences a replica and step"
        if asked.counting == "comet":
            batch += ", counted as COMET does"
        elif "workload.sequence" not in form.axes:
            batch += (
                f", {asked.sequence:,} tokens per sequence"
                if asked.sequence
                else f", {TRAINING_LENGTH:,} tokens per sequence, or the model's context if shorter (the default)"
            )
        tuning = " ".join(tuning_words(asked))
        batch += f", {tuning}" if tuning else ""
    tokens = f", {work.tokens:.3g} tokens in all" if work.tokens else ""
    weight = f", weight {work.weight:g}" if len(form.workloads) > 1 else ""
    assumed = (
        "" if work.assumptions is None else f"; assumes {_assumed(work.assumptions.model_dump(exclude_defaults=True))}"
    )
    return f"{work.called}{batch}{tokens}{weight}{assumed}"


def tuning_words(asked: TrainedWork) -> list[str]:
    """Return what of a model is trained, and how, as options of a command."""
    names = {part.name for part in Tuned.options()}
    return [word for part, value in asked.given() if part.name in names for word in part.typed(value)]


def _assumed(stated: Mapping[str, object]) -> str:
    """What a mapping assumes."""
    words = {name: ", ".join(value) if isinstance(value, tuple) else value for name, value in stated.items()}
    return "; ".join(f"{name} {value}" for name, value in words.items())


def unasked_words(study: DesignStudy) -> str:
    """Why there is nothing about what matters and what pays."""
    if study.published is not None:
        return "No sensitivities: the points are those that were published, and no others."
    return (
        "No sensitivities: each would map every workload anew on machines a hundredth apart. Ask for some as points: "
        "an axis like chip.memory.rate: {times: [0.9, 1, 1.1]}."
    )


def explored_words(answers: Answers) -> str:
    """What was explored, in one sentence."""
    study, counted = answers.study, answers.census
    drawn = f" drawn from {study.grid.combinations:,}" if study.grid.drawn else ""
    rate = ""
    if answers.seconds:
        rate = f", in {answers.seconds:.3g} s ({counted.points / answers.seconds:,.0f} a second)"
    met = f", {counted.met:,} meet the constraints" if study.constraints else ""
    return (
        f"{counted.points:,} points{drawn} over {len(study.axes)} ax{'es' if len(study.axes) > 1 else 'is'}, "
        f"{policy_words(study)}{rate}: {counted.runs:,} run{met}{_proven(answers)}"
    )


def _proven(answers: Answers) -> str:
    """How many mappings are known to be the best, and of which."""
    counted = answers.census
    works = answers.study.form.workloads
    limited = any(isinstance(work.asked, MappedWork) and work.asked.sharding == "megatron" for work in works)
    among = " of Megatron's splits" if limited else ""
    if counted.proven is None:
        return ""
    if counted.proven == counted.runs:
        return f", every mapping proven the best{among}"
    rest = f"the others at most {percent(counted.largest_gap)} from it"
    return f", {counted.proven:,} mappings proven the best{among}, {rest}"


def kept_words(front: Front) -> str:
    """How many designs of a front are listed in full."""
    return "all" if len(front.designs) == len(front) else f"{len(front.designs):,}"


def limit_words(parts: Mapping[str, float]) -> str:
    """Shares of a whole, largest first."""
    total = sum(parts.values())
    return ", ".join(f"{name} {100 * value / total:.0f} %" for name, value in list(parts.items())[:4])


def _bought(goal: Objective, gain: float) -> str:
    """``0.47 % fewer days``, ``0.3 % more mfu``, ``0.2 % worse``."""
    name = measure_name(goal.name)
    less = goal.less == (gain > 0)
    if name == "days":
        return f"{abs(gain):.2g} % {'fewer' if less else 'more'} days"
    return f"{abs(gain):.2g} % {'less' if less else 'more'} {name}"


def elasticity_sentences(found: Sensitivity, goal: Objective) -> list[str]:
    """What 1 % more of each resource does, the largest effect first; what does nothing in one line."""
    lines, nothing = [], []
    for one in found.of(goal):
        if one.gain is None:
            lines.append(f"With 1 % more {field_name(one.path)} it cannot run.")
        elif abs(one.gain) < _NEGLIGIBLE:
            nothing.append(field_name(one.path))
        else:
            verb = "buys" if one.gain > 0 else "costs"
            lines.append(f"1 % more {field_name(one.path)} {verb} {_bought(goal, one.gain)}.")
    if nothing:
        lines.append(f"1 % more {', '.join(nothing)}: no difference.")
    return lines


def value_sentences(found: Sensitivity, goal: Objective) -> list[str]:
    """What 1 % of the objective costs at the margin, spent on each resource, the cheapest first."""
    if not found.priced:
        return ["No price of a part alone is known to this cost model; take costs: {model: parts} for one."]
    own = [one for one in found.elasticities if one.goal.name == goal.name]
    paid = sorted((one for one in own if one.per_million is not None), key=lambda one: -(one.per_million or 0.0))
    lines = [_value(one, goal) for one in paid]
    felt = [one for one in own if one.per_million is None and one.gain is not None and abs(one.gain) >= _NEGLIGIBLE]
    free = ", ".join(field_name(one.path) for one in felt if one.price is not None)
    unknown = ", ".join(field_name(one.path) for one in felt if one.price is None)
    lines += [f"{free}: the machine's price does not depend on it."] if free else []
    lines += [f"{unknown}: no price of it alone is known; take costs: {{model: parts}} for one."] if unknown else []
    return lines


def _value(one: Elasticity, goal: Objective) -> str:
    value, name = one.per_million or 0.0, field_name(one.path)
    if one.gain is None or abs(one.gain) < _NEGLIGIBLE:
        return f"{name}: more of it buys nothing."
    if value <= 0:
        return f"{name}: more of it costs more than it brings; less is better."
    jump = " (over a jump: another layout comes to fit)" if _jumps(one) else ""
    return f"{name}: {_bought(goal, 1.0)} costs {show(1e6 / value, DOLLARS)} at the margin{jump}."


def _jumps(one: Elasticity) -> bool:
    """Whether a hundredth more does far more than a hundredth less."""
    return one.up is not None and (one.down is None or abs(one.up) > 4 * abs(one.down) + 0.02)


def step_sentence(step: Step, study: DesignStudy) -> str:
    """One step up an axis that makes another machine."""
    before, after = (field_text(step.path, value, study) for value in (step.before, step.after))
    said = f"{field_name(step.path)} {before} → {after}"
    gain = step.goal.gain(step.change)
    if gain is None:
        return f"{said}: cannot run."
    price = f" for {show(step.price, DOLLARS)}" if step.price else ""
    if abs(gain) < _NEGLIGIBLE:
        return f"{said} makes no difference{price}."
    return f"{said} {'buys' if gain > 0 else 'costs'} {_bought(step.goal, gain)}{price}."


def goal_title(goal: Objective, study: DesignStudy) -> str:
    """``least days (until all tokens are trained on)``."""
    says = MEASURES[goal.name].says if goal.name in MEASURES else ""
    kind = study.kind_of(goal.name)
    return f"{'least' if goal.less else 'most'} {measure_name(goal.name)}" + (f" ({says})" if says and not kind else "")


def measures_words(design: Design, names: tuple[str, ...]) -> str:
    """Measures of a design in one line."""
    return ", ".join(
        measure_text(name, design.measures[name])
        if name == "days"
        else f"{measure_name(name)} {measure_text(name, design.measures[name])}"
        for name in names
        if name in design.measures
    )
