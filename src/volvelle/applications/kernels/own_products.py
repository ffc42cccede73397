"""What matrix products of one's own say of a chip: how much they sustain against what the catalogue says of it."""

from collections.abc import Iterable
from math import log

import numpy as np

from volvelle.applications.kernels.measurements import KernelMeasurement
from volvelle.applications.kernels.prediction import CHIPS, ELEMENTS, why_unusable
from volvelle.catalogue import Catalogue
from volvelle.estimators.calibration import fitted_constants
from volvelle.laws.model_error import two_levels
from volvelle.system.cluster import Cluster
from volvelle.workload.elements import element_bytes

_LARGE = 1e11
"""FLOP below which a start and an end count."""
_BOUND = 4.0
"""How much longer matrix units take at their peak than memory, from which on they alone bind."""
_RESULT = element_bytes("bf16")


def sustained_ratio(
    cluster: Cluster, element: str, *, m: float, n: float, k: float, seconds: float, batch: float = 1.0
) -> float | None:
    """The logarithm of what a product sustains over what the catalogue says of products of its inner size.

    None: it is too small to tell, or memory binds it.
    """
    peak, memory = (float(np.max(rate)) for rate in (cluster.chip.matrix_rate(element), cluster.chip.memory.rate))
    work = 2.0 * batch * m * n * k
    moved = batch * (element_bytes(element) * k * (m + n) + _RESULT * m * n)
    if work < _LARGE or work / peak < _BOUND * moved / memory:
        return None
    constants = fitted_constants(cluster, element, software=False)
    share = float(constants.matrix_efficiency) * k / (k + float(constants.gemm_k_half))
    return log(work / seconds / (share * peak))


def product_spreads(
    rows: Iterable[KernelMeasurement], catalogue: Catalogue, *, narrow: bool
) -> tuple[float, float, int, int]:
    """Between chips and libraries, and within one, of large products; how many products, of how many of these.

    Of elements of 16 bits, or of narrower ones, which the catalogue knows less of.
    """
    machines: dict[str, Cluster] = {}
    ratios, groups = [], []
    for row in rows:
        if row.operation != "gemm" or why_unusable(row) is not None:
            continue
        chip, element = CHIPS[row.system], ELEMENTS[row.element]
        cluster = machines.setdefault(chip, catalogue.with_chip(catalogue.cluster("dgx-h100/8"), chip))
        if (element_bytes(element) < _RESULT) != narrow or element not in cluster.chip.matrix_rates:
            continue
        if row.m is None or row.n is None or row.k is None or row.time is None:
            continue
        ratio = sustained_ratio(cluster, element, m=row.m, n=row.n, k=row.k, seconds=row.time)
        if ratio is not None:
            ratios.append(ratio)
            groups.append(f"{row.system} {element} {row.backend}")
    _, between, within = two_levels(np.array(ratios), groups, centre=0.0)
    return between, within, len(ratios), len(set(groups))
