"""Fitted constants beside those of the catalogue, as a person reads them."""

from volvelle.applications.fitted_constants import Fit, FittedConstant
from volvelle.quantities import FRACTION, Quantity, percent, show
from volvelle.report.terminal import show_table, wide_console


def print_fit(title: str, fit: Fit) -> None:
    """A table, and below it what else there is to say."""
    ranged = any(constant.low is not None for constant in fit.constants)
    counted = any(constant.rows is not None for constant in fit.constants)
    show_table(
        title,
        ("of", "constant"),
        ("fitted", *(("does nearly as well",) if ranged else ()), "catalogue", *(("rows",) if counted else ())),
        (
            (
                constant.of,
                constant.name.replace("_", " "),
                shown_constant(constant.fitted, constant.kind),
                *((_ends(constant),) if ranged else ()),
                shown_constant(constant.catalogue, constant.kind),
                *((str(constant.rows),) if counted else ()),
            )
            for constant in fit.constants
        ),
    )
    for note in fit.notes:
        wide_console().print(note)


def _ends(constant: FittedConstant) -> str:
    return " … ".join(shown_constant(end, constant.kind) for end in (constant.low, constant.high))


def shown_constant(value: float | None, kind: Quantity | None) -> str:
    """A constant in its unit; a dash where there is none."""
    if value is None:
        return "–"
    if kind is FRACTION:
        return f"{percent(value)}"
    return f"{value:.3g}" if kind is None else show(value, kind)
