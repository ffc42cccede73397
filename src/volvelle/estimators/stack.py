"""Software that trains: how far it lets a chip get, as factors on the constants of the chip."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from volvelle.estimators.factored import FACTORED
from volvelle.estimators.own_shapes import OwnRunsTold
from volvelle.quantities import Number, is_plainly

_AT_MOST = {
    "matrix_efficiency": 0.98,
    "memory_efficiency": 0.98,
    "communication_sm_share": 1.0,
    "tensor_exposure": 1.0,
    "hand_over_exposure": 1.0,
}
"""Shares of something physical."""
_SAME = 2e-3
"""By what predictions of one layout may differ: as a log and a catalogue tell its model, a vocabulary padded or not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnRan:
    """What a run of one's own needed of a chip's memory by prediction, and ran."""

    run: str
    """Its place, for people."""
    needed: float
    """Bytes."""
    capacity: float

    @property
    def share(self) -> float:
        """Of all memory; above one, where prediction is too high."""
        return self.needed / self.capacity

    @property
    def fitting(self) -> float:
        """Share of all memory that what is known to fit may need."""
        return self.share * (1.0 + _SAME)

    def same(self, needed: float, capacity: float) -> bool:
        """Whether a layout is that of the run: it needs the very same of no less memory."""
        return abs(needed / self.needed - 1.0) < _SAME and capacity >= self.capacity * (1.0 - _SAME)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """A framework, or several that run the same kernels the same way."""

    name: str
    title: str = ""
    parent: str = ""
    """What it is like, where it was not measured."""
    factors: Mapping[tuple[str, str, str], Number] = field(default_factory=dict)
    """(family of chips, element type, constant) → factor; an empty family or type stands for any."""
    own_errors: Mapping[tuple[str, str], float] = field(default_factory=dict)
    """(Family, element type) → how far whole steps are off after runs of one's own, one standard deviation as a
    factor."""
    own_chips: int | None = None
    """Of the largest run of one's own; None: not known."""
    own_mixture: bool | None = None
    """Whether own runs are of mixtures of experts; None: of both, or not known."""
    own_unpriced: tuple[str, ...] = ()
    """What some of them have that nothing prices: how far such steps are off, they tell."""
    own_runs: Callable[[], OwnRunsTold] | None = None
    """What own runs tell of steps one by one, when asked; None: as `own_errors` has it of any. Its tables are of runs,
    not columns of a machine's variants."""
    own_ran: Mapping[tuple[str, str], tuple[OwnRan, ...]] = field(default_factory=dict)
    """(Family, element type) → what is known to fit, on the very chip."""
    stated_constants: Mapping[str, float] = field(default_factory=dict)
    """Constants that it states: bytes held and moved, such as those a logit that its loss needs, and times of lists."""

    def factor(self, constant: str, family: str, element: str) -> Number:
        """Of the very family and type, or of the family, or of any."""
        for key in ((family, element), (family, ""), ("", element), ("", "")):
            if (*key, constant) in self.factors:
                return self.factors[*key, constant]
        return 1.0

    def applied(self, values: Mapping[str, Any], ideal: Mapping[str, Any], family: str, element: str) -> dict[str, Any]:
        """Constants of a chip as this software has them; `ideal` are those that nobody fitted."""
        found = dict(values)
        for name in FACTORED:
            factor = self.factor(name, family, element)
            if not is_plainly(factor, 1.0):
                value = (values[name] if name in values else ideal[name]) * factor
                # A column of samples is cut as a number is.
                found[name] = value if name not in _AT_MOST else _cut(value, _AT_MOST[name])
        found.update(self.stated_constants)
        if (family, element) in self.own_errors:
            found["step_error"] = self.own_errors[family, element]
        ran = self.own_ran.get((family, element))
        if ran:
            margin = found.get("memory_margin", ideal["memory_margin"])
            found |= {"ran": ran, "memory_margin": min(margin, 1.0 - max(one.fitting for one in ran))}
        return found


def _cut(value: Any, most: float) -> Any:
    return min(value, most) if isinstance(value, float) else value.clip(max=most)
