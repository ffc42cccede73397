"""How far whole training steps are off, as estimators take it: by rows that their fit did not see."""

from functools import cache
from math import exp, log, sqrt

from volvelle.catalogue.left_out import SIZE_DOUBLINGS, training_regime
from volvelle.catalogue.model_errors import ModelErrorRegime, axis_error, left_axes, model_error
from volvelle.catalogue.residuals import residuals
from volvelle.estimators.step_errors import SIZE, StepErrors, TimedRuns


@cache
def training_errors() -> StepErrors:
    """Of all calibration runs."""
    inside = model_error("training")
    largest: dict[tuple[str, str, str, bool], int] = {}
    for run in residuals():
        key = (run.family, run.element, run.stack, run.mixture)
        largest[key] = max(run.chips, largest.get(key, 0))
    return StepErrors(
        inside=inside.factor,
        mixture=model_error("training", training_regime(mixture=True)).factor,
        beyond={way: _added(inside, way) for way in sorted(left_axes("training"))},
        timed=tuple(
            TimedRuns(family=family, element=element, stack=stack, mixture=mixture, chips=chips)
            for (family, element, stack, mixture), chips in largest.items()
        ),
    )


def _added(inside: ModelErrorRegime, way: str) -> float:
    """What leaving a way adds, as a factor; of size, a doubling."""
    square = max(0.0, log(axis_error("training", way).factor) ** 2 - log(inside.factor) ** 2)
    return exp(sqrt(square / (SIZE_DOUBLINGS if way == SIZE else 1)))
