"""Constants of HPCG by family of devices, from ``data/benchmarks/hpcg.yaml``."""

from collections.abc import Collection
from functools import cache
from importlib import resources
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError
from ruamel.yaml import YAML

from volvelle.applications.hpcg.estimator import HpcgFactors
from volvelle.catalogue.figures import read_figure
from volvelle.catalogue.loader import Catalogue
from volvelle.catalogue.schema import Datum
from volvelle.errors import DescriptionError, UnknownNameError
from volvelle.quantities import FRACTION
from volvelle.spread import Figure

__all__ = ["hpcg_factors", "hpcg_families"]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Class(_Strict):
    """What holds for a device of no family that was fitted."""

    streaming: Datum
    solver: Datum
    step: Datum
    doubling: Datum
    few_ranks: Datum


class _Build(_Strict):
    """What builds of the benchmark reach until some month."""

    until: str = ""
    """Year and month, such as 202112; empty: to this day."""
    value: Datum


class _Family(_Strict):
    """What is known of one family."""

    kind: Literal["accelerator", "host"]
    streaming: Datum
    solver: tuple[_Build, ...] = ()


class _File(_Strict):
    intensity: Datum
    classes: dict[Literal["accelerator", "host"], _Class]
    families: dict[str, _Family]


@cache
def _file() -> _File:
    file = resources.files("volvelle.catalogue") / "data" / "benchmarks" / "hpcg.yaml"
    written = YAML(typ="safe", pure=True).load(file.read_text("utf-8"))
    try:
        return _File.model_validate(written)
    except ValidationError as error:
        raise DescriptionError(f"benchmarks/hpcg.yaml does not load: {error}") from None


def hpcg_families() -> dict[str, str]:
    """Families with constants, and whether each is an accelerator or a host."""
    return {name: family.kind for name, family in _file().families.items()}


def hpcg_factors(family: str, *, date: str = "", catalogue: Catalogue | None = None) -> HpcgFactors:
    """The factors of a family, for builds of the benchmark of some month; the latest without one.

    Where no run on the family was fitted, HPCG over streaming is that of all families of its class, with a spread
    that covers the differences between them.
    """
    file = _file()
    known = file.families.get(family)
    if known is None:
        raise UnknownNameError.among("family with constants of HPCG", family, file.families)
    sources = (catalogue or Catalogue()).sources
    shared = file.classes[known.kind]
    build = next((each for each in known.solver if not each.until or (date and date <= each.until)), None)

    def read(name: str, datum: Datum) -> Figure:
        return _figure(f"HPCG on {family!r}: {name}", datum, sources)

    return HpcgFactors(
        family=family if build else f"{known.kind}s, because no run on {family} was fitted",
        fitted=build is not None,
        intensity=read_figure(file.intensity, None, where="HPCG: intensity", sources=sources),
        streaming=read("streaming", known.streaming),
        solver=read("solver", build.value if build else shared.solver),
        step=read("step", shared.step),
        doubling=read("doubling", shared.doubling),
        few_ranks=read_figure(shared.few_ranks, None, where=f"HPCG on {family!r}: few_ranks", sources=sources),
    )


def _figure(where: str, datum: Datum, sources: Collection[str]) -> Figure:
    return read_figure(datum, FRACTION, where=where, sources=sources)
