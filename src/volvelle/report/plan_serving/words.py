"""A plan of how to serve in words that text, pages and notebooks share."""

from collections.abc import Iterator, Sequence

from volvelle.applications.serving.chance import LikelyFigure
from volvelle.quantities import SECONDS, WATTS, chance_text, numbered, percent, show, whole_text
from volvelle.report.serving.words import load_text, price_text
from volvelle.verbs.plan_serving.options import ServingOption
from volvelle.verbs.plan_serving.plan import ServingPlan
from volvelle.verbs.serving.question import ServingQuestion

COLUMNS = ("chips", "spent", "layout", "formats", "budget", "seqs", "goodput", "likely")
"""Of the table of options."""
NUMBERS = ("chips", "spent", "budget", "seqs", "goodput", "likely")


def title_text(plan: ServingPlan) -> str:
    """What is planned where."""
    return f"{plan.question.model} on {', '.join(cluster.name for cluster in plan.clusters)}"


def asked_text(plan: ServingPlan) -> str:
    """Load and limits."""
    served = plan.question.served
    return f"{load_text(served)}; limits: {', '.join(map(str, plan.limits))}"


def degrees_text(question: ServingQuestion) -> str:
    """Degrees of an instance, as in ``TP4 PP2``."""
    degrees = {"TP": question.tensor or 1, "DP": question.data, "EP": question.expert, "PP": question.pipeline}
    return " ".join(f"{name}{degree}" for name, degree in degrees.items() if degree > 1) or "TP1"


def formats_text(question: ServingQuestion) -> str:
    """Of weights and cache, and how tokens are drafted."""
    told = question.weights if question.weights == question.kv else f"{question.weights}, KV {question.kv}"
    return told if question.speculate is None else f"{told}, {question.speculate}"


def spent_text(plan: ServingPlan, value: float) -> str:
    """What is spent, with its unit."""
    if plan.spending.purpose == "dollars":
        return f"{value:,.2f} {plan.spending.basis}"
    return f"{show(value, WATTS)} at the meter" if plan.spending.purpose == "watts" else numbered(round(value), "chip")


def layout_text(plan: ServingPlan, option: ServingOption) -> str:
    """An option on one line: replicas, degrees, formats, engine, settings."""
    question = option.question
    told = [
        f"{option.replicas} × {degrees_text(question)} on {option.cluster.chip.name}",
        f"weights {question.weights}, KV cache {question.kv}",
        option.instance.engine.title,
    ]
    drafts = option.instance.speculation
    if drafts is not None:
        told.append(f"drafts: {question.speculate}, {drafts.tokens:.2f} tokens a cycle")
    rules = option.instance.rules()
    told.append(f"{min(rules.token_budget, rules.chunk):,} tokens a step, {rules.max_sequences:,} sequences")
    return "; ".join(told)


def figure_text(figure: LikelyFigure) -> str:
    """A limited figure with its range."""
    high = "unstable" if figure.high is None else show(figure.high, SECONDS)
    return (
        f"{figure.limit.name} {show(figure.value, SECONDS)}   {show(figure.low, SECONDS)} … {high} (80 % range), "
        f"limit {show(figure.limit.seconds, SECONDS)}"
    )


def goodput_text(plan: ServingPlan, option: ServingOption) -> str:
    """Goodput of the whole machine, and for what is spent."""
    each = {"dollars": "for each USD/h", "watts": "a watt", "chips": "a chip"}[plan.spending.purpose]
    return (
        f"goodput of all {option.cluster.accelerators} chips: {option.goodput:.3g} {plan.load_unit} within limits "
        f"({option.goodput_per_chip:.3g} a chip, {option.goodput_per_unit:.3g} {each}); {option.edge.name} breaks first"
    )


def option_lines(plan: ServingPlan, option: ServingOption) -> Iterator[str]:
    """An option in full."""
    yield (
        f"{numbered(option.chips, 'chip')} of {option.cluster.accelerators}, {spent_text(plan, option.spent)}"
        if plan.spending.purpose != "chips"
        else f"{numbered(option.chips, 'chip')} of {option.cluster.accelerators}"
    )
    yield layout_text(plan, option)
    yield from map(figure_text, option.chance.figures)
    yield (
        f"limits are kept with a probability of {chance_text(option.chance.kept)}; requests are served as they come "
        f"with one of {percent(option.chance.stable, 0)}"
    )
    yield price_text(option.cost)
    yield (
        f"{whole_text(option.load.throughput or 0.0)} output tokens/s, {whole_text(option.tokens_per_chip)} a chip, "
        f"{option.tokens_per_user:,.1f} a user"
    )
    yield goodput_text(plan, option)
    part = option.longest_part
    yield f"binds: {option.load.occupancy.limited_by}; most of a decoding step: {part.name} ({part.bound})"


def option_cells(plan: ServingPlan, option: ServingOption) -> tuple[str, ...]:
    """An option as a row."""
    rules = option.instance.rules()
    several = len(plan.clusters) > 1
    chip = f" {option.cluster.chip.name}" if several else ""
    spent = f"{option.spent:,.2f}" if plan.spending.purpose == "dollars" else f"{option.spent:,.0f}"
    engine = f" {option.question.engine}" if len(plan.question.engine) > 1 else ""
    return (
        f"{option.chips}",
        spent,
        f"{option.replicas} × {degrees_text(option.question)}{chip}{engine}",
        formats_text(option.question),
        f"{min(rules.token_budget, rules.chunk)}",
        f"{rules.max_sequences}",
        f"{option.goodput:.3g}",
        percent(option.chance.kept, 0),
    )


def dead_end_lines(plan: ServingPlan) -> Iterator[str]:
    """Why nothing serves the load within limits, and what would."""
    dead = plan.dead_end
    if dead is None:
        return
    for reason, count in dead.reasons[:4]:
        yield f"{numbered(count, 'candidate')}: {reason}"
    near = dead.nearest
    if near is not None:
        figures = ", ".join(f"{limit.name} {show(value, SECONDS)}" for limit, value in near.figures)
        yield (
            f"nearest: {near.replicas} × {degrees_text(near.question)}, {formats_text(near.question)}: "
            f"{figures or 'requests come faster than they are served'} ({near.excess:.2f} times what is allowed)"
        )
    for what, command in dead.cures:
        yield f"{what}: {command}"
    if not dead.cures:
        yield "no single change of chips, formats, load or limits that was tried is enough"


def change_rows(plan: ServingPlan) -> Sequence[tuple[str, str, str]]:
    """What would change the answer: a change, the goodput after it, replicas then."""
    return [
        (change.name, percent(change.goodput - 1.0, 0, signed=True), f"{change.replicas}") for change in plan.changes
    ]


def counts_text(plan: ServingPlan) -> str:
    """How the search went."""
    resumed = f", {plan.resumed:,} trials were kept" if plan.resumed else ""
    return (
        f"{plan.candidates:,} candidates, {plan.followed:,} followed in {plan.trials:,} trials{resumed}; "
        f"{show(plan.seconds, SECONDS)}"
    )
