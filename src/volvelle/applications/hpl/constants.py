"""Constants of High-Performance Linpack by family of accelerators, from ``data/benchmarks/hpl.yaml``."""

from functools import cache
from importlib import resources

from pydantic import BaseModel, ConfigDict, ValidationError
from ruamel.yaml import YAML

from volvelle.applications.hpl.layered import EquivalentCore
from volvelle.applications.hpl.panels import HplConstants
from volvelle.catalogue.figures import read_figure
from volvelle.catalogue.loader import Catalogue
from volvelle.catalogue.schema import Datum
from volvelle.errors import DescriptionError, UnknownNameError
from volvelle.quantities import FRACTION, SECONDS, Quantity
from volvelle.spread import Figure

__all__ = ["equivalent_core", "hpl_constants", "hpl_data", "hpl_families"]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Shared(_Strict):
    """What holds for every family."""

    waiting: Datum
    panel_intensity: Datum
    swap_hidden: Datum


class _Family(_Strict):
    """What is known of one family."""

    block: int
    spilled_block: int
    early_block: int = 0
    """Block of the builds before `early_until`; 0: the same."""
    early_until: str = ""
    """Year and month until which runs used early builds of the benchmark; empty: there were none."""
    fitted: bool
    efficiency: Datum
    work_per_joule: Datum
    column: Datum
    staged: Datum
    error: Datum


class _Core(_Strict):
    """An accelerator as one equivalent core."""

    cores: Datum
    words: Datum
    cycles: Datum


class _File(_Strict):
    shared: _Shared
    families: dict[str, _Family]
    equivalent_cores: dict[str, _Core] = {}


@cache
def _file() -> _File:
    file = resources.files("volvelle.catalogue") / "data" / "benchmarks" / "hpl.yaml"
    try:
        return _File.model_validate(YAML(typ="safe", pure=True).load(file.read_text("utf-8")))
    except ValidationError as error:
        raise DescriptionError(f"benchmarks/hpl.yaml does not load: {error}") from None


@cache
def _sources() -> frozenset[str]:
    return Catalogue().sources


def hpl_families() -> dict[str, bool]:
    """Families with constants, and whether calibration runs were on them."""
    return {name: family.fitted for name, family in _file().families.items()}


def hpl_data() -> dict[str, Datum]:
    """Every number of the file by its place, for whoever checks sources."""
    found = {f"shared.{name}": getattr(_file().shared, name) for name in _Shared.model_fields}
    for key, family in _file().families.items():
        for name in ("efficiency", "work_per_joule", "column", "staged", "error"):
            found[f"{key}.{name}"] = getattr(family, name)
    for key, core in _file().equivalent_cores.items():
        found |= {f"{key}.{name}": getattr(core, name) for name in _Core.model_fields}
    return found


def hpl_constants(family: str, *, date: str = "") -> HplConstants:
    """The constants of a family, for builds of the benchmark of some month (``202106``); the latest without one."""
    file = _file()
    known = file.families.get(family)
    if known is None:
        raise UnknownNameError.among("family with constants of HPL", family, file.families)
    figures: dict[str, Figure] = {}

    def read(name: str, datum: Datum, kind: Quantity | None) -> float:
        figures[name] = read_figure(datum, kind, where=f"HPL on {family!r}: {name}", sources=_sources())
        return figures[name].value

    early = bool(date and known.early_until and date <= known.early_until)
    return HplConstants(
        family=family,
        block=known.early_block if early and known.early_block else known.block,
        spilled_block=known.spilled_block,
        efficiency=read("efficiency", known.efficiency, FRACTION),
        work_per_joule=read("work_per_joule", known.work_per_joule, None),
        waiting=read("waiting", file.shared.waiting, FRACTION),
        column=read("column", known.column, SECONDS),
        panel_intensity=read("panel_intensity", file.shared.panel_intensity, None),
        swap_hidden=read("swap_hidden", file.shared.swap_hidden, FRACTION),
        staged=read("staged", known.staged, FRACTION),
        error=read("error", known.error, None),
        fitted=known.fitted,
        figures=figures,
    )


def equivalent_core(chip: str) -> EquivalentCore | None:
    """A chip as one equivalent core of the layered model; None where its cores and controllers are not stated."""
    core = _file().equivalent_cores.get(chip)
    if core is None:
        return None
    cores, words, cycles = (
        read_figure(getattr(core, name), None, where=f"equivalent core of {chip!r}: {name}", sources=_sources()).value
        for name in ("cores", "words", "cycles")
    )
    return EquivalentCore(cores=cores, words=words, cycles=cycles)
