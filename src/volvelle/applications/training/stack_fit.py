"""How far software lets chips get, fitted to all calibration runs at once.

Every run has a factor on each constant of its chip: the product of effects of all runs, of the family of chips, of the
family in an element type (products), of the stack's parent, of the stack, and of the stack on the family. Effects are
small unless runs say otherwise: their logarithms have Gaussian priors, wider the further out. Errors of runs have long
tails (Student's t), and each source counts by less than its size. Effects come from Gauss–Newton steps, cut where they
overshoot; the slope of a run in a constant is what share of its step the constant decides.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import exp, log

import numpy as np
from numpy.typing import NDArray

from volvelle.applications.measured_table import CalibrationRows
from volvelle.applications.training.measurements import TrainingMeasurement
from volvelle.applications.training.models import software_of
from volvelle.applications.training.row_machines import NETWORK_ASSUMED, ONE_TORUS
from volvelle.applications.training.rows import TrainingQuestion, priced_together, training_question
from volvelle.catalogue import Catalogue
from volvelle.catalogue.left_out import SIZE_DOUBLINGS
from volvelle.catalogue.stacks import stack_entries
from volvelle.estimators.factored import CONSTANTS, FACTORED
from volvelle.estimators.training.constant_slopes import factor_logs, log_times_and_slopes
from volvelle.mapping.axis_shardings import EXPERT_DIM
from volvelle.mapping.parallelism import MappingTable
from volvelle.workload.elements import element_bytes

Table = NDArray[np.float64]
Effect = tuple[str, str, tuple[str, ...]]
"""A constant, a kind of effect, and whose it is."""

PRIORS: Mapping[str, Mapping[str, float]] = {
    "matrix_efficiency": {"all": 0.2, "family": 0.15, "element": 0.2, "parent": 0.12, "stack": 0.12, "both": 0.08},
    "memory_efficiency": {"all": 0.1, "family": 0.05, "parent": 0.05, "stack": 0.1},
    "kernel_launch_time": {},
    "host_dispatch_time": {"parent": 0.4, "stack": 0.6, "both": 0.2},
    "attention_efficiency": {"all": 0.3, "family": 0.2, "parent": 0.15, "stack": 0.2, "both": 0.1},
    "communication_sm_share": {"all": 0.3, "family": 0.2, "parent": 0.3, "stack": 0.3, "both": 0.1},
    "tensor_exposure": {"all": 0.2, "family": 0.1, "parent": 0.3, "stack": 0.3, "both": 0.1},
    "hand_over_exposure": {"all": 0.2, "parent": 0.3, "stack": 0.3},
    "routing_dispatch": {"all": 0.8, "family": 0.3, "stack": 0.3},
    "plain_dispatch": {"all": 0.4, "family": 0.2, "stack": 0.3},
}
"""One standard deviation of an effect's logarithm."""
HELD = {(name, "classic"): 1.0 for name in FACTORED} | {
    ("kernel_launch_time", "classic"): 2.4,
    ("host_dispatch_time", "classic"): 1.1,
}
"""Constants of parents whose factors are not fitted here. Those of Ampere were fitted to classic Megatron; what its
kernels, which are many and small, cost beside is fitted to times and to the ranking of layouts together
(`scripts/fit_classic.py`): what is nearest to the times alone ranks layouts worse."""
_SCALE, _FREEDOM = 0.07, 4.0
"""Of the errors of runs."""
_STAND_IN = 3.0
"""How much wider errors are taken to be of models that have something in place of what they are."""
_SOURCE = -0.4
"""Power of a source's size by which its runs count."""
_FOLDS = 5
_WIDE, _NARROW = "bf16", 2
"""What stays wide where products are narrower, and the bytes of an element from which on none is."""


def effects_on(stack: str, family: str, element: str) -> Mapping[str, tuple[str, ...]]:
    """Kind of effect → whose."""
    parent = stack_entries()[stack].parent if stack else ""
    return {
        "all": (),
        "family": (family,),
        "element": (family, element),
        "parent": (parent,),
        "stack": (stack,),
        "both": (stack, family),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A measured run, and whose effects it feels."""

    row: TrainingMeasurement
    question: TrainingQuestion
    seconds: float
    source: str
    family: str
    element: str
    stack: str

    @property
    def scale(self) -> float:
        """Of its error, as a logarithm."""
        return _SCALE * (_STAND_IN if self.stands_in else 1.0)

    @property
    def stands_in(self) -> bool:
        """Whether it is asked about with something in place of what it has."""
        return bool(self.question.work.model.unpriced) or ONE_TORUS in self.question.assumed

    @property
    def network_assumed(self) -> bool:
        """Whether its publication does not state the network that it waited for."""
        return NETWORK_ASSUMED in self.question.assumed

    @property
    def mixture(self) -> bool:
        """Whether it is of a mixture of experts."""
        return EXPERT_DIM in self.question.work.model.sizes

    @property
    def held(self) -> bool:
        """Whether constants of its software are not fitted here, but were those of its chips to such runs."""
        return any(name == stack_entries()[self.stack].parent for _, name in HELD) if self.stack else False

    @property
    def chips(self) -> int:
        """Accelerators that it ran on."""
        return self.row.chips or self.question.system.accelerators

    def feels(self) -> list[tuple[str, Mapping[str, tuple[str, ...]]]]:
        """Every constant of the chip with whose effects it has; last, products that stay in 16 bits among narrower."""
        felt = [(name, effects_on(self.stack, self.family, self.element)) for name in FACTORED]
        narrow = element_bytes(self.element) < _NARROW
        return [*felt, (FACTORED[0], effects_on(self.stack, self.family, _WIDE) if narrow else {})]


@dataclass(frozen=True, slots=True, kw_only=True)
class StackFit:
    """Effects, and how far off runs are with them."""

    effects: Mapping[Effect, float]
    """Logarithms of factors."""
    runs: tuple[Run, ...]
    errors: Table
    """ln(measured / predicted) of every run."""
    new_rows: Table
    """The same of runs left out in turn, a fifth of them at a time."""
    new_sources: Table
    """The same with the whole source left out."""
    new_kinds: Mapping[str, Table]
    """The same with its source and all runs left out that share something with a run: its family of chips, its element
    type there, whether it is a mixture, its size."""

    def factor(self, constant: str, keys: Mapping[str, tuple[str, ...]]) -> float:
        """What a constant of the chip is multiplied by."""
        if (constant, keys["parent"][0]) in HELD:
            return HELD[constant, keys["parent"][0]]
        return exp(sum(self.effects.get((constant, kind, whose), 0.0) for kind, whose in keys.items()))


AXES: Mapping[str, Callable[[Run, Run], bool]] = {
    "chip": lambda run, other: True,
    "precision": lambda run, other: run.element == other.element,
    "kind of model": lambda run, other: run.mixture == other.mixture,
    "size": lambda run, other: other.chips > run.chips / 2**SIZE_DOUBLINGS,
}
"""What a question may leave, and whether a run on the same family of chips shares it with another. Software is left by
publications that are alone with theirs."""


def stack_runs(rows: CalibrationRows[TrainingMeasurement], catalogue: Catalogue) -> tuple[Run, ...]:
    """Calibration runs that can be asked about."""
    return runs_of(rows.rows, catalogue)


def runs_of(rows: Iterable[TrainingMeasurement], catalogue: Catalogue) -> tuple[Run, ...]:
    """Runs that can be asked about, of whichever split: those that are held out must not be fitted to."""
    found = []
    for row in rows:
        asked = training_question(row, catalogue)
        if not isinstance(asked, str) and row.seconds is not None:
            found.append(
                Run(
                    row=row,
                    question=asked,
                    seconds=row.seconds,
                    source=row.head.group,
                    family=asked.system.chip.family,
                    element=asked.work.element,
                    stack=software_of(row),
                )
            )
    return tuple(found)


def shipped_logs(runs: Sequence[Run]) -> Table:
    """Logarithms of the factors that runs are asked about with, a row a run."""
    return np.array([factor_logs(run.question.system, run.element) for run in runs])


def errors_and_slopes(runs: Sequence[Run], logs: Table) -> tuple[Table, Table]:
    """ln(measured / predicted) of every run with these factors, and its slope in the logarithm of every constant."""
    cases = defaultdict[tuple[object, ...], list[int]](list)
    for place, run in enumerate(runs):
        cases[priced_together(run.question)].append(place)
    found, slopes = np.zeros(len(runs)), np.zeros((len(runs), len(CONSTANTS)))
    for places in map(np.array, cases.values()):
        asked = runs[places[0]].question
        table = MappingTable.of([runs[place].question.decision for place in places])
        found[places], slopes[places] = log_times_and_slopes(asked.work, asked.system, table, logs[places])
    return np.log([run.seconds for run in runs]) - found, slopes


def fit_stacks(runs: Sequence[Run], *, rounds: int = 12, start: Mapping[Effect, float] | None = None) -> StackFit:
    """The effects that make runs likeliest, from none or from some."""
    return EffectModel(tuple(runs)).fitted(rounds, start or {})


class EffectModel:
    """Which effects runs feel, and what makes them likeliest."""

    def __init__(self, runs: tuple[Run, ...], *, held: Mapping[tuple[str, str], float] = HELD) -> None:
        self.runs = runs
        self.effects: dict[Effect, int] = {}
        variances: list[float] = []
        felt: list[tuple[int, int, int]] = []
        self.held = np.zeros((len(runs), len(CONSTANTS)))
        for place, run in enumerate(runs):
            for at, (name, keys) in enumerate(run.feels()):
                fixed = held.get((name, keys["parent"][0])) if keys else None
                if fixed is not None:
                    self.held[place, at] = log(fixed)
                    continue
                for kind, whose in keys.items():
                    if kind in PRIORS[name]:
                        number = self.effects.setdefault((name, kind, whose), len(self.effects))
                        if number == len(variances):
                            variances.append(PRIORS[name][kind] ** 2)
                        felt.append((place, at, number))
        self.variances = np.array(variances)
        self.felt = np.zeros((len(runs), len(CONSTANTS), len(variances)))
        for where in felt:
            self.felt[where] = 1.0
        self.holds = np.array([run.held and bool(held) for run in runs])
        sizes = Counter(run.source for run in runs)
        weights = np.array([sizes[run.source] ** _SOURCE for run in runs])
        self.weights = weights / weights.mean()
        self.scales = np.array([run.scale for run in runs])

    def fitted(self, rounds: int, start: Mapping[Effect, float]) -> StackFit:
        """The effects that make runs likeliest, by so many steps at most."""
        effects = np.array([start.get(effect, 0.0) for effect in self.effects])
        errors, slopes = self._errors(effects)
        for _ in range(rounds):
            change = self._change(errors, slopes, effects, np.ones(len(self.runs), dtype=bool))
            before, share = self._unlikely(effects, errors), 1.0
            while share > 0.05:
                tried = effects + share * change
                new_errors, new_slopes = self._errors(tried)
                if self._unlikely(tried, new_errors) < before:
                    effects, errors, slopes = tried, new_errors, new_slopes
                    break
                share /= 2.0
            else:
                break
        folds = np.random.default_rng(0).integers(0, _FOLDS, len(self.runs)).astype(str)
        sources = np.array([run.source for run in self.runs])
        return StackFit(
            effects=dict(zip(self.effects, effects.tolist(), strict=True)),
            runs=self.runs,
            errors=errors,
            new_rows=self._left_out(errors, slopes, effects, folds),
            new_sources=self._left_out(errors, slopes, effects, sources),
            new_kinds={axis: self._unlike(errors, slopes, effects, alike) for axis, alike in AXES.items()},
        )

    def _errors(self, effects: Table) -> tuple[Table, Table]:
        return errors_and_slopes(self.runs, self.felt @ effects + self.held)

    def _unlikely(self, effects: Table, errors: Table) -> float:
        """Minus the logarithm of the likelihood and the prior."""
        tails = (_FREEDOM + 1.0) / 2.0 * np.log1p((errors / self.scales) ** 2 / _FREEDOM)
        return float(self.weights @ tails + (effects**2 / self.variances).sum() / 2.0)

    def _change(self, errors: Table, slopes: Table, effects: Table, kept: NDArray[np.bool_]) -> Table:
        """How effects change to make the runs kept likeliest, as far as slopes tell."""
        felt = np.einsum("rc,rce->re", slopes[kept], self.felt[kept])
        change = np.zeros(len(effects))
        for _ in range(_FOLDS):
            rest = errors[kept] - felt @ change
            scales = self.scales[kept]
            weights = self.weights[kept] * (_FREEDOM + 1.0) / (_FREEDOM + (rest / scales) ** 2) / scales**2
            curvature = felt.T @ (felt * weights[:, None]) + np.diag(1.0 / self.variances)
            change = np.linalg.solve(curvature, felt.T @ (weights * errors[kept]) - effects / self.variances)
        return change

    def covariance(self, errors: Table, slopes: Table, kept: NDArray[np.bool_], *, own: Table) -> Table:
        """What runs that are kept leave open of effects, as far as slopes tell.

        Each source's machines have something of their own, of such variances of constants, which is none of software's:
        what one publication alone tells of software is as open as that.
        """
        felt = np.einsum("rc,rce->re", slopes[kept], self.felt[kept])
        several = own > 0.0
        machines = [(run.source, run.family) for run, there in zip(self.runs, kept, strict=True) if there]
        of_machines = [
            slopes[kept][:, several] * np.array([one == other for other in machines])[:, None]
            for one in dict.fromkeys(machines)
        ]
        variances = np.concatenate([self.variances, np.tile(own[several], len(of_machines))])
        all_felt = np.hstack([felt, *of_machines])
        scales = self.scales[kept]
        weights = self.weights[kept] * (_FREEDOM + 1.0) / (_FREEDOM + (errors[kept] / scales) ** 2) / scales**2
        curvature = all_felt.T @ (all_felt * weights[:, None]) + np.diag(1.0 / variances)
        count = len(self.variances)
        return np.asarray(np.linalg.inv(curvature)[:count, :count], dtype=np.float64)

    @cached_property
    def _freed(self) -> "EffectModel":
        """The same with no constant held."""
        return EffectModel(self.runs, held={})

    def _left_out(self, errors: Table, slopes: Table, effects: Table, groups: NDArray[np.str_]) -> Table:
        """Errors of every group with the effects of all others."""
        found = np.zeros(len(errors))
        for group in np.unique(groups):
            out = groups == group
            found[out] = self._without(errors, slopes, effects, kept=~out)[out]
        return found

    def _unlike(self, errors: Table, slopes: Table, effects: Table, alike: Callable[[Run, Run], bool]) -> Table:
        """Errors of every run with the effects of runs of other sources that do not share something with it."""
        found = np.zeros(len(errors))
        told: dict[bytes, Table] = {}
        for place, run in enumerate(self.runs):
            kept = np.array(
                [
                    other.source != run.source and not (other.family == run.family and alike(run, other))
                    for other in self.runs
                ]
            )
            key = kept.tobytes()
            if key not in told:
                told[key] = self._without(errors, slopes, effects, kept=kept)
            found[place] = told[key][place]
        return found

    def _without(self, errors: Table, slopes: Table, effects: Table, *, kept: NDArray[np.bool_]) -> Table:
        """Errors of all runs with the effects of those kept, as far as slopes tell.

        Constants that are held were fitted to runs too: they are taken to differ by what they would differ by if they
        were fitted here, to the runs kept and to all.
        """
        found: Table = errors - self.felt_by(slopes) @ self._change(errors, slopes, effects, kept)
        if self.holds.any():
            free = self._freed
            nothing, everything = np.zeros(len(free.effects)), np.ones(len(errors), dtype=bool)
            apart = free._change(errors, slopes, nothing, kept) - free._change(errors, slopes, nothing, everything)
            found[self.holds] -= free.felt_by(slopes)[self.holds] @ apart
        return found

    def felt_by(self, slopes: Table) -> Table:
        """Slopes of ln(time) of every run in every effect."""
        return np.asarray(np.einsum("rc,rce->re", slopes, self.felt))


def factors_of(fit: StackFit) -> list[tuple[str, str, str, str, float, int]]:
    """Stack, family, element type, constant, factor and runs behind it, of all families that were run on.

    Where a stack was not run on a family, what is known of both counts; on other families what the stack changes.
    """
    seen = Counter((run.stack, run.family, run.element) for run in fit.runs)
    families = sorted({(run.family, run.element) for run in fit.runs})
    rows = []
    for stack, entry in stack_entries().items():
        for family, element in families:
            keys = effects_on(stack, family, element)
            rows += [
                (stack, family, element, name, fit.factor(name, keys), seen[stack, family, element])
                for name in FACTORED
            ]
        elsewhere = {"parent": (entry.parent,), "stack": (stack,)}
        rows += [(stack, "", "", name, fit.factor(name, elsewhere), 0) for name in FACTORED]
    return rows
