"""Constants of HPCG by family of devices, from ``data/benchmarks/hpcg.yaml``."""

from functools import cache
from typing import Literal

from volvelle.applications.hpcg.estimator import HpcgFactors
from volvelle.catalogue.sourced_file import Form, PlainFigure, ShareFigure, benchmark_file
from volvelle.errors import UnknownNameError


class _Class(Form):
    """What holds for a device of no family that was fitted."""

    streaming: ShareFigure
    solver: ShareFigure
    step: ShareFigure
    doubling: ShareFigure
    few_ranks: PlainFigure


class _Build(Form):
    """What builds of the benchmark reach until some month."""

    until: str = ""
    """Year and month, such as 202112; empty: to this day."""
    value: ShareFigure


class _Family(Form):
    """What is known of one family."""

    kind: Literal["accelerator", "host"]
    streaming: ShareFigure
    solver: tuple[_Build, ...] = ()


class _File(Form):
    intensity: PlainFigure
    classes: dict[Literal["accelerator", "host"], _Class]
    families: dict[str, _Family]


@cache
def _file() -> _File:
    return benchmark_file("hpcg.yaml", _File)


def hpcg_families() -> dict[str, str]:
    """Families with constants, and whether each is an accelerator or a host."""
    return {name: family.kind for name, family in _file().families.items()}


def hpcg_factors(family: str, *, date: str = "") -> HpcgFactors:
    """The factors of a family, for builds of the benchmark of some month; the latest without one.

    Where no run on the family was fitted, HPCG over streaming is that of all families of its class, with a spread
    that covers the differences between them.
    """
    file = _file()
    known = file.families.get(family)
    if known is None:
        raise UnknownNameError.among("family with constants of HPCG", family, file.families)
    shared = file.classes[known.kind]
    build = next((each for each in known.solver if not each.until or (date and date <= each.until)), None)
    return HpcgFactors(
        family=family if build else f"{known.kind}s, because no run on {family} was fitted",
        fitted=build is not None,
        intensity=file.intensity,
        streaming=known.streaming,
        solver=build.value if build else shared.solver,
        step=shared.step,
        doubling=shared.doubling,
        few_ranks=shared.few_ranks,
    )
