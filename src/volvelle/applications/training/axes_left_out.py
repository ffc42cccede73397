"""How far off training runs are with all runs on their chips, in their type or by their software left out of a fit."""

from collections.abc import Iterator

from volvelle.applications.training.stack_fit import AXES, StackFit
from volvelle.catalogue.left_out import LeftOut


def training_left_out(fit: StackFit) -> Iterator[LeftOut]:
    """Every run once a way of leaving what was fitted, where some run is left of that kind to leave."""
    for axis, label in AXES.items():
        values = {label(run) for run in fit.runs}
        if len(values) > 1:
            for run, residual in zip(fit.runs, fit.new_kinds[axis].tolist(), strict=True):
                yield LeftOut(
                    application="training",
                    row_id=run.row.head.row_id,
                    source=run.source,
                    regime=run.family,
                    chips=run.row.chips or run.question.system.accelerators,
                    axis=axis,
                    residual=residual,
                )
