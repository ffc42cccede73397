"""Constants of High-Performance Linpack by family of accelerators, from ``data/benchmarks/hpl.yaml``."""

from functools import cache

from volvelle.applications.hpl.closed_forms import EquivalentCore
from volvelle.applications.hpl.panels import HplConstants
from volvelle.catalogue.sourced_file import Form, Plain, Share, Time, benchmark_file
from volvelle.errors import UnknownNameError


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
    error: Plain


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
    own = known.model_dump(exclude={"block", "early_block", "early_until"})
    return HplConstants(family=family, block=early or known.block, **own, **file.shared.model_dump())


def equivalent_core(chip: str) -> EquivalentCore | None:
    """A chip as one equivalent core of the layered model; None where its cores and controllers are not stated."""
    core = _file().equivalent_cores.get(chip)
    return None if core is None else EquivalentCore(**core.model_dump())
