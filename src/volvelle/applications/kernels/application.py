"""Single kernels as an application."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import ClassVar

import numpy as np

from volvelle.applications.contract import Application
from volvelle.applications.fitted_constants import Fit
from volvelle.applications.kernels.constants import KernelConstants
from volvelle.applications.kernels.fit import fit_kernels
from volvelle.applications.kernels.left_out import chip_left_out
from volvelle.applications.kernels.measurements import SIZES, KernelMeasurement, kernel_measurements
from volvelle.applications.kernels.prediction import KernelQuestion, KernelTime, KernelWork, kernel_question
from volvelle.applications.measured_table import CalibrationRows, MeasuredTable
from volvelle.applications.scores import Finding, RowValidation
from volvelle.catalogue import Catalogue
from volvelle.estimators.contract import Estimator
from volvelle.quantities import percent
from volvelle.questions.applications import CalibrateQuestion

_LIBRARY = "nccl"
RANDOM_OPERANDS = ("trtllm", "sglang", _LIBRARY)
"""Software that was measured on random numbers; zeros take less power and run faster than training will."""
WORKSTATIONS = ("l40s", "rtx_pro_6000_server")
"""Cards without NVLink, whose kernels follow the laws less well."""


class SingleKernels(Application[KernelMeasurement, KernelWork, str, KernelConstants]):
    """Products, attention, experts and collectives of a node, each by itself."""

    word: ClassVar[str] = "kernels"
    about: ClassVar[str] = "Single kernels against measured tables."
    unit: ClassVar[str] = "seconds a kernel"
    groups_are: ClassVar[str] = "kernels"
    calibrates: ClassVar[str] = "Fit constants of kernels by GPU, element type and software."

    def rows(self, file: Path | None = None) -> MeasuredTable[KernelMeasurement]:
        """Published timings, or a file's."""
        return kernel_measurements(file)

    def question(self, row: KernelMeasurement, catalogue: Catalogue) -> KernelQuestion | str:
        """The kernel on the catalogue's chip."""
        return kernel_question(row, catalogue)

    def estimator(self, calibration: KernelConstants) -> Estimator[KernelWork, str]:
        """The laws of kernels."""
        return KernelTime(calibration)

    def measured(self, row: KernelMeasurement) -> float | None:
        """Seconds."""
        return row.time

    def fitted(
        self, rows: CalibrationRows[KernelMeasurement], catalogue: Catalogue, question: CalibrateQuestion
    ) -> Fit:
        """Constants of every table."""
        return fit_kernels(rows, catalogue)

    def label(self, row: KernelMeasurement, question: KernelQuestion) -> str:
        """The operation, its sizes and the chip."""
        sizes = " ".join(f"{name}={size:g}" for name, size in question.work.sizes.items())
        return f"{row.operation} {sizes}, {row.system} {row.element} {row.backend}"

    def within(self, row: KernelMeasurement) -> Mapping[str, str]:
        """Rows are scored by chip, element type and software."""
        return {"system": row.system, "type": row.element, "backend": row.backend}

    def details(self, row: KernelMeasurement) -> Mapping[str, object]:
        """What ran."""
        sizes = {name: getattr(row, name) for name in SIZES if getattr(row, name) is not None}
        return {"op": row.operation, "kernel": row.kernel, **sizes}

    def findings(self, validation: RowValidation) -> Iterable[Finding]:
        """For every kind of kernel the plain mean of its tables' medians, on operands that are random.

        And for products the same with every chip's own constants left out.
        """
        tables: dict[str, dict[str, dict[str, list[float]]]] = {}
        products: list[KernelMeasurement] = []
        for row in validation.rows:
            system, element, backend = row.within.values()
            if row.head.split in ("heldout", "given") and backend in RANDOM_OPERANDS:
                where = "workstation chips" if system in WORKSTATIONS else "datacentre chips"
                if row.head.group == "products" and isinstance(row.row, KernelMeasurement):
                    products.append(row.row)
                # Of collectives the library's also by themselves, without those that engines write for short messages.
                for kind in (row.head.group, *([f"{row.head.group}, NCCL"] if backend == _LIBRARY else [])):
                    of = tables.setdefault(where, {}).setdefault(kind, {})
                    of.setdefault(f"{system} {element} {backend}", []).append(abs(row.error))
        medians = {
            where: {kind: {name: float(np.median(one)) for name, one in of.items()} for kind, of in kinds.items()}
            for where, kinds in sorted(tables.items())
        }
        yield Finding(
            key="by_kind",
            value={
                where: {
                    kind: {
                        "tables": len(of),
                        "mean_of_medians": float(np.mean(list(of.values()))),
                        "worst_table": max(of, key=of.__getitem__),
                        "worst_median": max(of.values()),
                    }
                    for kind, of in kinds.items()
                }
                for where, kinds in medians.items()
            },
            title="mean over tables of their median errors: held-out rows, random operands",
            words=("chips", "kernels", "worst table"),
            numbers=("tables", "mean of medians", "its median"),
            cells=tuple(
                (
                    where,
                    kind,
                    max(of, key=of.__getitem__),
                    str(len(of)),
                    f"{percent(np.mean(list(of.values())))}",
                    f"{percent(max(of.values()))}",
                )
                for where, kinds in medians.items()
                for kind, of in kinds.items()
            ),
        )
        yield from chip_left_out("products", products, Catalogue())


KERNELS = SingleKernels()
