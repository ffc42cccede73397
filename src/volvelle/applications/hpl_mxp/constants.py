"""Constants of HPL-MxP by family of accelerators, from ``data/benchmarks/hpl_mxp.yaml``."""

from functools import cache

from volvelle.applications.hpl_mxp.estimator import Kept, MxpConstants
from volvelle.catalogue.sourced_file import Form, Plain, Share, Time, Whole, benchmark_file


class _Shared(Form):
    """What holds for every family."""

    waiting: Share
    column: Time
    solve_column: Time
    iterations: Plain
    block: Whole
    population: Share
    """Share of the peak of a family that was not fitted."""
    within_error: Plain
    population_error: Plain


class _File(Form):
    shared: _Shared
    families: dict[str, Share]


@cache
def _file() -> _File:
    return benchmark_file("hpl_mxp.yaml", _File)


def mxp_families() -> dict[str, float]:
    """Share of the peak by family that was fitted."""
    return dict(_file().families)


def mxp_constants(family: str, *, kept: Kept = "device") -> MxpConstants:
    """Constants of a family; of one that was not fitted those of all, with the spread between families."""
    shared, known = _file().shared, _file().families
    fitted = family in known
    return MxpConstants(
        family=family if fitted else f"all families, because no run on {family or 'such chips'} was fitted",
        fitted=fitted,
        efficiency=known.get(family, shared.population),
        waiting=shared.waiting,
        column=shared.column,
        solve_column=shared.solve_column,
        iterations=shared.iterations,
        error=shared.within_error if fitted else shared.population_error,
        block=shared.block,
        kept=kept,
    )


def shared_constants() -> dict[str, float]:
    """Those that the fit finds for all families, by name."""
    names = ("waiting", "column", "population", "within_error", "population_error")
    return {name: float(getattr(_file().shared, name)) for name in names}
