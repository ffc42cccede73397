"""Constants as a fit finds them, beside those of the catalogue."""

from dataclasses import dataclass

from volvelle.applications.model_error import ModelError
from volvelle.quantities import Quantity

__all__ = ["FittedConstant", "model_error_constants"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedConstant:
    """One constant, fitted again."""

    of: str
    """What it is a constant of: a family, a way of travelling, a kind of software."""
    name: str
    fitted: float
    catalogue: float | None
    """What the catalogue holds; None where it holds none."""
    kind: Quantity | None = None
    """Its unit; None: a plain number."""


def model_error_constants(of: str, fitted: ModelError, held: ModelError) -> tuple[FittedConstant, ...]:
    """The doubts of a model that rows left out of its fit tell; one of 1 is told by none."""
    named = {
        "inside": "model error",
        "chip": "model error, more on another chip",
        "doubling": "model error, more a doubling of chips",
        "link": "model error, more on another link",
    }
    return tuple(
        FittedConstant(of=of, name=words, fitted=getattr(fitted, field), catalogue=getattr(held, field))
        for field, words in named.items()
        if getattr(fitted, field) > 1.0
    )
