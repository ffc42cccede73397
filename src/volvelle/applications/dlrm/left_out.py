"""How far off steps of recommendation models are when their publication, chip or size is left out of the fit."""

from collections.abc import Iterator

from volvelle.applications.cross_validation import by_size, by_value
from volvelle.applications.dlrm.constants import dlrm_stacks
from volvelle.applications.dlrm.fit import DlrmCase, dlrm_cases, dlrm_errors, least_constants
from volvelle.applications.dlrm.rows import DlrmMeasurement
from volvelle.applications.measured_table import CalibrationRows
from volvelle.catalogue import Catalogue
from volvelle.catalogue.left_out import LeftOut


def dlrm_left_out(rows: CalibrationRows[DlrmMeasurement], catalogue: Catalogue) -> Iterator[LeftOut]:
    """Every row that is fitted, three times where that can be; cards joined by PCIe alone leave a link."""
    for stack in dlrm_stacks():
        known = dlrm_cases(stack, rows, catalogue)
        cases = [case for case in known if case.fitted]
        if not cases:
            continue
        left = (
            ("", by_value(cases, lambda case: case.publication)),
            ("chip", by_value(cases, lambda case: case.cluster.chip.name)),
            ("size", by_size(cases, lambda case: case.cluster.accelerators)),
        )
        for axis, groups in left:
            for inside in groups:
                rest = [case for case in cases if not inside(case)]
                yield from _scored(stack, rest, [case for case in cases if inside(case)], axis)
        yield from _scored(stack, cases, [case for case in known if not case.fitted], "link")


def _scored(stack: str, rest: list[DlrmCase], out: list[DlrmCase], axis: str) -> Iterator[LeftOut]:
    if len({case.configuration for case in rest}) < 2 or not out:
        return  # two constants take two configurations
    _, gather, fixed = least_constants(stack, rest)
    for case, error in zip(out, dlrm_errors(out, gather, fixed), strict=True):
        yield LeftOut(
            application="dlrm",
            row_id=case.row_id,
            source=case.publication,
            regime=stack,
            chips=case.cluster.accelerators,
            axis=axis,
            residual=-float(error),
        )
