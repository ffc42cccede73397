"""How far whole training steps may be off: within what runs tell of, and beyond it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from math import exp, log, log2, sqrt

import numpy as np
from numpy.typing import NDArray

from volvelle.estimators.factored import open_variance
from volvelle.laws.model_error import combined_doubt
from volvelle.spread import model_reach

Table = NDArray[np.float64]
_LEVEL = 0.8
CHIP, SOFTWARE, PRECISION, KIND, SIZE = "chip", "software", "precision", "kind of model", "size"
"""Ways in which a question leaves what runs tell of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedRuns:
    """Runs alike in all that a question may leave but their size."""

    family: str
    element: str
    stack: str
    mixture: bool
    chips: int
    """Of the largest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepErrors:
    """How far steps were off that their fit did not see, one standard deviation as a factor; and of which runs."""

    inside: Mapping[str, float]
    """By family of chips, where some run on it shares all but the publication."""
    anywhere: float
    """Of all families."""
    beyond: Mapping[str, float]
    """What leaving a way adds; of size, a doubling."""
    timed: tuple[TimedRuns, ...]
    scatter: float = 0.0
    """One standard deviation of a run around what the constants of its software and chips say, as a logarithm."""
    network: float = 0.0
    """The same of what a run waits for the network, by itself."""
    unknown_network: float = 0.0
    """The same of what steps wait for a network that no run told of."""
    unpriced: float = 1.0
    """What adds to the error of a step that has something which nothing prices."""
    stretch: float = 0.0
    """What four fifths of runs keep to, in standard deviations by that and by what is open of constants."""
    tilt: float = 0.0
    """By so much, as a logarithm, steps take longer than is said by more, and less long by less."""
    constants: Callable[[str, str, str], Table | None] | None = None
    """Software, family and element type → covariance of logarithms of constants; None: nothing is known of them."""

    def of_step(self, slopes: Callable[[], Table], family: str, element: str, stack: str) -> float | None:
        """One standard deviation as a factor, of a step by its slopes in the constants that are open.

        None where they are not known, or nothing ran on the family.
        """
        open_ = None if self.constants is None or family not in self.inside else self.constants(stack, family, element)
        if open_ is None:
            return None
        felt = slopes()
        variance = open_variance(felt[None], open_, scatter=self.scatter, network=self.network)
        return exp(self.stretch / model_reach(_LEVEL) * sqrt(float(variance[0])))

    def left(
        self, family: str, element: str, stack: str, *, mixture: bool | None = None, chips: int | None = None
    ) -> dict[str, float]:
        """In which ways a question leaves what runs tell of, and by how many steps; what is None is not asked.

        On a family of chips that nothing ran on, software, type, kind and size are held against runs on any.
        """
        near = [runs for runs in self.timed if runs.family == family]
        found = {} if near else {CHIP: 1.0}
        near = near or list(self.timed)
        if stack and all(runs.stack != stack for runs in near):
            found[SOFTWARE] = 1.0
        if all(runs.element != element for runs in near):
            found[PRECISION] = 1.0
        if mixture is not None and all(runs.mixture != mixture for runs in near):
            found[KIND] = 1.0
        largest = self.largest(family, stack)
        if chips is not None and chips > largest:
            found[SIZE] = log2(chips / largest)
        return found

    def largest(self, family: str, stack: str) -> int:
        """Chips of the largest run on a family, of the very software where any is; on any family, if on it none is."""
        near = [runs for runs in self.timed if runs.family == family] or list(self.timed)
        return max(runs.chips for runs in [runs for runs in near if runs.stack == stack] or near)

    def of_its_own(self, left: Mapping[str, float], error: float) -> float:
        """The error of a step by what is open of constants, and what they do not tell: kind of model and size."""
        return self.beside({way: steps for way, steps in left.items() if way in (KIND, SIZE)}, error)

    def on(
        self, left: Mapping[str, float], family: str, *, stated: float | None = None, named: bool = True
    ) -> float | None:
        """One standard deviation as a factor, of a question that leaves in these ways.

        On chips that nothing ran on it is as `stated` of them; with software that is `named`, which runs on other chips
        fitted, at least as on any such chips. None: nothing is stated.
        """
        found = self.beside(left, self.inside.get(family, self.anywhere))
        if CHIP not in left:
            return found
        rest = {way: steps for way, steps in left.items() if way != CHIP}
        if stated is None:
            return None
        told = self.beside(rest, stated)
        return max(found, told) if named else told

    def beside(self, left: Mapping[str, float], error: float) -> float:
        """An error, and what leaving in these ways adds to it."""
        return float(combined_doubt(error, [(self.beyond[way], steps) for way, steps in left.items()]))


def own_runs_left(most_chips: int | None, of_mixtures: bool | None, *, mixture: bool, chips: int) -> dict[str, float]:
    """In which ways a question leaves runs of one's own of the same chips and type, and by how many steps."""
    found = {KIND: 1.0} if of_mixtures is not None and of_mixtures != mixture else {}
    if most_chips is not None and chips > most_chips:
        found[SIZE] = log2(chips / most_chips)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class StepError:
    """How far one step may be off."""

    factor: float | None
    """One standard deviation; None: nothing was measured on such chips."""
    left: Mapping[str, float] = field(default_factory=dict)
    """Ways in which it leaves what runs tell of, with how many steps."""
    of: StepErrors | None = None
    """None: runs of one's own, or a number that was stated."""
    own: bool = False
    """Whether runs of one's own tell it."""
    by_constants: bool = False
    """Whether it is of the very step, by what is open of constants; if not, of any on such chips."""
    waits: float = 0.0
    """One standard deviation, as a logarithm, of what it waits for a network whose chips nothing ran on."""
    unpriced: tuple[str, ...] = ()
    """What it has that nothing prices, where it is wider by that."""
    unpriced_error: float = 0.0
    """By how much: one standard deviation, as a logarithm."""
    told: tuple[str, ...] = ()
    """Of what nothing prices, what runs of one's own tell all the same."""

    @property
    def tilt(self) -> float:
        """As published runs have it; neither runs of one's own tell it, nor an error that is taken or stated."""
        told = self.of is not None and not self.own and self.factor is not None and CHIP not in self.left
        return self.of.tilt if self.of is not None and told else 0.0

    def or_else(self, unvalidated: float) -> float:
        """The factor, or where nothing was measured one that is taken, with what other ways of leaving add."""
        if self.factor is not None:
            return self.factor
        rest = {way: steps for way, steps in self.left.items() if way != CHIP}
        taken = unvalidated if self.of is None else self.of.beside(rest, unvalidated)
        return _beside(taken, self.unpriced_error, self.waits)

    def having(self, unpriced: tuple[str, ...], error: float) -> "StepError":
        """Of a step that has what nothing prices, by which steps are off by so much more, as a factor."""
        untold = tuple(word for word in unpriced if word not in self.told)
        if not untold or error == 1.0:
            return self
        factor = None if self.factor is None else _beside(self.factor, log(error))
        return replace(self, factor=factor, unpriced=untold, unpriced_error=log(error))

    def waiting(self, share: float) -> "StepError":
        """Of a step of which such a share waits for the network; within what runs tell of, that is in it already."""
        if CHIP not in self.left or self.of is None:
            return self
        found = replace(self, waits=share * self.of.unknown_network)
        return found if found.factor is None else replace(found, factor=_beside(found.factor, found.waits))


def _beside(factor: float, *deviations: float) -> float:
    return float(combined_doubt(factor, [(exp(deviation), 1.0) for deviation in deviations]))


def told_by_runs(logs: Table, deviation: float) -> Table:
    """Logarithms of times as inputs vary, drawn together where runs leave no more open than one standard deviation."""
    centre, spread = float(np.median(logs)), float(np.std(logs))
    return logs if spread <= deviation else np.asarray(centre + (logs - centre) * deviation / spread)
