"""Constants of kernels by chip, element type and software, and what holds where nobody measured."""

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np

from volvelle.applications.table_cells import table_text
from volvelle.errors import OutsideDomainError

SAME_CHIP, SAME_FAMILY = 1.14, 1.22
"""One standard deviation as a factor, of constants taken from other software on the chip, or from its family."""
PREFERRED = ("trtllm", "sglang", "nccl", "vllm")
"""Whose constants stand for a chip: those measured on random operands first."""


@dataclass(frozen=True, slots=True, order=True)
class KernelKey:
    """Whose constants: a law, a chip, an element type, and the software that ran."""

    family: str
    chip: str
    element: str
    cache_element: str = ""
    backend: str = ""
    kernel: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelConstants:
    """Constants of one kind of kernel, and how near to the question they were measured."""

    values: Mapping[str, float]
    error: float
    """One standard deviation of a kernel's time, as a factor."""
    taken_from: str = ""
    """What they were measured on, where that is not what was asked."""


@cache
def kernel_constants() -> Mapping[KernelKey, KernelConstants]:
    """All constants of the package that tables of kernels tell."""
    return _read("kernels.csv.gz")


@cache
def layer_constants() -> Mapping[KernelKey, KernelConstants]:
    """Constants from timed layers of a served model: few shapes, so they stand for no other chip and no other model."""
    return _read("layers.csv")


def _read(name: str) -> Mapping[KernelKey, KernelConstants]:
    file = resources.files("volvelle.catalogue") / "data" / "calibrations" / name
    found: dict[KernelKey, dict[str, float]] = {}
    errors: dict[KernelKey, float] = {}
    for row in csv.DictReader(io.StringIO(table_text(file))):
        key = KernelKey(*(row[name] for name in ("family", "chip", "element", "cache_element", "backend", "kernel")))
        found.setdefault(key, {})[row["constant"]] = float(row["value"])
        errors[key] = float(row["error"])
    return {key: KernelConstants(values=values, error=errors[key]) for key, values in found.items()}


def constants_for(asked: KernelKey, families: Mapping[str, str], *, unseen: bool = False) -> KernelConstants:
    """Those of the very software; of the chip, whatever ran; or of its family, and then less sure.

    `families` tells the family of every chip; `unseen` asks as if the chip had never been measured.
    """
    known = kernel_constants()
    if unseen:
        known = {key: constants for key, constants in known.items() if key.chip != asked.chip}
    if asked in known:
        return known[asked]
    alike = [key for key in known if (key.family, key.element) == (asked.family, asked.element)]
    on_chip = [key for key in alike if key.chip == asked.chip]
    if on_chip:
        nearest = min(on_chip, key=lambda key: (_unlike(key, asked), _newest_first(key), key))
        near = known[nearest]
        return KernelConstants(
            values=near.values, error=max(near.error, SAME_CHIP), taken_from=f"{nearest.backend} {nearest.kernel}"
        )
    kin = [key for key in alike if families.get(key.chip) == families.get(asked.chip, "?")]
    if not kin:
        measured = sorted({f"{key.chip} {key.element}" for key in known if key.family == asked.family})
        raise OutsideDomainError(
            f"no {asked.family} in {asked.element} were measured on {asked.chip} or on another chip of its family; "
            f"measured: {', '.join(measured)}"
        )
    least = min(_unlike(key, asked) for key in kin)
    nearest_kin = [known[key] for key in kin if _unlike(key, asked) == least]
    values = {
        name: float(np.exp(np.mean([np.log(near.values[name]) for near in nearest_kin])))
        for name in nearest_kin[0].values
    }
    error = max(SAME_FAMILY, *(near.error for near in nearest_kin))
    return KernelConstants(values=values, error=error, taken_from=", ".join(sorted({key.chip for key in kin})))


def _unlike(key: KernelKey, asked: KernelKey) -> tuple[bool, bool, int, bool, bool]:
    """How far software is from what was asked; another version of a kernel is nearer than another kernel."""
    order = PREFERRED.index(key.backend) if key.backend in PREFERRED else len(PREFERRED)
    named = key.kernel.partition(" ")[0] != asked.kernel.partition(" ")[0]
    return (
        key.cache_element != asked.cache_element,
        key.backend != asked.backend,
        order,
        named,
        key.kernel != asked.kernel,
    )


def _newest_first(key: KernelKey) -> list[int]:
    """Order of the versions of a kernel."""
    return [-int(part) for part in re.findall(r"\d+", key.kernel.partition(" ")[2])]
