"""Constants of High-Performance Linpack by family of accelerators, from ``data/benchmarks/hpl.yaml``."""

from dataclasses import replace
from functools import cache
from math import inf
from statistics import median

from volvelle.applications.hpl.layers import EquivalentCore, derived_core, with_given
from volvelle.applications.hpl.panels import HplConstants
from volvelle.catalogue.model_errors import ModelErrorRegime, model_error
from volvelle.catalogue.sourced_file import Form, Plain, Share, Time, benchmark_file
from volvelle.errors import UnknownNameError
from volvelle.system.chip import Chip


class _Shared(Form):
    """What holds for every family."""

    waiting: Share
    panel_intensity: Plain
    swap_hidden: Share


class _Family(Form):
    """What is known of one family."""

    block: int
    spilled_block: int
    early_block: int = 0
    """Block of the builds before `early_until`; 0: the same."""
    early_until: str = ""
    """Year and month until which runs used early builds of the benchmark; empty: there were none."""
    fitted: bool
    efficiency: Share
    work_per_joule: Plain
    column: Time
    staged: Share
    error: Plain | None = None
    """Of families that no calibration run is on; of others, what runs were off that their fit did not see."""
    listed_least: Share | None = None
    """Share of the peak as the TOP500 lists it that a tenth of calibration entries stay below; None: too few."""
    listed_most: Share | None = None
    """The same, above which a tenth lie."""


class _Core(Form):
    """An accelerator as one equivalent core."""

    cores: Plain
    words: Plain
    cycles: Plain


class _File(Form):
    shared: _Shared
    families: dict[str, _Family]
    equivalent_cores: dict[str, _Core]


@cache
def _file() -> _File:
    return benchmark_file("hpl.yaml", _File)


def hpl_constants(family: str, *, date: str = "") -> HplConstants:
    """The constants of a family, for builds of the benchmark of some month (``202106``); the latest without one."""
    file = _file()
    known = file.families.get(family)
    if known is None:
        raise UnknownNameError.among("family with constants of HPL", family, file.families)
    early = known.early_block if date and date <= known.early_until else 0
    own = known.model_dump(exclude={"block", "early_block", "early_until", "listed_least", "listed_most"})
    told = model_error("hpl", family)
    doubt = {"error": known.error or told.factor, "tilt": 0.0 if known.error else -told.tilt}  # rows are of rates
    return HplConstants(family=family, block=early or known.block, **{**own, **doubt}, **file.shared.model_dump())


def rows_behind(constants: HplConstants) -> ModelErrorRegime | None:
    """Rows that their fit did not see and that the range is as wide as; None: it is stated, or of one's own runs."""
    told = model_error("hpl", constants.family)
    return told if constants.fitted and constants.error == told.factor else None


def listed_shares(family: str) -> tuple[float, float]:
    """Shares of a listed peak between which four fifths of calibration entries lie; 0 and infinity: not known."""
    known = _file().families.get(family)
    if known is None or known.listed_least is None or known.listed_most is None:
        return 0.0, inf
    return float(known.listed_least), float(known.listed_most)


def nearest_constants(family: str) -> HplConstants:
    """The constants of a family; for one that has none, those in the middle of all, in a range as wide as theirs."""
    file = _file()
    if family in file.families:
        return hpl_constants(family)
    known = [hpl_constants(name) for name in file.families]
    middle = {
        name: median(getattr(each, name) for each in known)
        for name in ("efficiency", "work_per_joule", "column", "staged")
    }
    spread = max(each.efficiency for each in known) / min(each.efficiency for each in known)
    return replace(
        known[0],
        **middle,
        family=f"{family or 'no family'} (middle of all)",
        error=float(spread) ** 0.5,
        tilt=0.0,
        fitted=False,
    )


def equivalent_core(chip: str) -> EquivalentCore | None:
    """A chip as one equivalent core of the layered model; None where its cores and controllers are not stated."""
    core = _file().equivalent_cores.get(chip)
    return None if core is None else EquivalentCore(**core.model_dump())


def core_of(chip: Chip, **given: float | None) -> EquivalentCore:
    """Any chip as one equivalent core: as stated, else derived from its description, and what is given on top."""
    return with_given(equivalent_core(chip.name) or derived_core(chip), **given)
