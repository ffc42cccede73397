"""Transfers that take longer than the closed form says, or no time at all."""

from dataclasses import dataclass

from volvelle.mapping.axes import Axis


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """By what factor the transfers of a step differ from the closed form's; 0: they take no time."""

    axes: tuple[tuple[Axis, float], ...] = ()
    """Exchanges inside blocks by their axis, those between replicas (data), from stage to stage (pipeline)."""
    host: float = 1.0
    """What streams to and from host memory."""

    def of(self, axis: Axis) -> float:
        """The factor of an axis; 1 where none is given."""
        return dict(self.axes).get(axis, 1.0)


AS_PRICED = Stretch()
