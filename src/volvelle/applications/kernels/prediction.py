"""What the laws say of a measured kernel, on the catalogue's chip."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import final

import numpy as np

from volvelle.applications.contract import Question
from volvelle.applications.cross_validation import REACH
from volvelle.applications.kernels.constants import KernelConstants, KernelKey, constants_for
from volvelle.applications.kernels.measurements import SIZES, KernelMeasurement
from volvelle.catalogue import Catalogue
from volvelle.estimators.contract import Estimator
from volvelle.estimators.kernel_families import CROSSINGS, FAMILIES, SKEWS, Family, Kernels
from volvelle.estimators.result import Contribution, Estimate, Range
from volvelle.system.cluster import Cluster

CHIPS = {
    "a100_sxm": "a100-sxm4-80gb",
    "h100_sxm": "h100-sxm",
    "h200_sxm": "h200-sxm",
    "b200_sxm": "b200",
    "b300_sxm": "b300",
    "gb200": "gb200",
    "gb300": "gb300",
    "l40s": "l40s",
    "rtx_pro_6000_server": "rtx-pro-6000-server",
}
"""Chips of the catalogue by what sources of kernels call them."""
ELEMENTS = {"bfloat16": "bf16", "half": "bf16", "fp8": "fp8", "fp8_block": "fp8", "nvfp4": "fp4"}
"""Element types of the catalogue by what sources call them."""
_PARTS = {"ep": "experts", "topk": "experts", "tp": "inter", "kv_heads": "heads"}
"""Sizes that are no larger than others."""
LEAST_SIDE = 128
"""Products with a shorter side are not held against the law."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelWork:
    """What is timed: the law that times it, and its sizes."""

    family: Family
    key: KernelKey
    sizes: Mapping[str, float]


KernelQuestion = Question[KernelWork, str, KernelConstants]


def why_unusable(row: KernelMeasurement) -> str | None:
    """Why a row cannot be held against a law; None where it can."""
    family = family_of(row)
    lacking = [] if family is None else [size for size in family.sizes if row_size(row, size) is None]
    reasons = {
        f"no law for {row.operation}": family is None,
        f"the catalogue has no chip for {row.system}": row.system not in CHIPS,
        f"no law in {row.element}": row.element not in ELEMENTS,
        "launched one by one, not under a graph: it times the host": row.flag == "eager",
        "a window of keys has no law yet": bool(row.window),
        f"it states no {', '.join(lacking)}": bool(lacking),
        **{
            f"it has more {part} than {whole}": (getattr(row, part) or 0) > (getattr(row, whole) or np.inf)
            for part, whole in _PARTS.items()
        },
        f"a side is shorter than {LEAST_SIDE}": row.operation == "gemm" and min(row.n or 0, row.k or 0) < LEAST_SIDE,
        "it states no time": row.time is None,
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


@lru_cache(maxsize=64)
def _family(operation: str) -> Family | None:
    return next((family for family in FAMILIES if operation in family.operations), None)


def family_of(row: KernelMeasurement) -> Family | None:
    """The kind of kernel that a row times."""
    return _family(row.operation)


def row_size(row: KernelMeasurement, size: str) -> float | None:
    """A size of a row, or what follows from its words."""
    if size == "skew":
        return SKEWS.get(row.distribution)
    if size == "crossings":
        return CROSSINGS.get(row.operation)
    assert size in SIZES, size
    stated: float | None = getattr(row, size)
    return stated


def key_of(row: KernelMeasurement, family: Family) -> KernelKey:
    """Whose constants a row tells of."""
    operation = f"/{row.operation}" if family.operations == tuple(CROSSINGS) else ""
    kernel = row.kernel
    if row.operation == "generation_attention":  # libraries have another kernel for queries that share keys
        kernel += " shared keys" if (row.heads or 0) > (row.kv_heads or 0) else " own keys"
    if row.operation == "moe" and row.version:  # under one name SGLang 0.5.10 works on rows that 0.5.14 drops
        kernel += f" {row.version}"
    return KernelKey(
        f"{family.name}{operation}", CHIPS[row.system], row.element, row.cache_element, row.backend, kernel
    )


@lru_cache(maxsize=64)
def _one_chip(catalogue: Catalogue, chip: str) -> tuple[Cluster, Mapping[str, str]]:
    whole = catalogue.with_chip(catalogue.cluster("dgx-h100/8"), chip)
    return whole, {name: catalogue.chip(name).family for name in CHIPS.values()}


def kernel_question(row: KernelMeasurement, catalogue: Catalogue, *, unseen: bool = False) -> KernelQuestion | str:
    """What a row asks, or why it asks nothing; of a chip that counts as `unseen`, by its family's constants."""
    reason = why_unusable(row)
    if reason is not None:
        return reason
    family = family_of(row)
    assert family is not None, "a row without is unusable"
    key = key_of(row, family)
    system, families = _one_chip(catalogue, key.chip)
    constants = constants_for(key, families, unseen=unseen)
    sizes = {size: float(row_size(row, size) or 0.0) for size in family.sizes}
    return Question(
        candidates=((KernelWork(family=family, key=key, sizes=sizes), row.kernel),),
        system=system,
        calibration=constants,
        outside=(f"constants of {constants.taken_from}",) if constants.taken_from else (),
    )


def kernels_on(key: KernelKey, system: Cluster) -> Kernels:
    """Kernels of that kind on the chips of a machine."""
    narrow = "fp8" in (key.cache_element or "") or key.cache_element == "nvfp4"
    return Kernels(chip=system.chip, element=ELEMENTS[key.element], cache_bytes=1.0 if narrow else 2.0)


@final
@dataclass(frozen=True, slots=True)
class KernelTime(Estimator[KernelWork, str]):
    """The laws of kernels, with constants."""

    constants: KernelConstants

    def estimate(self, asked: KernelWork, system: Cluster, kernel: str) -> Estimate[KernelWork, str]:
        """The time of one kernel, and between which times it lies four times in five."""
        sizes = {name: np.asarray(size) for name, size in asked.sizes.items()}
        values = {name: np.asarray(value) for name, value in self.constants.values.items()}
        time = float(asked.family.time(kernels_on(asked.key, system), sizes, values))
        factor = self.constants.error**REACH
        return Estimate(
            workload=asked,
            decision=kernel,
            contributions=(
                Contribution(
                    name=asked.family.name,
                    part="kernel",
                    time=time,
                    exposed=True,
                    resource="chip",
                    law=asked.family.law,
                ),
            ),
            chips=1,
            ranges={"time": Range(low=time / factor, high=time * factor, level=0.8, varied=("constants of kernels",))},
        )
