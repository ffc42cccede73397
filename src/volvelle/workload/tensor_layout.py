"""How a tensor lies over one axis of chips, and what it takes to lay it otherwise.

Along one axis a tensor is **replicated** (every chip holds all of it), **split** along one of its
dimensions, or **partial** (every chip holds a summand of it). These three and the conversions between
them are all that sharding needs; see GSPMD (Xu et al., arXiv:2105.04663, sections 3.1 and 3.5).
"""

from dataclasses import dataclass
from enum import Enum
from functools import cache

from volvelle.domains import check_fields
from volvelle.errors import GraphError, brief


class Collective(Enum):
    """What chips do together to change a layout."""

    ALL_REDUCE = "all-reduce"
    REDUCE_SCATTER = "reduce-scatter"
    ALL_GATHER = "all-gather"
    ALL_TO_ALL = "all-to-all"
    BROADCAST = "broadcast"
    POINT_TO_POINT = "point-to-point"


@dataclass(frozen=True, slots=True)
class TensorLayout:
    """How a tensor lies over one axis of chips; compare with `REPLICATED`, `PARTIAL` or `split(dim)`."""

    kind: str
    dim: str = ""

    def __post_init__(self) -> None:
        check_fields(self, "tensor layout", error=GraphError)

    def __str__(self) -> str:
        return f"{self.kind}({self.dim})" if self.dim else self.kind


REPLICATED = TensorLayout("replicated")
PARTIAL = TensorLayout("partial")


@cache
def _split(dim: str) -> TensorLayout:
    return TensorLayout("split", dim)


def split(dim: str) -> TensorLayout:
    """The layout in which each chip holds an equal slice along `dim`."""
    return _split(dim) if isinstance(dim, str) else TensorLayout("split", dim)  # which refuses it


def conversion(found: TensorLayout, wanted: TensorLayout) -> Collective | None:
    """The collective that turns one layout into another; None where it is free.

    =============  ==============  ==================
    found          wanted          takes
    =============  ==============  ==================
    partial        replicated      all-reduce
    partial        split           reduce-scatter
    split          replicated      all-gather
    split a        split b         all-to-all
    replicated     split           nothing
    =============  ==============  ==================
    """
    for layout in (found, wanted):
        if not isinstance(layout, TensorLayout):
            raise GraphError(f"{brief(layout)} is no layout of a tensor; give REPLICATED, PARTIAL or split(dim)")
    if found == wanted:
        return None
    if wanted == PARTIAL:
        raise GraphError(f"a {found} tensor cannot be turned into summands; nothing ever needs that")
    if found == PARTIAL:
        return Collective.ALL_REDUCE if wanted == REPLICATED else Collective.REDUCE_SCATTER
    if found == REPLICATED:
        return None
    return Collective.ALL_GATHER if wanted == REPLICATED else Collective.ALL_TO_ALL
