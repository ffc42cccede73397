"""What there is to say about the recommended design: limits inside its ranges, and the command that takes it apart."""

import shlex

from volvelle.questions.workloads import TrainedWork
from volvelle.report.explore.words import measure_name, tuning_words
from volvelle.report.layout_command import layout_flags
from volvelle.studies.answers.answers import Answers
from volvelle.studies.answers.designs import measure_text
from volvelle.studies.design_space.structure import varied_form

_ASKED = {"system", "accelerators", "stack"}
"""Fields that ``volvelle estimate`` has words for."""


def crossed_limits(answers: Answers) -> list[str]:
    """Constraints that the best design meets, but not with all of its range."""
    design = answers.best.design
    if design is None or answers.local is None:
        return []
    told = []
    for limit in answers.study.constraints:
        for found in answers.local.ranges:
            if found.name not in limit.names:
                continue
            names = {**design.measures, **design.fields}
            ends = [bool(limit.value(names | {found.name: end})) for end in (found.low, found.high)]
            if not all(ends):
                low, high = (measure_text(found.name, end) for end in (found.low, found.high))
                told.append(
                    f"{limit.text} is met at {measure_text(found.name, found.value)}, but lies inside the range of "
                    f"{measure_name(found.name)}, {low} … {high}: it may be missed."
                )
    return told


def estimate_of(answers: Answers) -> str:
    """The command that estimates the best design alone; empty: a command has no words for all of its fields."""
    design, apart, form = answers.best.design, answers.taken_apart, answers.study.form
    if design is None or apart is None or form.set or len(form.workloads) != 1 or answers.study.folders:
        return ""
    fields = dict(design.fields)
    named = {path for path in fields if not path.startswith(("mapping.", "workload."))}
    work = varied_form(form.workloads[0], fields)
    asked = work.asked
    if work.train is None or not isinstance(asked, TrainedWork) or named - _ASKED:
        return ""
    if work.train not in apart.layouts and len(apart.layouts) != 1:
        return ""
    if asked.sizes or asked.split_heads or asked.counting != "derived":
        return ""
    layout = next(iter(apart.layouts.values()))
    machine, _, count = form.system.partition("/")
    system = str(fields.get("system", machine)).partition("/")
    chips = str(int(fields["accelerators"])) if "accelerators" in fields else system[2] or count
    words = ["volvelle", "estimate", work.train, "--on", f"{system[0]}/{chips}" if chips else system[0]]
    batch = asked.batch if asked.batch_per_replica is None else asked.batch_per_replica * layout.data
    words += ["--batch", str(batch)] if batch else []
    words += ["--seq", str(asked.sequence)] if asked.sequence else []
    words += ["--element", asked.element] if asked.element != "bf16" else []
    words += tuning_words(asked)
    stack = str(fields.get("stack", form.stack))
    words += ["--stack", stack] if stack else []
    words += ["--margin", str(form.margin)] if form.margin is not None else []
    words += ["--tokens", f"{work.tokens:g}"] if work.tokens else []
    return shlex.join([*words, *layout_flags(layout)])
