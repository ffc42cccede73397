"""What NCCL would choose for a collective on a machine, by its own cost model."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from volvelle.catalogue.nccl import nccl_model
from volvelle.errors import DescriptionError
from volvelle.estimators.nccl import nccl_group, nccl_times
from volvelle.system.cluster import Cluster
from volvelle.workload.tensor_layout import Collective


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryChoice:
    """Algorithm and protocol of the library, and the time that its cost model gives them."""

    chosen: str
    time: float


def library_choices(
    kind: Collective, sizes: NDArray[np.float64], cluster: Cluster, along: Sequence[int]
) -> tuple[LibraryChoice, ...] | None:
    """For each size; None where the model has no constants for the chips, or knows no such collective or network."""
    if kind is Collective.ALL_TO_ALL:
        return None
    model = nccl_model()
    try:
        group = nccl_group(model, cluster, along)
        found = nccl_times(model, group, kind, sizes)
    except DescriptionError:
        return None
    return tuple(
        LibraryChoice(chosen=chosen, time=float(time)) for chosen, time in zip(found.chosen, found.time, strict=True)
    )
