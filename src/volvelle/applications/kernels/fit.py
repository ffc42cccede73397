"""Constants of kernels from calibration rows: one fit for every law, chip, element type and software."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from volvelle.applications.cross_validation import REACH
from volvelle.applications.fitted_constants import Fit, FittedConstant
from volvelle.applications.kernels.constants import KernelKey, kernel_constants
from volvelle.applications.kernels.least_squares import LeastSquares, least_squares
from volvelle.applications.kernels.measurements import KernelMeasurement
from volvelle.applications.kernels.prediction import family_of, kernels_on, key_of, row_size, why_unusable
from volvelle.applications.measured_table import CalibrationRows
from volvelle.catalogue import Catalogue
from volvelle.errors import DescriptionError
from volvelle.estimators.kernel_families import Family

Column = NDArray[np.float64]

Tables = dict[KernelKey, tuple[Family, list[KernelMeasurement]]]
"""Rows by whose constants they tell."""

LEAST_ROWS = 20
"""Rows below which a table of kernels tells too little."""
SCALE = 0.05
"""Logarithmic error beyond which a row counts in proportion only: kernels that a library chose otherwise."""
TILES = (0.2, 4.0)
"""Further starts of a fit, as shares of the usual tile: products have a valley for fine tiles and one for coarse."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedTable:
    """Constants of one table of kernels, and how far off its rows are."""

    found: LeastSquares
    error: float
    """Median error of its rows."""
    deviation: float
    """One standard deviation of a row as a factor: four fifths of them keep to it."""


def fit_kernels(rows: CalibrationRows[KernelMeasurement], catalogue: Catalogue) -> Fit:
    """All constants that the rows tell."""
    tables = tables_of(rows)
    known = kernel_constants()
    constants: list[FittedConstant] = []
    calibration: dict[str, object] = {}
    for key, table in sorted(fit_tables(tables, catalogue).items()):
        fitted, rows_of = table.found, len(tables[key][1])
        parts = (key.family, key.chip, key.element, key.cache_element, key.backend, key.kernel)
        name = " ".join(part for part in parts if part)
        calibration[name] = fitted.constants
        held = known[key].values if key in known else {}
        constants += [
            FittedConstant(
                of=name,
                name=constant,
                fitted=value,
                catalogue=held.get(constant),
                low=value / fitted.spread[constant],
                high=value * fitted.spread[constant],
                rows=rows_of,
                error=table.error,
            )
            for constant, value in fitted.constants.items()
        ]
    if not constants:
        raise DescriptionError(f"no table of kernels has {LEAST_ROWS} rows that can be fitted to")
    return Fit(constants=tuple(constants), calibration=calibration)


def tables_of(rows: Iterable[KernelMeasurement]) -> Tables:
    """Rows that can be held against a law, by whose constants they tell."""
    tables: Tables = {}
    for row in rows:
        family = family_of(row)
        if family is not None and why_unusable(row) is None:
            tables.setdefault(key_of(row, family), (family, []))[1].append(row)
    return tables


def fit_tables(tables: Tables, catalogue: Catalogue) -> dict[KernelKey, FittedTable]:
    """Constants of every table of enough rows: each by itself, then leaning towards those of the same software.

    Rows of two chips only do not tell a start from what each further chip costs; other machines do.
    """
    enough = {key: table for key, table in tables.items() if len(table[1]) >= LEAST_ROWS}
    alone = {key: fit_table(key, *table, catalogue) for key, table in enough.items()}
    alike: dict[tuple[str, str, str], list[Mapping[str, float]]] = {}
    for key, fitted in alone.items():
        alike.setdefault((key.family, key.element, key.backend), []).append(fitted.found.constants)
    found: dict[KernelKey, FittedTable] = {}
    for key, table in enough.items():
        kin = alike[key.family, key.element, key.backend]
        usual = {name: float(np.exp(np.median([np.log(one[name]) for one in kin]))) for name in kin[0]}
        found[key] = fit_table(key, *table, catalogue, towards=usual) if len(kin) > 1 else alone[key]
    return found


def fit_table(
    key: KernelKey,
    family: Family,
    rows: Iterable[KernelMeasurement],
    catalogue: Catalogue,
    *,
    towards: Mapping[str, float] | None = None,
) -> FittedTable:
    """Constants of one table, those that its rows do not tell leaning towards those of others."""
    members = list(rows)
    system = catalogue.with_chip(catalogue.cluster("dgx-h100/8"), key.chip)
    kernels = kernels_on(key, system)
    sizes = {size: np.array([float(row_size(row, size) or 0.0) for row in members]) for size in family.sizes}
    measured = np.array([float(row.time or 0.0) for row in members])

    def errors(values: Mapping[str, float]) -> Column:
        columns = {name: np.asarray(value) for name, value in values.items()}
        return np.asarray(np.log(family.time(kernels, sizes, columns) / measured))

    usual = {name: constant.start for name, constant in family.constants.items()}
    bounds = {name: (constant.low, constant.high) for name, constant in family.constants.items()}
    if family.name == "products" and kernels.element == "bf16":
        bounds["cast_passes"] = (bounds["cast_passes"][0], 2.0 * bounds["cast_passes"][0])  # nothing is cast
        usual["cast_passes"] = 1.5 * bounds["cast_passes"][0]
    starts: list[Mapping[str, float]] = [usual] if towards is None else [usual, towards]
    if "tile" in usual:
        starts += [{**usual, "tile": usual["tile"] * share} for share in TILES]
    fitted = least_squares(errors, starts, bounds, scale=SCALE, towards=towards)
    left = np.abs(errors(fitted.constants))
    return FittedTable(
        found=fitted, error=float(np.median(np.expm1(left))), deviation=float(np.exp(np.quantile(left, 0.8) / REACH))
    )
