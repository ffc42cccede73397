"""The best layouts of a model on a machine, ranked, and why the first is first."""

import shlex
import time
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from volvelle.applications.training.evidence import RangeBasis, step_basis
from volvelle.applications.training.training_step import training_step
from volvelle.base.python_function import asks
from volvelle.catalogue.prices import owned_costs
from volvelle.catalogue.residuals import LayoutPairs, layout_pairs
from volvelle.domains import within_domains
from volvelle.economics.training_run import TrainingRun, run_tokens
from volvelle.errors import DescriptionError, MappingError, MissingFigureError, UnknownNameError
from volvelle.estimators.result import TrainingEstimate
from volvelle.estimators.step_figures import WithStepFigures
from volvelle.estimators.training.closed_form import ClosedForm
from volvelle.estimators.uncertainty import UnderUncertainty
from volvelle.mapping.kinds import Kind
from volvelle.mapping.parallelism import CHOICES, Schedule
from volvelle.presentable import Presentable
from volvelle.quantities import percent
from volvelle.questions.plan import Framework, PlanQuestion, Rank
from volvelle.search.exhaustive import Ranking, search
from volvelle.search.sensitivity import Sensitivity, sensitivity
from volvelle.search.space import Space, usual_context, usual_gaps
from volvelle.system.cluster import Cluster
from volvelle.verbs.differences import Difference, Side, difference, side_of
from volvelle.verbs.estimate import run_of
from volvelle.verbs.layouts import Layout, Layouts, known_faults, launch_flags
from volvelle.verbs.likely_best import contenders, contest, with_chances_to_fit
from volvelle.verbs.named import NO_BATCH, catalogue_of, cluster_of, forward_pass
from volvelle.verbs.outside import refuse_outside
from volvelle.verbs.settling import Settling, settling
from volvelle.verbs.trained import Trained, trained
from volvelle.verbs.ways_out import DeadEnd, dead_end
from volvelle.verbs.what_if import beside_baseline
from volvelle.workload.families.shape import Transformer
from volvelle.workload.training import TrainingStep

_KEPT = 1000
"""Layouts that a search keeps: enough that those left after ties are all that may be the fastest, and for a framework
to find one that it can launch. The same however many are shown."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Plan(WithStepFigures, Presentable):
    """A ranking with what explains it.

    Its figures are those of the first layout: `time` in seconds per step, `throughput` in tokens per second,
    `utilisation` (MFU), and `memory` of the fullest GPU in bytes. If no layout fits, they raise `MissingFigureError`.

    Examples
    --------
    >>> import volvelle
    >>> answer = volvelle.plan("llama3-8b", on="dgx-h100/8", batch=64, tensor=(1, 2), zero=1)
    >>> answer.time.low < answer.time.value < answer.time.high
    True
    """

    model: str
    shape: Transformer | None
    """The model's architecture; None: a workload was given."""
    step: TrainingStep
    cluster: Cluster
    ranking: Ranking
    layouts: tuple[Layout, ...]
    """Those that can run, fastest first, those that tie as one."""
    kinds: tuple[Layout, ...]
    """The first of each kind, in the order that was asked for."""
    nearest: Layout | None
    """The fastest that only memory forbids, where it is faster than the best."""
    explained: tuple[TrainingEstimate, ...]
    """The first of the first two kinds (or of the only one), in full: the first is also the first of `layouts`."""
    sensitivity: Sequence[Sensitivity]
    seconds: float
    """How long the search took."""
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    """What is known to be wrong or untried about the first layout."""
    compared: int | None = None
    """The number of layouts among which chances of being the fastest are shared out, whatever is shown of them."""
    rank: Rank = "centre"
    """What orders `layouts` and `kinds`."""
    sharing: int | None = None
    """How many of the likeliest layouts have nine tenths of the chance of being the fastest."""
    likeliest: Layout | None = None
    """The layout with the highest probability of being the fastest, of all that were compared."""
    settling: Settling | None = None
    """What would tell which of the two likeliest is faster; None: one is likely enough to be the fastest."""
    run: TrainingRun | None = None
    """Of all tokens by the first layout, where they were given."""
    dead_end: DeadEnd | None = None
    """Where nothing fits: by how much, and what would."""
    samples: NDArray[np.float64] | None = field(default=None, repr=False, compare=False)
    """Seconds of the first layout's step on sampled machines."""
    baseline: "Plan | None" = None
    """The same on the machine as it is, where some of its numbers were set."""

    def _timed(self) -> TrainingEstimate:
        if self.best is None:
            raise MissingFigureError("the plan has no figures: no layout fits")
        return self.best

    def _held(self) -> TrainingEstimate:
        return self._timed()

    @property
    def order(self) -> str:
        """A word for the first layout by what orders them."""
        return "likeliest" if self.rank == "likely" else "fastest"

    @property
    def side(self) -> Side | None:
        """What of its first layout is compared with other answers; None: it has none."""
        if self.best is None:
            return None
        return side_of(self.step, self.cluster, self.best, searched=True)

    @property
    def difference(self) -> Difference | None:
        """From the machine as it is, where some of its numbers were set and both have a layout."""
        ours, theirs = self.side, None if self.baseline is None else self.baseline.side
        return None if ours is None or theirs is None else difference(ours, theirs)

    @property
    def sequence(self) -> int:
        """Tokens of a sequence."""
        return int(self.step.model.sizes.get("position", 1))

    @property
    def trained(self) -> Trained:
        """What of the model is trained."""
        return trained(self.step)

    @property
    def basis(self) -> RangeBasis:
        """What ranges rest on."""
        return step_basis(self.cluster, self.step, None if self.best is None else self.best.mapping)

    def rested(self, layouts: Sequence[Layout]) -> tuple[Layout, ...]:
        """Layouts with what the range of each rests on: by another, a step feels other constants."""
        return tuple(replace(one, basis=step_basis(self.cluster, self.step, one.mapping)) for one in layouts)

    @property
    def rested_layouts(self) -> tuple[Layout, ...]:
        """All that are kept."""
        return self.rested(self.layouts)

    @property
    def rested_kinds(self) -> tuple[Layout, ...]:
        """The fastest of each kind."""
        return self.rested(self.kinds)

    @property
    def layout_error(self) -> LayoutPairs | None:
        """What chances of being the fastest rest on beside the machine's numbers; None: there is no layout."""
        return layout_pairs() if self.layouts else None

    @property
    def best(self) -> TrainingEstimate | None:
        """The first layout in full; None: none can run."""
        return self.explained[0] if self.explained else None


@asks(PlanQuestion)
@beside_baseline
def plan(question: PlanQuestion) -> Plan:
    """Return the layouts of a model on a machine in their order; the `top` fastest that do not tie are kept.

    Any field of a layout may be given a value or several to consider (``tensor=(4, 8), zero=1``); the usual values are
    searched for the others. `rank` orders the layouts that are kept by predicted time, by the probability of being the
    fastest (``"likely"``) or by mean time (``"expected"``). With a `framework`, only layouts that it can run are
    considered. `progress` is called with the number of layouts looked at. With `tokens`, the plan contains the whole
    run of the first layout. `set` changes fields of the machine; the plan then contains the plan for the unchanged
    machine as its `baseline`. A first layout that `estimate` would reject is rejected unless `anyway` is true.
    """
    if question.batch is None:
        raise DescriptionError(NO_BATCH)
    known = catalogue_of(question.catalogue)
    shape, forward, notes = forward_pass(question.model, known, question.sequence)
    stack, margin, changes = question.software, question.margin, question.set
    cluster = cluster_of(question.on, known, stack=stack, margin=margin, changes=changes)
    length = int(forward.sizes.get("position", 1))
    recipe, framework = question.recipe, question.framework
    if framework == "fsdp":  # Accelerate exchanges gradients in the type of the products
        recipe = {"gradients": question.element, **recipe}
    step = training_step(
        forward, batch=question.batch, element=question.element, expert_load=question.expert_load, **recipe
    )
    if question.tokens is not None:
        run_tokens(question.tokens, step.tokens)
    space, considered = question.space, question.considered
    if space is None:
        space = considered_space(considered, length, framework, offload=question.offload)
    elif considered:
        raise MappingError(f"both a space and {', '.join(sorted(considered))} are given; give one or the other")
    estimator = ClosedForm()
    start = time.perf_counter()
    ranking = search(space, step, cluster, estimator, top=_KEPT, progress=question.progress)
    seconds = time.perf_counter() - start

    asked = Plan(
        model=forward.name,
        shape=shape,
        step=step,
        cluster=cluster,
        ranking=ranking,
        layouts=(),
        kinds=(),
        nearest=None,
        explained=(),
        sensitivity=(),
        seconds=seconds,
        notes=notes,
    )
    if not ranking.best:
        named = isinstance(question.on, str) and framework is None
        machine = (lambda name: cluster_of(name, known, stack=stack, margin=margin, changes=changes)) if named else None
        typed = shlex.join(question.typed(without=("on", "framework")))
        return replace(asked, dead_end=dead_end(typed, space, step, cluster, catalogue=known, machine=machine))
    return _explained(asked, question.top, estimator, question.tokens, question.rank, anyway=question.anyway)


def _explained(
    asked: Plan, top: int, estimator: ClosedForm, tokens: str | float | None, rank: Rank, *, anyway: bool
) -> Plan:
    """A plan that has a layout, with what explains it."""
    step, cluster, ranking = asked.step, asked.cluster, asked.ranking
    sure = UnderUncertainty(estimator=estimator)
    timed, samples = sure.with_samples(step, cluster, ranking.best[0].mapping)
    made = Layouts(asked.shape, step, timed)
    merged, of_kinds = made.merged(ranking.best), made.of_kinds(ranking)
    rivals = contenders(merged)
    others = tuple(kind for kind in of_kinds if kind.mapping not in {layout.mapping for layout in rivals})
    compared = contest(step, cluster, (*rivals, *others), estimator, rank=rank)
    first = compared.layouts[0].mapping
    if first != timed.mapping:  # the likeliest need not be the one predicted to be the fastest
        timed, samples = sure.with_samples(step, cluster, first)
    refuse_outside(step, cluster, first, timed.time_range, anyway=anyway)
    best_of_kinds: dict[Kind, Layout] = {}
    for layout in compared.layouts:
        best_of_kinds.setdefault(layout.kind, layout)
    among = {layout.mapping for layout in compared.layouts}
    shown = (*compared.layouts, *(layout for layout in merged if layout.mapping not in among))[:top]
    told = {
        layout.mapping: made.whole(layout)
        for layout in with_chances_to_fit(
            step, cluster, tuple(dict.fromkeys((*shown, *best_of_kinds.values(), compared.likeliest))), estimator
        )
    }
    kinds = tuple(told[layout.mapping] for layout in best_of_kinds.values())
    return replace(
        asked,
        layouts=tuple(told[layout.mapping] for layout in shown),
        kinds=kinds,
        rank=rank,
        compared=len(compared.layouts),
        sharing=compared.sharing,
        likeliest=told[compared.likeliest.mapping],
        settling=settling(compared.layouts),
        nearest=None if ranking.nearest is None else made.plain(ranking.nearest),
        explained=(timed, *(estimator.estimate(step, cluster, other.mapping) for other in kinds[1:2])),
        sensitivity=sensitivity(step, cluster, first, estimator),
        warnings=known_faults(kinds),
        samples=samples.time,
        run=None if tokens is None else run_of(tokens, timed, owned_costs(timed, cluster, samples=samples), cluster),
    )


def considered_space(
    considered: Mapping[str, Any], length: int, framework: Framework | None = None, *, offload: bool
) -> Space:
    """What is given, else the usual, else what the framework knows."""
    known = {choice.name: choice for choice in CHOICES}
    values: dict[str, Any] = {"context": usual_context(length), "recompute_every": usual_gaps}
    if framework == "fsdp":
        values["zero"] = (2, 3)
    if framework in ("megatron", "deepspeed", "fsdp"):
        values["schedule"] = (Schedule.ONE_FORWARD_ONE_BACKWARD,)
    if offload:
        values |= {choice.name: (False, True) for choice in CHOICES if choice.listed == "offload"}
    for name, given in considered.items():
        if name not in known:
            raise UnknownNameError.among("field of a layout", name, known)
        listed = given.tolist() if isinstance(given, np.ndarray) else given
        several = (listed,) if isinstance(listed, str) or not isinstance(listed, Iterable) else tuple(listed)
        if given is not None and several:
            values[name] = tuple(sorted(several, key=str)) if isinstance(listed, Set) else several
    if framework in ("deepspeed", "fsdp"):  # these know neither pipelines nor sequence parallelism
        values |= {"pipeline": (1,), "sequence_parallel": (False,)}
    return Space(**values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """Launch flags of the fastest layout that a framework can express; printed, they are ready to be copied."""

    flags: str
    note: str = ""
    """What that cost, where faster layouts cannot be expressed."""

    def __str__(self) -> str:
        return self.flags


@within_domains
def launch(plan: Plan, framework: Framework) -> Launch:
    """Launch flags of a plan's fastest layout that a framework can express, and what that cost."""
    if plan.shape is None:
        raise MappingError(f"{framework} launches models; this plan is of the workload {plan.model!r}")
    refused: list[str] = []
    layouts = plan.ranking.best
    for place, ranked in enumerate(layouts, start=1):
        try:
            flags = launch_flags(framework, plan.shape, plan.step, ranked.mapping)
        except MappingError as error:
            refused.append(str(error))
            continue
        if not refused:
            return Launch(flags=flags)
        slower = ranked.time / layouts[0].time - 1
        note = f"layout {place}, {percent(slower)} slower than the first; {framework} cannot express those before it"
        return Launch(flags=flags, note=f"{note} ({refused[0]})")
    raise MappingError(
        f"{framework} can express none of the {len(refused)} fastest layouts; the first fails because {refused[0]}"
        if refused
        else "no layout fits, so there is nothing to launch"
    )
