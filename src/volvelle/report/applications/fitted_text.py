"""Fitted constants beside those of the catalogue, as a person reads them, and for other programs."""

from collections.abc import Sequence

from volvelle.applications.fitted_constants import FittedConstant
from volvelle.quantities import FRACTION, Quantity, show
from volvelle.report.applications.scores_text import show_table, wide_console

__all__ = ["fitted_document", "print_fitted", "shown_constant"]


def print_fitted(title: str, constants: Sequence[FittedConstant], notes: Sequence[str]) -> None:
    """A table, and below it what else there is to say."""
    show_table(
        title,
        ("of", "constant"),
        ("fitted", "catalogue"),
        (
            (each.of, each.name, shown_constant(each.fitted, each.kind), shown_constant(each.catalogue, each.kind))
            for each in constants
        ),
    )
    for note in notes:
        wide_console().print(note)


def fitted_document(constants: Sequence[FittedConstant], notes: Sequence[str]) -> dict[str, object]:
    """The same in SI units."""
    return {
        "constants": [
            {"of": each.of, "constant": each.name, "fitted": each.fitted, "catalogue": each.catalogue}
            for each in constants
        ],
        "notes": list(notes),
    }


def shown_constant(value: float | None, kind: Quantity | None) -> str:
    """A constant in its unit; a dash where there is none."""
    if value is None:
        return "–"
    if kind is FRACTION:
        return f"{value:.1%}"
    return f"{value:.3g}" if kind is None else show(value, kind)
