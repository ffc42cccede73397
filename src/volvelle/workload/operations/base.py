"""What every kind of operation answers about itself, from its signature alone."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from math import prod

from volvelle.domains import check_fields
from volvelle.errors import GraphError
from volvelle.workload.signature import Signature
from volvelle.workload.tensor_layout import PARTIAL, REPLICATED, TensorLayout, split


class Phase(Enum):
    """When in a training step an operation runs."""

    FORWARD = "forward"
    BACKWARD = "backward"
    RECOMPUTE = "recompute"


class Unit(Enum):
    """Which arithmetic units an operation needs."""

    MATRIX = "matrix"
    VECTOR = "vector"


@dataclass(frozen=True, slots=True)
class Work:
    """Arithmetic: so many FLOP for every point of the named dimensions."""

    unit: Unit
    per_point: float
    dims: tuple[str, ...]

    def flops(self, sizes: Mapping[str, float]) -> float:
        """FLOP at the given sizes."""
        return self.per_point * prod(sizes[dim] for dim in self.dims)


@dataclass(frozen=True, slots=True)
class SplitChoice:
    """One way to run an operation over an axis of chips: the layouts it needs and the layouts it leaves."""

    dim: str | None
    """The dimension of the signature that is split; None: every chip does everything, or sums partials."""
    inputs: tuple[TensorLayout, ...]
    outputs: tuple[TensorLayout, ...]


class AbstractKind(ABC):
    """A kind of operation. All it knows is its signature and what is special about its kind."""

    signature: Signature

    def __post_init__(self) -> None:
        check_fields(self, f"{type(self).__name__} '{self.signature}'", error=GraphError)

    @abstractmethod
    def work(self) -> Work:
        """How much arithmetic it does, and on which units."""

    @abstractmethod
    def whole(self) -> frozenset[str]:
        """Dimensions that cannot be split, because the result is not a sum over their parts."""

    @abstractmethod
    def sums(self) -> bool:
        """Whether summands in give summands out, so that partial inputs need no conversion."""

    @abstractmethod
    def gradients(self, op: "Operation", wanted: Sequence[bool]) -> "Gradients":
        """The operations that carry gradients from outputs to the wanted inputs."""

    def windows(self) -> frozenset[str]:
        """Dimensions by which it knows a longer one of a tensor, because each point meets only a part of that."""
        return frozenset()

    def choices(self) -> tuple[SplitChoice, ...]:
        """Every way to run this operation over one axis of chips.

        Splitting a dimension splits each tensor that has it; an output that lacks it is left partial, an
        input that lacks it is needed whole.
        """
        return _choices(self.signature, self.whole(), self.sums())


@lru_cache(maxsize=4096)
def _choices(signature: Signature, whole: frozenset[str], sums: bool) -> tuple[SplitChoice, ...]:
    inputs, outputs = len(signature.inputs), len(signature.outputs)
    splits = [
        SplitChoice(
            dim,
            tuple(split(dim) if dim in dims else REPLICATED for dims in signature.inputs),
            tuple(split(dim) if dim in dims else PARTIAL for dims in signature.outputs),
        )
        for dim in signature.dims
        if dim not in whole
    ]
    together = [SplitChoice(None, (REPLICATED,) * inputs, (REPLICATED,) * outputs)]
    if sums:
        together.append(SplitChoice(None, (PARTIAL,) * inputs, (PARTIAL,) * outputs))
    return (*splits, *together)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """A kind of operation applied to named tensors."""

    name: str
    kind: AbstractKind
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    phase: Phase = Phase.FORWARD
    of: str = ""
    """For a backward operation: the forward operation it belongs to."""
    part: str = ""
    """The part of the model it belongs to, for people reading a breakdown."""
    region: str = ""
    """Operations of one region can be fused into one kernel, or recomputed together."""
    fused: bool = False
    """Runs inside a neighbour's kernel, so it moves no data of its own."""

    def __post_init__(self) -> None:
        check_fields(self, f"operation {self.name!r}", error=GraphError)

    def gradient_name(self, index: int) -> str:
        """What the gradient of one of its inputs is called; by number too where it reads a tensor twice."""
        name = self.inputs[index]
        again = f".{index}" if name in self.inputs[:index] else ""
        return f"{self.name}.backward.{name}{again}"


@dataclass(frozen=True, slots=True)
class Gradients:
    """How gradients pass an operation: by operations, or unchanged."""

    operations: tuple[Operation, ...] = ()
    carried: Mapping[int, str] = field(default_factory=dict)
    """Input index → name of the tensor that holds (a summand of) its gradient."""


def gradients_of_kernel(
    op: Operation,
    wanted: Sequence[bool],
    read: Sequence[tuple[tuple[str, ...], str]],
    made: Callable[[Signature], AbstractKind],
) -> Gradients:
    """One backward kernel, which reads tensors (dimensions and name) and writes the gradient of every wanted input."""
    targets = [index for index, want in enumerate(wanted) if want]
    if not targets:
        return Gradients()
    outputs = tuple(op.gradient_name(index) for index in targets)
    given = tuple(op.kind.signature.inputs[index] for index in targets)
    backward = Operation(
        name=f"{op.name}.backward",
        kind=made(Signature(tuple(dims for dims, _ in read), given)),
        inputs=tuple(name for _, name in read),
        outputs=outputs,
        phase=Phase.BACKWARD,
        of=op.name,
        part=op.part,
        region=op.region,
        fused=op.fused,
    )
    return Gradients((backward,), dict(zip(targets, outputs, strict=True)))
