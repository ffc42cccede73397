"""Layouts of a ranking as people compare them: ties merged, the best of each kind, what launches them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from math import log

from volvelle.applications.training.evidence import RangeBasis
from volvelle.catalogue.residuals import measured_kind, pair_spread
from volvelle.errors import MappingError
from volvelle.estimators.result import TrainingEstimate
from volvelle.laws.model_error import chance_of_order
from volvelle.laws.utilisation import model_flops_utilisation
from volvelle.mapping.axis_shardings import EXPERT_DIM
from volvelle.mapping.kinds import Kind, kind_of, kinds
from volvelle.mapping.parallelism import MappingTable, ParallelMapping
from volvelle.questions.plan import FRAMEWORKS, Framework
from volvelle.search.exhaustive import Ranked, Ranking
from volvelle.workload.families.shape import Transformer
from volvelle.workload.training import TrainingStep

_TIED = 0.01
"""How much slower than another of the same degrees and kind a layout is shown as one with it."""
_BIASED = 0.1
"""A bias of predictions from which on it is told."""
_FEW = 3
"""Measured runs of a kind, below which its place rests on formulas."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A layout of a ranking, and what it gives."""

    mapping: ParallelMapping
    time: float
    utilisation: float
    """Model FLOPs utilisation."""
    memory_bytes: float
    kind: Kind
    ties: int = 0
    """Layouts of the same degrees and kind that the model tells from it by less than 1 % and that stand for none."""
    frameworks: tuple[Framework, ...] = ()
    """Those whose launch flags can say it."""
    measured_runs: int = 0
    """Calibration runs with layouts of its kind, of dense models or of mixtures as the model is one."""
    bias: float | None = None
    """Of predictions of such runs from publications that were not fitted to; None: there are none."""
    p_fit: float | None = None
    """Chance that its memory suffices; None: that was not asked."""
    p_best: float | None = None
    """Chance that it is the fastest of those compared, those that fit."""
    regret: float | None = None
    """How much longer it takes than the fastest in the mean, where it fits."""
    basis: RangeBasis | None = None
    """What the range of its time rests on; None: that was not asked."""


class Layouts:
    """Makes layouts of ranked ones."""

    def __init__(self, shape: Transformer | None, step: TrainingStep, like: TrainingEstimate) -> None:
        """Layouts of a step of a model; `like` is the estimate of one of them."""
        self.shape, self.step, self.like = shape, step, like
        self.mixture = EXPERT_DIM in step.model.sizes

    def plain(self, ranked: Ranked) -> Layout:
        """A ranked layout with what it gives."""
        return self._of_kind(ranked, kind_of(ranked.mapping))

    def _of_kind(self, ranked: Ranked, kind: Kind) -> Layout:
        used = model_flops_utilisation(self.like.work, ranked.time, chips=self.like.chips, peak=self.like.peak)
        return Layout(
            mapping=ranked.mapping,
            time=ranked.time,
            utilisation=float(used),
            memory_bytes=ranked.memory,
            kind=kind,
        )

    def whole(self, layout: Layout) -> Layout:
        """A layout with what can launch it, and what measured runs say of its kind."""
        known = measured_kind(layout.kind, mixture=self.mixture)
        able = tuple(name for name in FRAMEWORKS if self._launches(name, layout.mapping))
        return replace(layout, frameworks=able, measured_runs=known.runs, bias=known.bias)

    def merged(self, ranked: Sequence[Ranked]) -> tuple[Layout, ...]:
        """The fastest layouts; of layouts that tie only the first, with the number of the others."""
        found: list[Layout] = []
        alike: dict[object, list[int]] = {}
        of_kind = kinds(MappingTable.of([one.mapping for one in ranked]))
        for one, kind in zip(ranked, map(int, of_kind), strict=True):
            places = alike.setdefault(_read_as(one.mapping, kind), [])
            place = next((at for at in places if one.time <= found[at].time * (1 + _TIED)), None)
            if place is not None:
                found[place] = replace(found[place], ties=found[place].ties + 1)
            else:
                places.append(len(found))
                found.append(self._of_kind(one, Kind(kind)))
        return tuple(found)

    def of_kinds(self, ranking: Ranking) -> tuple[Layout, ...]:
        """The fastest of each kind, fastest first."""
        return tuple(self.plain(ranked) for _, ranked in ranking.of_kinds)

    def _launches(self, framework: Framework, mapping: ParallelMapping) -> bool:
        if self.shape is None:
            return False
        try:
            launch_flags(framework, self.shape, self.step, mapping)
        except MappingError:
            return False
        return True


def _read_as(mapping: ParallelMapping, kind: int) -> object:
    """What is the same of two layouts that are one for a reader, if the model does not tell their times apart."""
    return mapping.shown, mapping.ulysses, mapping.expert_tensor_parallel, kind


def launch_flags(framework: Framework, shape: Transformer, step: TrainingStep, mapping: ParallelMapping) -> str:
    """What starts such a step; refuses what the framework cannot say."""
    if framework == "fsdp":  # Accelerate exchanges gradients in the type of the products
        step = replace(step, gradient_element=step.element)
    return str(import_module(f"volvelle.interchange.launch.{framework}").emit(shape, step, mapping))


def known_faults(best_of_kinds: Sequence[Layout]) -> tuple[str, ...]:
    """What is known to be wrong or untried about the first of the kinds, each as a sentence."""
    first, *others = best_of_kinds
    told = []
    if first.measured_runs < _FEW:
        seen = next(
            (
                f"; {other.kind.word} was measured ({other.measured_runs} runs), "
                f"{100 * abs(other.time / first.time - 1):.1f} % "
                f"{'slower' if other.time >= first.time else 'faster'} here"
                for other in others
                if other.measured_runs >= _FEW
            ),
            "",
        )
        told.append(f"no measured run is of the first kind, {first.kind.word}: its place rests on formulas alone{seen}")
    elif first.bias is not None and abs(first.bias) > _BIASED:
        told.append(
            f"measured runs of the first kind ({first.measured_runs}) were predicted {100 * abs(first.bias):.0f} % too "
            f"{'slow' if first.bias > 0 else 'fast'}, where their publication was not fitted to"
        )
    if others and others[0].time >= first.time:
        chance = float(chance_of_order(log(others[0].time / first.time), spread=pair_spread()))
        told.append(
            f"the first two kinds run in the order predicted with a chance of {100 * chance:.0f} %, by the spread of "
            "measured pairs of layouts"
        )
    return tuple(told)
