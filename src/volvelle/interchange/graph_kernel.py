"""One kernel of a graph file: its line read, its kind found, its options checked.

``contract x, w1 -> batch ffn``: a kind, the tensors it reads, and the dimensions of what it makes. The dimensions of
what it reads are known where they were declared; to take one under other names write them behind it, as in
``contract query, key(batch other heads width) -> batch heads position other``.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import log2

from volvelle.domains import FACTOR, NO_LAYERS
from volvelle.errors import DescriptionError, GraphError, UnknownNameError, brief
from volvelle.workload.elements import element_bytes
from volvelle.workload.operations import (
    AbstractKind,
    Contraction,
    Convolution,
    Fourier,
    Lookup,
    Normalisation,
    Pointwise,
    Routing,
    Scan,
)
from volvelle.workload.signature import Signature

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
"""What tensors, kernels and dimensions may be called."""
_OPERAND = re.compile(r"\s*([^\s,()]+)\s*(?:\(([^()]*)\))?\s*")
_EVERYWHERE = ("element", "partition")


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelLine:
    """A kernel as its line states it."""

    name: str
    where: str
    """File, block and kernel, for messages."""
    kind: str
    reads: tuple[str, ...]
    taken_as: tuple[tuple[str, ...] | None, ...]
    """For each tensor read, the dimensions written behind it; None: its own."""
    makes: tuple[str, ...]
    options: Mapping[str, object]

    def number(self, option: str, default: float) -> float:
        """A number among the options."""
        value = self.options.get(option, default)
        FACTOR.check(value, f"{self.where}: {option}", error=GraphError)
        return float(value)  # type: ignore[arg-type]

    def dims(self, option: str) -> tuple[str, ...]:
        """Dimensions of the kernel among the options; needed."""
        value = self.options.get(option)
        if not isinstance(value, str) or not value.split():
            raise GraphError(
                f"{self.where}: {self.kind} needs '{option}' to name one or more of its dimensions"
                + (f"; it is {brief(value)}" if value is not None else f", like {option}: {self.makes[-1]}")
            )
        return tuple(value.split())

    def one_dim(self, option: str) -> str:
        """One dimension among the options; needed."""
        found = self.dims(option)
        if len(found) != 1:
            raise GraphError(f"{self.where}: {option} is {' '.join(found)!r}; {self.kind} runs along one dimension")
        return found[0]

    @property
    def partition(self) -> int | None:
        """Where the kernel is pinned, if it is."""
        value = self.options.get("partition")
        if value is not None:
            NO_LAYERS.check(value, f"{self.where}: partition", error=GraphError)
        return value  # type: ignore[return-value]

    @property
    def element(self) -> str | None:
        """Element type of what it makes, if said."""
        value = self.options.get("element")
        if value is not None and not isinstance(value, str):
            raise GraphError(f"{self.where}: element is {brief(value)}; name an element type, like bf16")
        return value

    def saves(self) -> tuple[int, ...]:
        """Which tensors the gradient reads, by number: all it read, or those said."""
        value = self.options.get("saves", list(dict.fromkeys(self.reads)))
        names = [*self.reads, self.name]
        wrong = [each for each in value if each not in names] if isinstance(value, list) else [value]
        if not isinstance(value, list) or wrong:
            raise GraphError(
                f"{self.where}: saves has {', '.join(map(repr, wrong))}; it lists tensors the gradient reads, out of "
                f"{', '.join(names)}"
            )
        return tuple(~0 if each == self.name else self.reads.index(each) for each in value)


@dataclass(frozen=True, slots=True)
class _Kind:
    build: Callable[[KernelLine, Signature, Mapping[str, float]], AbstractKind]
    options: tuple[str, ...] = ()
    reads: tuple[int, int] = (1, 99)
    invents: bool = False
    """May make a dimension that none of its inputs has."""


def _join(line: KernelLine, signature: Signature, _: Mapping[str, float]) -> Pointwise:
    return Pointwise(signature, flops=line.number("flops_per_point", 0.0), over=line.makes)


def _fourier(line: KernelLine, signature: Signature, sizes: Mapping[str, float]) -> Fourier:
    along = line.one_dim("along")
    usual = 5.0 * log2(max(sizes.get(along, 2.0), 2.0))
    return Fourier(signature, along=along, flops=line.number("flops_per_point", usual))


def _norm(line: KernelLine, signature: Signature, *, of_output: bool) -> Normalisation:
    flops = line.number("flops_per_point", 5.0)
    return Normalisation(signature, along=line.one_dim("along"), flops=flops, saves_output=of_output)


def _route(line: KernelLine, signature: Signature, _: Mapping[str, float]) -> Routing:
    carries = line.dims("carries")
    if len(carries) != 2:
        raise GraphError(f"{line.where}: carries is {' '.join(carries)!r}; name the dimension before and the one after")
    return Routing(signature, carries=(carries[0], carries[1]), flops=line.number("flops_per_point", 0.0))


KINDS: Mapping[str, _Kind] = {
    "contract": _Kind(lambda _, signature, __: Contraction(signature), reads=(2, 2)),
    "convolve": _Kind(
        lambda line, signature, _: Convolution(signature, along=line.dims("along")), options=("along",), reads=(2, 2)
    ),
    "pointwise": _Kind(
        lambda line, signature, _: Pointwise(signature, flops=line.number("flops_per_point", 1.0), saves=line.saves()),
        options=("flops_per_point", "saves"),
    ),
    "sum": _Kind(
        lambda _, signature, __: Pointwise(signature, flops=max(len(signature.inputs) - 1.0, 1.0), is_sum=True),
    ),
    "join": _Kind(_join, options=("flops_per_point",), reads=(2, 99), invents=True),
    "normalise": _Kind(
        lambda line, signature, _: _norm(line, signature, of_output=False), options=("along", "flops_per_point")
    ),
    "softmax": _Kind(
        lambda line, signature, _: _norm(line, signature, of_output=True),
        options=("along", "flops_per_point"),
        reads=(1, 1),
    ),
    "scan": _Kind(
        lambda line, signature, _: Scan(
            signature, along=line.one_dim("along"), flops=line.number("flops_per_point", 2.0)
        ),
        options=("along", "flops_per_point"),
    ),
    "fourier": _Kind(_fourier, options=("along", "flops_per_point"), reads=(1, 1)),
    "lookup": _Kind(lambda _, signature, __: Lookup(signature), reads=(2, 2)),
    "route": _Kind(_route, options=("carries", "flops_per_point"), invents=True),
}
"""Kinds of kernel by the word a file uses."""


def check_element(element: object, at: str) -> None:
    """Refuse an element type that nobody knows."""
    try:
        element_bytes(str(element))
    except UnknownNameError as error:
        raise DescriptionError(f"{at}: {error}") from None


def read_kernel(name: str, stated: object, where: str) -> KernelLine:
    """A kernel from its line, or from named fields of which one is its kind and the others are options."""
    where = f"{where}: kernel {name!r}"
    if isinstance(stated, str):
        word, _, rest = stated.strip().partition(" ")
        stated = {word: rest}
    if not isinstance(stated, Mapping):
        raise GraphError(
            f"{where} is {brief(stated)}; write what it does, like: contract x, w -> batch hidden; "
            f"or named fields with that and options, like: {{contract: 'x, w -> batch hidden', partition: 0}}"
        )
    words = [word for word in stated if word in KINDS]
    if not words:
        known = {option for kind in KINDS.values() for option in kind.options} | {*_EVERYWHERE}
        strange = next((str(word) for word in stated if word not in known), "")
        problem = UnknownNameError.among("kind of kernel", strange, KINDS) if strange else "it names no kind of kernel"
        raise GraphError(f"{where}: {problem}" + ("" if strange else f"; name one of {', '.join(KINDS)}"))
    if len(words) > 1:
        raise GraphError(f"{where} is both {' and '.join(words)}; make it two kernels")
    kind = words[0]
    options = {str(key): value for key, value in stated.items() if key != kind}
    for option in options:
        if option not in (*KINDS[kind].options, *_EVERYWHERE):
            known_here = (*KINDS[kind].options, *_EVERYWHERE)
            raise GraphError(f"{where}: {UnknownNameError.among(f'option of {kind}', option, known_here)}")
    reads, taken_as, makes = _read_line(stated[kind], kind, where)
    return KernelLine(name=name, where=where, kind=kind, reads=reads, taken_as=taken_as, makes=makes, options=options)


def _read_line(
    line: object, kind: str, where: str
) -> tuple[tuple[str, ...], tuple[tuple[str, ...] | None, ...], tuple[str, ...]]:
    form = f"write it like '{kind} x{', w' if KINDS[kind].reads[0] == 2 else ''} -> batch hidden'"
    if not isinstance(line, str) or line.count("->") != 1:
        raise GraphError(f"{where}: {kind} is given {brief(line)}, which has not one '->'; {form}")
    left, _, right = line.partition("->")
    reads: list[str] = []
    taken_as: list[tuple[str, ...] | None] = []
    for part in re.split(r",(?![^()]*\))", left):
        found = _OPERAND.fullmatch(part)
        if found is None:
            raise GraphError(
                f"{where}: {brief(part.strip())} is not a tensor, or one with its dimensions behind it; {form}"
            )
        reads.append(found[1])
        taken_as.append(None if found[2] is None else tuple(found[2].replace(",", " ").split()))
    makes = tuple(right.split())
    bad = [dim for dim in makes if not NAME.fullmatch(dim)]
    if bad or not makes:
        raise GraphError(f"{where}: {brief(right.strip())} are not the dimensions of one tensor; {form}")
    if len(set(makes)) != len(makes):
        raise GraphError(f"{where}: {brief(right.strip())} names a dimension twice; give each its own name")
    low, high = KINDS[kind].reads
    if not low <= len(reads) <= high:
        count = f"{low}" if low == high else f"{low} or more"
        raise GraphError(f"{where}: {kind} takes {count} tensors, not {len(reads)} ({', '.join(reads)}); {form}")
    return tuple(reads), tuple(taken_as), makes
