"""How far off training runs are with their source and all runs on their chips, of their type or kind left out."""

from collections.abc import Iterator

from volvelle.applications.training.stack_fit import AXES, StackFit
from volvelle.catalogue.left_out import CHIP, LeftOut, alone_with_software


def training_left_out(fit: StackFit) -> Iterator[LeftOut]:
    """Every run once a way of leaving what was fitted; not those that leave by their software too.

    Nor by their chip where that chip's constants were fitted to such runs: leaving them out leaves it as it is.
    """
    alone = alone_with_software([(run.source, run.family, run.stack) for run in fit.runs])
    for axis in AXES:
        for run, other, residual in zip(fit.runs, alone, fit.new_kinds[axis].tolist(), strict=True):
            if not other and not (axis == CHIP and run.held):
                yield LeftOut(
                    application="training",
                    row_id=run.row.head.row_id,
                    source=run.source,
                    regime=run.family,
                    chips=run.chips,
                    axis=axis,
                    residual=residual,
                )
