"""A number that an answer rests on, written with its unit."""

from dataclasses import dataclass

from volvelle.quantities import Quantity, show
from volvelle.quantities import format as written
from volvelle.spread import Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """A number the answer rests on."""

    name: str
    figure: Figure
    kind: Quantity | None
    """None: a plain number."""

    @property
    def value(self) -> str:
        """With its unit."""
        return self._written(self.figure.value)

    @property
    def low(self) -> str | None:
        """The lower end of four fifths of its spread; None: it has none."""
        return None if self.figure.spread is None else self._written(self.figure.bounds(0.8)[0])

    @property
    def high(self) -> str | None:
        """The upper end."""
        return None if self.figure.spread is None else self._written(self.figure.bounds(0.8)[1])

    def _written(self, value: float) -> str:
        """Without the last digits that arithmetic left."""
        return f"{value:.10g}" if self.kind is None else written(float(f"{value:.10g}"), self.kind)

    def shown(self, value: float) -> str:
        """A value of it, for people."""
        return f"{value:.4g}" if self.kind is None else show(value, self.kind)
