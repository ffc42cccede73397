"""How far off transforms are when their publication, or all of their size, are left out of the fit."""

from collections.abc import Iterator

from volvelle.applications.cross_validation import by_value, largest
from volvelle.applications.fft.fit import FEW, FftCase, fft_cases, log_error, travelled_rates
from volvelle.applications.fft.rows import FftMeasurement
from volvelle.applications.measured_table import CalibrationRows
from volvelle.catalogue import Catalogue
from volvelle.catalogue.left_out import LeftOut


def fft_left_out(rows: CalibrationRows[FftMeasurement], catalogue: Catalogue) -> Iterator[LeftOut]:
    """Every transform that exchanges; a library is left out where all that travel one way are of one publication."""
    cases = [case for case in fft_cases(rows, catalogue) if case.transport and case.exchanges]
    for transport in dict.fromkeys(case.transport for case in cases):
        mine = [case for case in cases if case.transport == transport]
        alone = len({case.publication for case in mine}) == 1
        groups = by_value(mine, lambda case, alone=alone: case.library if alone else case.publication)  # type: ignore[misc]
        for axis, left in (("", groups), ("size", [largest(mine, lambda case: case.question.system.accelerators)])):
            for inside in left:
                rest = [case for case in mine if not inside(case)]
                if rest:
                    best, _ = travelled_rates(rest, rounds=FEW)
                    yield from (_left_out(case, alone, axis, -log_error(case, best)) for case in mine if inside(case))


def _left_out(case: FftCase, alone: bool, axis: str, residual: float) -> LeftOut:
    return LeftOut(
        application="fft",
        row_id=case.row_id,
        source=f"{case.publication} {case.library}" if alone else case.publication,
        regime=case.transport,
        chips=case.question.system.accelerators,
        axis=axis,
        residual=residual,
    )
