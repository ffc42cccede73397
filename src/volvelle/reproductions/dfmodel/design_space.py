"""DFModel's design space again: 80 machines × 4 workloads, each mapped to a proven optimum and held against the log."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from time import perf_counter
from typing import Any

from volvelle.catalogue.published.dfmodel import DesignPoint, DfModel, Study
from volvelle.estimators.dataflow.on_chip import FusionProblem, Overlap
from volvelle.estimators.dataflow.pipelined_batch import PipelinedBatch
from volvelle.laws.onchip_dataflow import array_peak
from volvelle.laws.utilisation import model_flops_utilisation
from volvelle.quantities import percent
from volvelle.reproductions.dfmodel.kernels import design_problem, design_workload, layer_of, whole_work
from volvelle.reproductions.dfmodel.machine import DesignMachine, machine_of
from volvelle.reproductions.dfmodel.runs import handed
from volvelle.search.fusion.solve import FusionAnswer, fuse

WITHIN = 0.005
"""Relative difference that counts as the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPoint:
    """A design point, and what we find for it."""

    point: DesignPoint
    machine: DesignMachine
    problem: FusionProblem
    answer: FusionAnswer
    """With compute, memory and network at once, as in the heat maps."""
    apart: FusionAnswer
    """With one after another, as in the breakdowns."""
    utilisation: float
    apart_utilisation: float
    described_utilisation: float
    """With the chip as it is described for all other points, where this one's input has another."""

    @property
    def peak(self) -> float:
        """FLOP/s of the whole machine with the chip as described, which the paper takes efficiencies from."""
        return self.machine.chips * self.machine.accelerator.rate

    @property
    def differences(self) -> tuple[float, float, float]:
        """Ours over logged less one: utilisation, cost, power."""
        point, machine = self.point, self.machine
        return self.utilisation / point.utilisation - 1, machine.price / point.cost - 1, machine.power / point.power - 1

    @property
    def within(self) -> bool:
        """Whether all three are those logged."""
        return all(abs(one) <= WITHIN for one in self.differences)

    @property
    def better(self) -> bool:
        """Whether cost and power are those logged and utilisation is higher."""
        return self.differences[0] > WITHIN and all(abs(one) <= WITHIN for one in self.differences[1:])

    @property
    def proven(self) -> bool:
        """Whether no mapping does better."""
        return self.answer.proven and self.apart.proven

    def measure(self, name: str, *, logged: bool = False) -> float:
        """Utilisation (``performance``), FLOP/s ``per_dollar`` or ``per_watt``."""
        point = self.point
        share = point.utilisation if logged else self.utilisation
        if name == "performance":
            return share
        cost, power = (point.cost, point.power) if logged else (self.machine.price, self.machine.power)
        return share * self.peak / {"per_dollar": cost, "per_watt": power}[name]

    @property
    def breakdown(self) -> tuple[float, float, float]:
        """Shares of compute, memory and network in the time of one interval, nothing overlapped."""
        timing = self.apart.timing
        assert timing is not None, "every point has a mapping"
        compute, memory, network = (timing.total(name) for name in ("compute", "memory", "network"))
        whole = compute + memory + network
        return compute / whole, memory / whole, network / whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Departure:
    """A point where ours is not what was logged, or not what was described, with the reason the data give."""

    found: FoundPoint
    kind: str
    """``solver stopped early``, ``edited input`` or ``unexplained``."""
    gap: float | None
    reason: str


@dataclass(frozen=True, kw_only=True)
class DesignSpace:
    """All points."""

    points: tuple[FoundPoint, ...]
    problems: int
    """Different problems that were solved; points that share one share its answer."""
    seconds: float

    @cached_property
    def within_half_percent(self) -> int:
        """Points whose utilisation, cost and power are those logged."""
        return sum(found.within for found in self.points)

    @cached_property
    def better_than_logged(self) -> int:
        """Points whose utilisation is higher than logged, cost and power being the same."""
        return sum(found.better for found in self.points)

    @cached_property
    def proven(self) -> int:
        """Points with a proven optimum."""
        return sum(found.proven for found in self.points)

    @cached_property
    def departures(self) -> tuple[Departure, ...]:
        """Points that differ from the log or from their description, furthest off first."""
        found = [self._departure(one) for one in self.points if not one.within or one.point.cores is not None]
        return tuple(sorted(found, key=lambda one: -abs(one.found.differences[0])))

    @property
    def unexplained(self) -> int:
        """Departures without a reason."""
        return sum(one.kind == "unexplained" for one in self.departures)

    def of(self, workload: Study) -> tuple[FoundPoint, ...]:
        """The 80 points of one workload."""
        return tuple(found for found in self.points if found.point.workload == workload)

    def _departure(self, found: FoundPoint) -> Departure:
        point = found.point
        if found.within:
            lower = found.described_utilisation / point.utilisation - 1
            reason = (
                f"its input has {point.cores} cores where the chip has {found.machine.accelerator.cores}: used here; "
                f"with the chip's own cores utilisation would be {percent(lower, 0, signed=True)} off"
            )
            return Departure(found=found, kind="edited input", gap=point.gap, reason=reason)
        # A log of the very same problem tells as much, where this point's own was written over.
        twins = (one.point for one in self.points if one.problem == found.problem)
        twin = next((one for one in (point, *twins) if one.gap is not None and one.interval is not None), None)
        if not found.better or twin is None:
            return Departure(found=found, kind="unexplained", gap=point.gap, reason="no log says why")
        assert twin.gap is not None, "chosen for having one"
        assert twin.interval is not None, "chosen for having one"
        least = twin.interval * (1.0 - twin.gap)
        if found.answer.time < least * (1.0 - 1e-6):
            reason = f"ours beats even the bound that was logged, {least * 1e3:.3f} ms"
            return Departure(found=found, kind="unexplained", gap=twin.gap, reason=reason)
        whose = (
            "" if twin is point else f" (logged for the same problem on {twin.topology}; its own log is another run)"
        )
        reason = (
            f"the logged solver stopped with {percent(twin.gap)} left to prove{whose}: "
            f"{twin.interval * 1e3:.3f} ms a layer, bound {least * 1e3:.3f} ms; "
            f"ours {found.answer.time * 1e3:.3f} ms, proven"
        )
        return Departure(found=found, kind="solver stopped early", gap=twin.gap, reason=reason)


@dataclass(frozen=True, slots=True)
class PointSolver:
    """Maps workloads of the design space on its machines; points that share a problem share its answer."""

    data: DfModel
    solved: dict[FusionProblem, FusionAnswer] = field(default_factory=dict)

    def solve(self, point: DesignPoint) -> FoundPoint:
        """One point."""
        data = self.data
        machine = machine_of(point, data)
        problem = design_problem(point, machine, data, overlap=Overlap.ALL)
        answer = self._best(problem)
        apart = self._best(design_problem(point, machine, data, overlap=Overlap.NONE))
        described = shown = _utilisation(point, machine, data, answer.time)
        if point.cores is not None:
            chip = machine_of(point, data, described=True)
            again = self._best(design_problem(point, chip, data, overlap=Overlap.ALL))
            described = _utilisation(point, chip, data, again.time)
        return FoundPoint(
            point=point,
            machine=machine,
            problem=problem,
            answer=answer,
            apart=apart,
            utilisation=shown,
            apart_utilisation=_utilisation(point, machine, data, apart.time),
            described_utilisation=described,
        )

    def _best(self, problem: FusionProblem) -> FusionAnswer:
        if problem not in self.solved:
            self.solved[problem] = fuse(problem)
        return self.solved[problem]


def solve_design_space(data: DfModel, *, advance: Callable[[], None] = lambda: None) -> DesignSpace:
    """Map every workload on every machine; `advance` is called after each point."""
    begun = perf_counter()
    solver = PointSolver(data)
    points = []
    for point in data.design_space:
        points.append(solver.solve(point))
        advance()
    return DesignSpace(points=tuple(points), problems=len(solver.solved), seconds=perf_counter() - begun)


def _utilisation(point: DesignPoint, machine: DesignMachine, data: DfModel, interval: float) -> float:
    """Of the whole machine; for a language model over a whole batch, with its pipeline."""
    work, time = whole_work(point, data), interval
    if point.workload == "LLM":
        found = design_workload(point, data)
        layers, batch = found.layers or 1, found.global_batch or 1
        stages, samples = machine.degree("PP"), batch / machine.degree("DP")
        rate = machine.rate("PP") if stages > 1 else inf
        each = handed(layer_of(found))
        whole = PipelinedBatch.of(each, layers=layers, stages=stages, samples=samples, rate=rate)
        time = whole.time(interval)
        work *= layers * batch
    chip = machine.accelerator
    peak = float(array_peak(machine.cores, width=chip.lane_width, height=chip.stage_width, clock=chip.clock))
    return float(model_flops_utilisation(work, time, chips=float(machine.chips), peak=peak))


def design_document(found: DesignSpace) -> dict[str, Any]:
    """What JSON says of it."""
    workloads = tuple(dict.fromkeys(one.point.workload for one in found.points))
    return {
        "points": len(found.points),
        "within_half_percent": found.within_half_percent,
        "better_than_logged": found.better_than_logged,
        "unexplained": found.unexplained,
        "proven": found.proven,
        "problems": found.problems,
        "seconds": round(found.seconds, 3),
        "apart_within_half_percent": sum(
            abs(one.apart_utilisation / one.point.apart_utilisation - 1) <= WITHIN for one in found.points
        ),
        "workloads": {
            name: {
                "points": len(found.of(name)),
                "within_half_percent": sum(one.within for one in found.of(name)),
                "better_than_logged": sum(one.better for one in found.of(name)),
                "figure": found.of(name)[0].point.figure,
            }
            for name in workloads
        },
        "exceptions": [
            {
                **_names(one.found),
                "logged": one.found.point.utilisation,
                "ours": one.found.utilisation,
                "difference": one.found.differences[0],
                "kind": one.kind,
                "gap": one.gap,
                "reason": one.reason,
            }
            for one in found.departures
        ],
        "rows": [
            {
                **_names(one),
                "logged_utilisation": one.point.utilisation,
                "utilisation": one.utilisation,
                "logged_cost_usd": one.point.cost,
                "cost_usd": one.machine.price,
                "logged_power_w": one.point.power,
                "power_w": one.machine.power,
                "logged_apart_utilisation": one.point.apart_utilisation,
                "apart_utilisation": one.apart_utilisation,
                "compute_share": one.breakdown[0],
                "memory_share": one.breakdown[1],
                "network_share": one.breakdown[2],
                "proven": one.proven,
                "within": one.within,
                "source": one.point.source,
            }
            for one in found.points
        ],
    }


def _names(found: FoundPoint) -> dict[str, object]:
    point = found.point
    names = ("workload", "accelerator", "topology", "memory", "link")
    return {"figure": point.figure, **{name: getattr(point, name) for name in names}}
