"""A small hand for writing blocks: name a tensor once, get its name back, pass it on."""

from volvelle.workload.graph import Block, Role, Tensor
from volvelle.workload.operations import (
    AbstractKind,
    Contraction,
    Convolution,
    Fourier,
    Lookup,
    Normalisation,
    Operation,
    Phase,
    Pointwise,
    Routing,
    Scan,
    Unit,
)
from volvelle.workload.signature import Signature


class BlockBuilder:
    """Collects tensors and operations, then makes a `Block` of them.

    >>> from volvelle import BlockBuilder
    >>> mlp = BlockBuilder("mlp", element="bf16")
    >>> x = mlp.input("x", "batch hidden")
    >>> up = mlp.contract("up", "batch hidden, hidden ffn -> batch ffn", x, mlp.weight("w1", "hidden ffn"))
    >>> act = mlp.pointwise("relu", "batch ffn -> batch ffn", up, saves=(0,))
    >>> y = mlp.contract("down", "batch ffn, ffn hidden -> batch hidden", act, mlp.weight("w2", "ffn hidden"))
    >>> block = mlp.build(outputs=(y,))
    """

    def __init__(self, name: str, *, element: str = "bf16") -> None:
        self._name = name
        self._element = element
        self._tensors: list[Tensor] = []
        self._operations: list[Operation] = []
        self._inputs: list[str] = []
        self.part = name
        """Part of the model that operations added from now on belong to."""
        self.region = ""
        """Region of the operations added from now on."""
        self.phase = Phase.FORWARD
        """Phase of the operations added from now on; a backward pass is as a rule derived, not written."""

    def _tensor(self, name: str, dims: tuple[str, ...], element: str | None, role: Role, tied_to: str = "") -> str:
        self._tensors.append(Tensor(name=name, dims=dims, element=element or self._element, role=role, tied_to=tied_to))
        return name

    def input(self, name: str, dims: str, *, element: str | None = None) -> str:
        """A tensor handed over by the block before."""
        self._inputs.append(name)
        return self._tensor(name, tuple(dims.split()), element, Role.ACTIVATION)

    def data(self, name: str, dims: str, *, element: str = "int64") -> str:
        """A tensor from outside, without gradient."""
        return self._tensor(name, tuple(dims.split()), element, Role.INPUT)

    def state(self, name: str, dims: str, *, element: str | None = None) -> str:
        """A tensor kept from step to step, without gradient."""
        return self._tensor(name, tuple(dims.split()), element, Role.STATE)

    def weight(self, name: str, dims: str, *, tied_to: str = "", element: str | None = None) -> str:
        """A learned tensor."""
        return self._tensor(name, tuple(dims.split()), element, Role.WEIGHT, tied_to)

    def add(
        self,
        name: str,
        kind: AbstractKind,
        inputs: tuple[str, ...],
        *,
        fused: bool = False,
        element: str | None = None,
        of: str = "",
    ) -> str:
        """Any kind of operation; its outputs are named after it. Gives the first one's name."""
        outputs = []
        role = Role.ACTIVATION if self.phase is Phase.FORWARD else Role.GRADIENT
        for index, dims in enumerate(kind.signature.outputs):
            output = name if index == 0 else f"{name}.{index}"
            outputs.append(self._tensor(output, dims, element if index == 0 else "mask", role))
        self._operations.append(
            Operation(
                name=name,
                kind=kind,
                inputs=inputs,
                outputs=tuple(outputs),
                phase=self.phase,
                of=of,
                part=self.part,
                region=self.region,
                fused=fused,
            )
        )
        return outputs[0]

    def contract(self, name: str, signature: str, first: str, second: str, *, window: str = "") -> str:
        """Products summed over what the output lacks."""
        return self.add(name, Contraction(Signature.parse(signature), window=window), (first, second))

    def project(self, name: str, signature: str, x: str) -> str:
        """The product with a weight of its own, which the signature names second."""
        dims = " ".join(Signature.parse(signature).inputs[1])
        return self.contract(name, signature, x, self.weight(f"{name}_weight", dims))

    def convolve(self, name: str, signature: str, signal: str, window: str, *, along: str) -> str:
        """A window slid over a signal."""
        kind = Convolution(Signature.parse(signature), along=tuple(along.split()))
        return self.add(name, kind, (signal, window))

    def scan(
        self, name: str, signature: str, *inputs: str, along: str, flops: float = 2.0, unit: Unit = Unit.VECTOR
    ) -> str:
        """A recurrence along one dimension."""
        return self.add(name, Scan(Signature.parse(signature), along=along, flops=flops, unit=unit), inputs)

    def transform(self, name: str, dims: str, x: str, *, along: str, flops: float, unit: Unit = Unit.VECTOR) -> str:
        """A Fourier transform along one dimension."""
        kind = Fourier(Signature.parse(f"{dims} -> {dims}"), along=along, flops=flops, unit=unit)
        return self.add(name, kind, (x,))

    def pointwise(
        self,
        name: str,
        signature: str,
        *inputs: str,
        flops: float = 1.0,
        saves: tuple[int, ...] = (),
        is_sum: bool = False,
        fused: bool = False,
    ) -> str:
        """Point by point."""
        kind = Pointwise(Signature.parse(signature), flops=flops, saves=saves, is_sum=is_sum)
        return self.add(name, kind, inputs, fused=fused)

    def normalise(
        self,
        name: str,
        signature: str,
        *inputs: str,
        along: str,
        flops: float = 5.0,
        saves_output: bool = False,
        statistics_reduced: bool = False,
        element: str | None = None,
    ) -> str:
        """Scaled by a statistic along one dimension."""
        kind = Normalisation(
            Signature.parse(signature),
            along=along,
            flops=flops,
            saves_output=saves_output,
            statistics_reduced=statistics_reduced,
        )
        return self.add(name, kind, inputs, element=element)

    def look_up(self, name: str, signature: str, indices: str, table: str) -> str:
        """Table rows by index."""
        return self.add(name, Lookup(Signature.parse(signature)), (indices, table))

    def route(self, name: str, signature: str, *inputs: str, flops: float = 0.0) -> str:
        """Rows to where a router sends them, or back."""
        left, _, right = signature.partition("->")
        dims = [tuple(tuple(part.split()) for part in side.split(",")) for side in (left, right)]
        return self.add(name, Routing(Signature(*dims), flops=flops), inputs)

    def join(self, name: str, parts: str, dim: str, *inputs: str) -> str:
        """Tensors side by side along a new dimension `dim`; what a part lacks is repeated."""
        dims = tuple(tuple(part.split()) for part in parts.split(","))
        made = (*dims[0][:-1], dim)
        return self.add(name, Pointwise(Signature(dims, (made,)), flops=3.0, over=made), inputs)

    def build(self, *, outputs: tuple[str, ...], repeat: int = 1) -> Block:
        """The block."""
        return Block(
            name=self._name,
            operations=tuple(self._operations),
            tensors=tuple(self._tensors),
            inputs=tuple(self._inputs),
            outputs=outputs,
            repeat=repeat,
        )
