"""How far whole training steps are off, as estimators take it: by rows that their fit did not see."""

from functools import cache
from math import exp, sqrt

from volvelle.catalogue.left_out import SIZE_DOUBLINGS
from volvelle.catalogue.model_errors import LEVEL, added_square, left_axes, model_error
from volvelle.catalogue.residuals import residuals
from volvelle.estimators.step_errors import SIZE, StepErrors, TimedRuns
from volvelle.spread import model_reach


@cache
def training_errors() -> StepErrors:
    """Of all calibration runs."""
    largest: dict[tuple[str, str, str, bool], int] = {}
    for run in residuals():
        key = (run.family, run.element, run.stack, run.mixture)
        largest[key] = max(run.chips, largest.get(key, 0))
    return StepErrors(
        inside={family: model_error("training", family).factor for family in sorted({key[0] for key in largest})},
        anywhere=model_error("training").factor,
        beyond={way: _added(way) for way in sorted(left_axes("training"))},
        timed=tuple(
            TimedRuns(family=family, element=element, stack=stack, mixture=mixture, chips=chips)
            for (family, element, stack, mixture), chips in largest.items()
        ),
    )


def _added(way: str) -> float:
    """What leaving a way adds, as a factor; of size, a doubling."""
    square = added_square("training", way) / (SIZE_DOUBLINGS if way == SIZE else 1)
    return exp(sqrt(square) / model_reach(LEVEL))
