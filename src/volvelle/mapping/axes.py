"""The axes of parallelism, one row an axis: what is known of it nowhere else.

A row makes the axis's degree a field of every mapping, with its column, option, JSON key and place in searches; a
symbol of sizes, where the axis cuts blocks; and a group of ranks on the network.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from functools import reduce
from operator import mul
from typing import Any, Generic, Literal, TypeVar

from volvelle.mapping.choices import choice
from volvelle.workload.tensor_layout import Collective

Whole = TypeVar("Whole")
"""A degree: one number, a column of them, or those that a search considers."""

Weights = Literal["split", "copied", "dealt"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Axis:
    """A way to share work out among chips."""

    name: str
    flag: str
    rank: int
    """Ranks are numbered along the axis with the lowest first. One that shares another's chips begins where that one
    does."""
    takes_chips: bool = True
    """Needs chips of its own, not those of other axes."""
    weights: Weights = "split"
    """What its chips hold: parts of the weights; copies, whose gradients they exchange; or whole experts, dealt out."""
    splits: tuple[str, ...] = ()
    """Dimensions that it splits inside a block, the first an operation has; none: it cuts no blocks."""
    otherwise: str | None = None
    """What operations split that have none of these; None: nothing."""
    boundary: str | None = None
    """The dimension by which activations handed from block to block are split; None: all have all of them."""
    hides_behind: str = "nothing"
    """Work that its exchanges run behind, by a name of the estimator's (`estimators.training.overlaps`)."""
    exchanges: str = "activations"
    """What its chips exchange inside a block, for people."""
    by: Collective = Collective.ALL_GATHER
    """How they do."""
    plain: bool = False
    """Shown to people also where it is 1."""

    @property
    def word(self) -> str:
        """As in tp8."""
        return self.flag.lstrip("-")

    @property
    def communication(self) -> str:
        """The part of a breakdown that its exchanges are."""
        return f"{self.name}-parallel communication"

    def __reduce__(self) -> tuple[Callable[[str], "Axis"], tuple[str]]:
        """There is one of each, also after a journey to another process."""
        return _named, (self.name,)


_KEY = "axis"


def row(flag: str, **said: Any) -> Any:
    """A row: what is known of an axis, and of its degree as a field of a mapping."""
    known = {field.name for field in fields(Axis)}
    of_degree = {name: value for name, value in said.items() if name not in known}
    degree = choice(1, flag=flag, recorded=True, **of_degree)
    of_axis = {name: value for name, value in said.items() if name in known}
    degree.metadata = {**degree.metadata, _KEY: {"flag": flag, **of_axis}}
    return degree


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Degrees(Generic[Whole]):
    """Chips along every axis."""

    __slots__ = ()

    tensor: Whole = row(
        "--tp",
        says="Tensor parallelism (TP).",
        rank=0,
        splits=("kv_heads", "ffn", "shared_ffn", "expert_ffn", "vocab", "inner", "state_groups"),
        by=Collective.ALL_REDUCE,
        plain=True,
    )
    """Chips that share every layer."""
    pipeline: Whole = row("--pp", says="Pipeline parallelism (PP): stages.", rank=4, plain=True)
    """Stages, one behind the other."""
    data: Whole = row("--dp", says="Data parallelism (DP): replicas.", rank=3, weights="copied", plain=True)
    """Replicas, each with its share of the batch."""
    context: Whole = row(
        "--cp",
        says="Context parallelism (CP): chips that share a sequence.",
        rank=2,
        weights="copied",
        splits=("position", "slots"),
        boundary="position",
        hides_behind="attention core",
        exchanges="keys and values",
        searched=(1,),
        usually="1, 2, 4, 8, 16",
        rare=True,
    )
    """Chips that share every sequence."""
    expert: Whole = row(
        "--ep",
        says="Expert parallelism (EP): replicas that share experts.",
        rank=2,
        takes_chips=False,
        weights="dealt",
        splits=("experts",),
        otherwise="batch",
        boundary="batch",
        hides_behind="another micro-batch",
        exchanges="tokens to experts and back",
        by=Collective.ALL_TO_ALL,
        rare=True,
    )
    """Chips among which experts are dealt out: a part of `data` × `context`, times `tensor` if they stay whole."""


AXES: tuple[Axis, ...] = tuple(Axis(name=field.name, **field.metadata[_KEY]) for field in fields(Degrees))
"""All of them, in the order in which people read them."""
TAKING: tuple[Axis, ...] = tuple(axis for axis in AXES if axis.takes_chips)
"""Those that have chips of their own: their degrees multiplied are the chips of a mapping."""
CUTTING: tuple[Axis, ...] = tuple(axis for axis in AXES if axis.splits)
"""Those that cut blocks."""
REPLICAS: tuple[Axis, ...] = tuple(
    sorted((axis for axis in AXES if axis.weights == "copied"), key=lambda axis: axis.rank)
)
"""Those whose chips hold the same weights; ranks are numbered along them one after the other, in this order."""


def _named(name: str) -> Axis:
    return next(axis for axis in AXES if axis.name == name)


TENSOR, PIPELINE, DATA, CONTEXT, EXPERT = map(_named, ("tensor", "pipeline", "data", "context", "expert"))


def combined(degrees: Degrees[Any], axes: Iterable[Axis]) -> Any:
    """The product of some degrees."""
    return reduce(mul, [getattr(degrees, axis.name) for axis in axes] or [1.0])


def inside(axis: Axis) -> tuple[Axis, ...]:
    """Axes along which ranks are numbered before this one."""
    return tuple(other for other in TAKING if other.rank < axis.rank)


def stride(degrees: Degrees[Any], axis: Axis) -> Any:
    """Ranks between two neighbours along an axis."""
    return combined(degrees, inside(axis))
