"""The best fusion of a problem, with a proof or a gap; and the best tile size."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from time import perf_counter
from typing import Literal

from volvelle.estimators.dataflow.on_chip import FusionProblem
from volvelle.estimators.dataflow.partition_time import FusionTime, PartitionTimes, fusion_time_with, partition_times_of
from volvelle.estimators.result import Violation
from volvelle.mapping.fusion import Fusion
from volvelle.search.certificate import PROVEN, Certificate
from volvelle.search.fusion.assignment_model import assignment_model, model_size
from volvelle.search.fusion.down_sets import Budget, DownSetPath, shortest_path
from volvelle.search.fusion.each_pass import EachPass
from volvelle.search.fusion.incumbent import Partitions, along_orders, improved
from volvelle.search.fusion.infeasible import reasons
from volvelle.search.fusion.lattice import Lattice
from volvelle.search.fusion.solvers import Solver, cp_sat, gurobi, highs, highs_is_installed

Method = Literal["auto", "exact", "highs", "cp-sat", "gurobi"]

_FIRST_STEPS = 20_000
"""Partitions timed before an upper bound is looked for: small and narrow graphs need none."""
_QUICK_STEPS = 4_000
"""The same where only a good fusion is asked for."""
_WINDOW_STEPS = 60_000
_STATES = 4_000_000
"""Down-sets kept at most: a few gigabytes."""
_MODEL_ENTRIES = 100_000
"""Entries of the largest model handed to a solver when the search gives up; larger ones none proved in a minute."""
_BREADTH = 100_000
"""Partitions timed from one down-set before a graph counts as too wide, if a solver could take over."""
_SEARCH_SHARE = 0.6
"""Share of the time limit the search over down-sets may take before a solver takes over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FusionAnswer(Certificate):
    """The best fusion found, what it takes, and how good it is known to be."""

    fusion: Fusion | None
    """None: there is none, or none was found."""
    timing: FusionTime | None
    method: str
    seconds: float
    states: int = 0
    """Down-sets kept."""
    steps: int = 0
    """Partitions timed on the way."""
    nodes: int = 0
    """Nodes of a solver's tree."""
    violations: tuple[Violation, ...] = ()
    """Why nothing fits, with cures; none where something does."""

    @property
    def time(self) -> float:
        """Seconds of all partitions; infinite without a fusion."""
        return self.timing.time if self.timing is not None else inf


@dataclass(slots=True)
class _Work:
    """One problem on its way to an answer."""

    times_of: PartitionTimes
    deadline: float
    begun: float
    upper: float
    best: Partitions | None = None
    bound: float = 0.0
    states: int = 0
    steps: int = 0
    nodes: int = 0
    method: str = "exact"

    @property
    def slots(self) -> bool:
        """Whether it matters in which slot a kernel runs."""
        return any(kernel.pinned is not None for kernel in self.times_of.kernels)

    @property
    def most(self) -> float:
        return self.times_of.problem.choices.partitions or inf

    def learn(self, found: DownSetPath) -> None:
        self.states, self.steps = max(self.states, found.states), self.steps + found.steps
        self.bound = max(self.bound, found.bound)
        self.offer(found.partitions)

    def offer(self, partitions: Partitions | None) -> None:
        """Keep a fusion if it is better, and fits."""
        if partitions is None or len(partitions) > self.most:
            return
        time = fusion_time_with(self.times_of, decoded(self.times_of, partitions))
        if time.feasible and time.time < self.upper:
            self.upper, self.best = time.time, partitions

    @property
    def settled(self) -> bool:
        return self.bound >= self.upper * (1.0 - PROVEN)

    def answer(self) -> FusionAnswer:
        fusion = decoded(self.times_of, self.best) if self.best is not None else None
        timing = fusion_time_with(self.times_of, fusion) if fusion is not None else None
        none = fusion is None and self.settled and self.upper == inf
        return FusionAnswer(
            fusion=fusion,
            timing=timing,
            bound=min(self.bound, timing.time) if timing is not None else self.bound,
            method=self.method,
            seconds=perf_counter() - self.begun,
            states=self.states,
            steps=self.steps,
            nodes=self.nodes,
            violations=reasons(self.times_of) if none else (),
        )


def decoded(times_of: PartitionTimes, partitions: Sequence[Sequence[int]]) -> Fusion:
    """Kernels by number → the mapping, with the cores and weight pieces its time rests on."""
    parts = [times_of.time_of(members) if members else None for members in partitions]
    names = tuple(tuple(times_of.names[member] for member in members) for members in partitions)
    whole = times_of.shares is not None and all(part is None or part.feasible for part in parts)
    return Fusion(
        partitions=names,
        tiles=times_of.problem.tiles,
        cores=tuple(part.cores if part else () for part in parts) if whole else (),
        weight_tiles=tuple(part.weight_tiles if part else 1 for part in parts),
    )


def fuse(
    problem: FusionProblem,
    *,
    time_limit: float = 60.0,
    method: Method = "auto",
    cutoff: float = inf,
    quick: bool = False,
) -> FusionAnswer:
    """The best fusion of a problem.

    `auto` searches down-sets exactly, and hands what is too wide for that to a solver if one is installed, with the
    best fusion so far to start from. `exact` never asks a solver; the others name one and ask it alone. With a `cutoff`
    only fusions that take less count; where there are none, none is given and the bound is the cutoff. A `quick` answer
    is a good fusion, with what bound comes by the way.
    """
    begun = perf_counter()
    work = _Work(times_of=partition_times_of(problem), deadline=begun + time_limit, begun=begun, upper=cutoff)
    if any(not work.times_of.pieces(number) for number in range(len(work.times_of.names))):
        work.bound, work.upper = inf, inf
    elif method in ("auto", "exact"):
        _exact(work, solver=method == "auto", limit=time_limit, quick=quick)
    else:
        _ask(work, {"highs": highs, "cp-sat": cp_sat, "gurobi": gurobi}[method], method)
    return work.answer()


def _exact(work: _Work, *, solver: bool, limit: float, quick: bool) -> None:
    times_of = work.times_of
    lattice, slots = Lattice(times_of), work.slots
    if not times_of.problem.choices.fuse and not slots:
        # Where sides matter, forward kernels first: they depend on no other.
        order = sorted(range(len(times_of.names)), key=lambda at: lattice.sided and not times_of.kernels[at].forward)
        work.offer(tuple((number,) for number in order))
        if work.best is not None:
            # One by one, kernels take the same in every order.
            work.bound = work.upper
            return
    if lattice.sided and not slots and work.most == inf and times_of.dram_limit == inf:
        passes = EachPass(times_of, lattice.forward, upper=work.upper, deadline=work.deadline)
        passes.solve(quick=quick)
        work.states, work.steps = passes.states, passes.steps
        work.offer(passes.partitions)
        work.bound = max(work.bound, min(passes.bound, work.upper))
        return
    budget = Budget(steps=_QUICK_STEPS if quick else _FIRST_STEPS, deadline=work.deadline, states=_STATES)
    complete, slots = _walk(work, lattice, budget, slots)
    if complete:
        return
    _incumbent(work, slots=slots, steps=_QUICK_STEPS if quick else _WINDOW_STEPS)
    if quick:
        return
    ask = solver and highs_is_installed() and model_size(times_of, _slots_for(work)) <= _MODEL_ENTRIES
    budget = Budget(
        states=_STATES,
        breadth=_BREADTH if ask else inf,
        deadline=min(work.deadline, work.begun + (_SEARCH_SHARE if ask else 0.9) * limit),
    )
    complete, slots = _walk(work, lattice, budget, slots)
    if complete:
        return
    if ask:
        _ask(work, highs, "exact, then highs")
    if not work.settled:
        _incumbent(work, slots=slots, steps=inf)


def _walk(work: _Work, lattice: Lattice, budget: Budget, slots: bool) -> tuple[bool, bool]:
    """Whether the search ended by itself, so that what is known is the optimum, and whether slots were counted.

    They are where the most partitions turn out to bind: the bound holds without.
    """
    while True:
        found = shortest_path(work.times_of, lattice, upper=work.upper, slots=slots, budget=budget)
        work.learn(found)
        if slots or not found.complete or found.partitions is None or len(found.partitions) <= work.most:
            break
        slots = True
    if found.complete:
        work.bound = max(work.bound, min(found.bound, work.upper))
    return found.complete, slots


def _incumbent(work: _Work, *, slots: bool, steps: float) -> None:
    times_of = work.times_of
    if work.best is None:
        _, first = along_orders(times_of, slots=slots, upper=work.upper, deadline=work.deadline)
        if not slots and first is not None and len(first) > work.most:
            _, first = along_orders(times_of, slots=True, upper=work.upper, deadline=work.deadline)
        work.offer(first)
    if work.best is not None and not slots:
        work.offer(improved(times_of, work.best, deadline=work.deadline, steps=steps))


def _slots_for(work: _Work) -> int:
    """Slots of the model: as many as may be, and as pins need."""
    count = len(work.times_of.names)
    if work.most < inf:
        return int(work.most)
    return count + max((kernel.pinned or 0 for kernel in work.times_of.kernels), default=0)


def _ask(work: _Work, solver: Solver, name: str) -> None:
    times_of = work.times_of
    singles = sum(times_of.time_of([number]).time for number in range(len(times_of.names)))
    unit = work.upper if work.upper < inf else singles or 1.0
    model = assignment_model(times_of, _slots_for(work), unit=unit, tight=True)
    start = None
    if work.best is not None and len(work.best) <= model.slots:
        start = model.values_of(times_of, work.best)
    found = solver(model, max(0.1, work.deadline - perf_counter()), start)
    work.method, work.nodes = name, found.nodes
    if found.bound < inf:
        # Solvers round: a bound is trusted to what they promise.
        work.bound = max(work.bound, found.bound * model.unit * (1.0 - PROVEN / 2))
    elif work.best is None:
        work.bound = inf if work.upper == inf else work.upper
    if found.values is not None:
        work.offer(model.partitions(found.values))


@dataclass(frozen=True, slots=True, kw_only=True)
class TileAnswer:
    """The best tile size with its fusion."""

    tile: int | None
    answer: FusionAnswer | None
    bound: float
    """No fusion takes less, whatever the tile size; infinite: none fits."""

    @property
    def proven(self) -> bool:
        """Whether no tile size can do better."""
        return self.answer is None or self.bound >= self.answer.time * (1.0 - PROVEN)


def best_tile(problems: Mapping[int, FusionProblem], *, time_limit: float = 60.0) -> TileAnswer:
    """The best of one problem for each tile size: each solved, or shown unable to beat the best so far."""
    deadline = perf_counter() + time_limit
    tile, best, bound = None, None, inf
    # Fewest kernels' worth of arithmetic first: what is likely best cuts the others short.
    order = sorted(problems, key=lambda size: sum(partition_times_of(problems[size]).balanced))
    for place, size in enumerate(order):
        share = max(0.1, (deadline - perf_counter()) / (len(order) - place))
        cutoff = best.time if best is not None else inf
        found = fuse(problems[size], time_limit=share, cutoff=cutoff)
        bound = min(bound, found.bound)
        if found.fusion is not None and found.time < cutoff:
            tile, best = size, found
    return TileAnswer(tile=tile, answer=best, bound=bound)
