"""Collectives as PyTorch, NCCL, Gloo and Chakra call them, and which size the laws count."""

import re
from typing import Final

from volvelle.workload.tensor_layout import Collective
from volvelle.workload.trace.values import Communication

_WORDS: Final = (
    ("reduce_scatter", Collective.REDUCE_SCATTER),
    ("reducescatter", Collective.REDUCE_SCATTER),
    ("allreduce", Collective.ALL_REDUCE),
    ("all_reduce", Collective.ALL_REDUCE),
    ("allgather", Collective.ALL_GATHER),
    ("all_gather", Collective.ALL_GATHER),
    ("alltoall", Collective.ALL_TO_ALL),
    ("all_to_all", Collective.ALL_TO_ALL),
    ("broadcast", Collective.BROADCAST),
    ("sendrecv", Collective.POINT_TO_POINT),
    ("recv", Collective.POINT_TO_POINT),
    ("send", Collective.POINT_TO_POINT),
    ("barrier", Collective.ALL_REDUCE),
    # Taken as what moves as many bytes through the busiest link: a sum at one rank is a broadcast run backwards, and
    # what one rank gathers or scatters goes through its link as in an all-gather.
    ("reduce", Collective.BROADCAST),
    ("gather", Collective.ALL_GATHER),
    ("scatter", Collective.ALL_GATHER),
)
_LIBRARY: Final = re.compile(
    r"^(c10d::|gloo:|nccl:|mccl:|ncclKernel|ncclDevKernel|void ncclKernel|record_param_comms)", re.IGNORECASE
)


def is_communication(name: str) -> bool:
    """Whether an operation or a kernel is one of a library for communication."""
    return _LIBRARY.match(name) is not None


def collective_named(name: str) -> Collective | None:
    """The collective that a name contains, as of c10d, of a kernel of NCCL or of MPI."""
    plain = name.lower().replace("-", "_").replace("_base", "").replace("_coalesced", "")
    return next((kind for word, kind in _WORDS if word in plain), None)


def communication(kind: Collective, sent: float, received: float, group: int) -> Communication:
    """With the size that laws count: the whole tensor, which is the larger side of a gather and of a scatter."""
    size = sent or received if kind is Collective.ALL_TO_ALL else max(sent, received)
    return Communication(kind, size, group)
