"""Constants as a fit finds them, beside those of the catalogue."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from volvelle.applications.fit import Column, Least
from volvelle.applications.model_error import ModelError
from volvelle.quantities import FRACTION, Quantity, percent


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedConstant:
    """One constant, fitted again."""

    of: str
    """What it is a constant of: a family, a link, a way of travelling, a kind of software."""
    name: str
    fitted: float
    catalogue: float | None
    """What the catalogue holds; None where it holds none."""
    kind: Quantity | None = None
    """Its unit; None: a plain number."""
    low: float | None = None
    high: float | None = None
    """Between which values it does nearly as well; None where that was not asked."""
    rows: int | None = None
    """Rows that depend on it most."""
    error: float | None = None
    """Median error of the rows it was fitted to."""
    yaml: str = ""
    """The line of a file of the catalogue that would hold it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """What calibration rows tell: constants, how well they do, and the same as values that an estimator takes."""

    constants: tuple[FittedConstant, ...]
    notes: tuple[str, ...] = ()
    scores: Mapping[str, float] = field(default_factory=dict)
    """Rows and errors of the fit, where it is one."""
    calibration: Mapping[str, object] = field(default_factory=dict)
    """What each constant's owner becomes, by name."""


def searched_fit(
    best: Least,
    errors: Column,
    *,
    of: str,
    held: Mapping[str, float],
    kinds: Mapping[str, Quantity | None],
    nearly: float,
    calibration: object,
) -> Fit:
    """What a search found beside what the catalogue has, with the relative errors of the runs it was fitted to.

    Constants do nearly as well where the loss is at most a share of `nearly` larger.
    """
    scores = {
        "rows": float(len(errors)),
        "mean_abs_error": float(np.mean(np.abs(errors))),
        "median_abs_error": float(np.median(np.abs(errors))),
        "bias": float(np.mean(errors)),
    }
    note = (
        f"{len(errors)} calibration runs: mean error {percent(scores['mean_abs_error'])}, median "
        f"{percent(scores['median_abs_error'])}, bias {percent(scores['bias'], 1, signed=True)}"
    )
    constants = tuple(
        FittedConstant(
            of=of,
            name=name,
            fitted=best.constants[name],
            catalogue=held[name],
            kind=kinds.get(name, FRACTION),
            low=low,
            high=high,
        )
        for name, (low, high) in best.nearly(nearly).items()
    )
    return Fit(constants=constants, notes=(note,), scores=scores, calibration={of: calibration})


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
