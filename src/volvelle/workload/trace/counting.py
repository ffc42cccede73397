"""What an operation asks of a chip, from its name and the sizes of its tensors: FLOP, bytes, the shape of a product."""

import json
from collections.abc import Callable, Sequence
from functools import lru_cache
from math import prod
from typing import Final

from volvelle.workload.trace.operation_names import (
    ATTENTION,
    ATTENTION_GRADIENTS,
    CONVOLUTION_GRADIENTS,
    CONVOLUTIONS,
    COPIES,
    ELEMENTWISE,
    EMBEDDING_GRADIENTS,
    GATHERS,
    HANDING_ON,
    NORMALISATIONS,
    PRODUCTS,
    REDUCTIONS,
    SEQUENCE_BEFORE_HEADS,
    VIEWS,
    bare,
)
from volvelle.workload.trace.values import Tensor, Work

Argument = Tensor | tuple[Tensor, ...] | None
"""A tensor, a list of them, or what is no tensor."""

_RANKS: Final = {"product": 3, "convolution": 3, "attention": 3, "copy": 1, "view": 0}
_NORMALISING_FLOP, _PLAIN_FLOP = 8.0, 1.0
"""FLOP an element, within a factor of two; memory binds them on every chip of the catalogue."""
_BACKWARD_PRODUCTS = 2.5
"""Five products in the backward pass of attention, two in the forward: Dao 2023 (FlashAttention-2), section 3.1."""


def rank(work: Work | None) -> int:
    """How far down an operation stands: one that contains another of its rank or above only hands it on."""
    return -1 if work is None else _RANKS.get(work.kind, 2)


@lru_cache(maxsize=1 << 16)
def work_of(
    name: str, inputs: tuple[Argument, ...], outputs: tuple[Tensor, ...] = (), said: tuple[str, ...] = ()
) -> Work | None:
    """What the operation does; None: its name is not known, or its sizes are not told.

    `said` are the values of arguments that are no tensors, as text, at their places.
    """
    known = bare(name)
    if known not in _COUNTED:
        known = known.lower()
    if known in VIEWS or (name.startswith("aten::") and known in HANDING_ON):
        return Work("view")
    count = _fused if known.startswith(_GENERATED) else _COUNTED.get(known)
    if count is None:
        return None
    try:
        work = count(known, inputs, outputs, said)
    except (IndexError, ValueError, ZeroDivisionError, AttributeError, TypeError, OverflowError):
        return None  # sizes that contradict the operation, as of a list that a profiler cut off
    return work if work is not None and work.matrix_flop + work.vector_flop + work.traffic < _MOST else None


_MOST = 1e30


def tensors(arguments: Sequence[Argument]) -> list[Tensor]:
    """All tensors among arguments, those in lists too."""
    found: list[Tensor] = []
    for argument in arguments:
        if isinstance(argument, Tensor):
            found.append(argument)
        elif argument is not None:
            found.extend(argument)
    return found


def moved_bytes(arguments: Sequence[Argument]) -> float:
    """Bytes of all tensors among arguments."""
    return sum(tensor.bytes for tensor in tensors(arguments))


def _first(arguments: Sequence[Argument], place: int) -> Tensor:
    found = arguments[place]
    if not isinstance(found, Tensor) or not found.dims:
        raise ValueError
    return found


def _broadcast(given: Sequence[Tensor]) -> Tensor:
    """The shape that tensors have together."""
    longest = max(len(tensor.dims) for tensor in given)
    padded = [(1,) * (longest - len(tensor.dims)) + tensor.dims for tensor in given]
    typed = max(given, key=lambda tensor: tensor.elements)
    return Tensor(tuple(max(sizes) for sizes in zip(*padded, strict=True)), typed.element)


# -- products ----------------------------------------------------------------------------------------------------------


def product_work(rows: float, columns: float, depth: float, instances: float, element: str, each: float) -> Work:
    """A matrix product with `each` bytes an element."""
    return Work(
        "product",
        matrix_flop=2.0 * rows * columns * depth * instances,
        traffic=each * instances * (rows * depth + depth * columns + rows * columns),
        element=element,
        product=(rows, columns, depth, instances),
    )


def _each(tensor: Tensor) -> float:
    return tensor.bytes / tensor.elements


def _product(name: str, inputs: Sequence[Argument], outputs: Sequence[Tensor], said: Sequence[str]) -> Work:
    skipped = 1 if name in ("addmm", "baddbmm", "addmv", "_addmm_activation") else 0
    first, second = _first(inputs, skipped), _first(inputs, skipped + 1)
    of = (first.element, _each(first))
    if name in ("linear", "mkldnn_linear", "mkl_linear"):
        columns, depth = second.dims[-2:] if len(second.dims) > 1 else (1, second.dims[0])
        return product_work(first.elements / depth, columns, depth, 1.0, *of)
    if name == "linear_backward":
        grad, weight = _first(inputs, 1), _first(inputs, 2)
        columns, depth = weight.dims[-2:]
        once = product_work(grad.elements / columns, columns, depth, 1.0, *of)
        return once._replace(matrix_flop=2.0 * once.matrix_flop, traffic=2.0 * once.traffic, product=None)
    if name == "gemm":
        rows, depth = first.dims if "transA" not in said else first.dims[::-1]
        return product_work(rows, second.elements / depth, depth, 1.0, *of)
    if name == "tensordot":
        raise ValueError  # which sizes meet is not told
    left, right = first.dims, second.dims
    if len(left) == 1 or len(right) == 1:
        depth = left[-1]
        return product_work(first.elements / depth, second.elements / depth, depth, 1.0, *of)
    rows, depth, columns = left[-2], left[-1], right[-1]
    if right[-2] != depth:
        raise ValueError
    batches = [(1,) * (max(len(left), len(right)) - len(dims)) + dims for dims in (left, right)]
    shared = prod(max(pair) for pair in zip(batches[0][:-2], batches[1][:-2], strict=True))
    if prod(right[:-2]) == 1:  # one matrix for all: its rows are those of all instances
        return product_work(rows * shared, columns, depth, 1.0, *of)
    return product_work(rows, columns, depth, shared, *of)


def _numbers(text: str) -> tuple[int, ...]:
    found = json.loads(text)
    return tuple(int(part) for part in found) if isinstance(found, list) else (int(found),)


_STRIDE_PADDING = {"convolution": (3, 4, 5), "_convolution": (3, 4, 5), "convolution_overrideable": (3, 4, 5)}
_STRIDE_PADDING |= {"conv1d": (3, 4, 5), "conv2d": (3, 4, 5), "conv3d": (3, 4, 5)}
_STRIDE_PADDING |= {"cudnn_convolution": (3, 2, 4), "mkldnn_convolution": (4, 3, 5), "miopen_convolution": (4, 3, 5)}
"""Where stride, padding and dilation stand among arguments."""


def _convolution(name: str, inputs: Sequence[Argument], outputs: Sequence[Tensor], said: Sequence[str]) -> Work:
    first, weight = _first(inputs, 0), _first(inputs, 1)
    sides = weight.dims[2:]
    if outputs and outputs[0].dims:
        result = outputs[0].dims
    else:
        stride, padding, dilation = (_numbers(said[place]) for place in _STRIDE_PADDING[name])
        stride, padding, dilation = (part * (len(sides) // len(part)) for part in (stride, padding, dilation))
        spread = zip(first.dims[2:], sides, stride, padding, dilation, strict=True)
        result = (
            first.dims[0],
            weight.dims[0],
            *((size + 2 * pad - gap * (side - 1) - 1) // step + 1 for size, side, step, pad, gap in spread),
        )
    return _convolved(prod(result), result[1], weight, first, passes=1.0)


def _convolution_gradient(
    name: str, inputs: Sequence[Argument], outputs: Sequence[Tensor], said: Sequence[str]
) -> Work:
    first, second, weight = (_first(inputs, place) for place in range(3))
    # cudnn's own takes the input before the gradient; the gradient is the one with the weight's outputs as channels.
    gradient, other = (first, second) if first.dims[1] == weight.dims[0] else (second, first)
    return _convolved(gradient.elements, gradient.dims[1], weight, other, passes=2.0)


def _convolved(results: float, channels: float, weight: Tensor, other: Tensor, *, passes: float) -> Work:
    """As the product that it is: channels × places, over a window of the input's channels."""
    depth = prod(weight.dims[1:])
    flop = 2.0 * results * depth * passes
    moved = passes * (other.bytes + weight.bytes + results * _each(other))
    return Work("convolution", matrix_flop=flop, traffic=moved, element=other.element)


def _attention(name: str, inputs: Sequence[Argument], outputs: Sequence[Tensor], said: Sequence[str]) -> Work:
    skipped = 1 if name in ATTENTION_GRADIENTS else 0
    query, key, value = (_first(inputs, skipped + place) for place in range(3))
    if name in SEQUENCE_BEFORE_HEADS:
        batch, queries, heads, width = query.dims
        keys = key.dims[1]
    else:
        *outer, queries, width = query.dims
        batch, heads = prod(outer), 1
        keys = key.dims[-2]
    pairs = batch * heads * queries * keys * (0.5 if "True" in said and queries == keys else 1.0)
    flop = 2.0 * pairs * (width + value.dims[-1]) * (_BACKWARD_PRODUCTS if skipped else 1.0)
    moved = (query.bytes * 2.0 + key.bytes + value.bytes) * (2.0 if skipped else 1.0)
    return Work("attention", matrix_flop=flop, traffic=moved, element=query.element, keys=float(keys))


# -- what memory binds -------------------------------------------------------------------------------------------------


def _passing(kind: str, flop: float) -> "Count":
    """Every input is read and the output written."""

    def count(name: str, inputs: Sequence[Argument], outputs: Sequence[Tensor], said: Sequence[str]) -> Work | None:
        given = tensors(inputs)
        if not given and not outputs:
            return None
        many = [argument for argument in inputs if argument is not None and not isinstance(argument, Tensor)]
        if outputs:
            result = sum(tensor.bytes for tensor in outputs)
            elements = sum(tensor.elements for tensor in outputs)
        elif many:  # lists are worked on one by one: as much is written as the first has
            result, elements = moved_bytes(many[:1]), sum(tensor.elements for tensor in many[0])
        else:
            whole = _broadcast(given)
            result, elements = (0.0 if kind == "reduction" else whole.bytes), whole.elements
        largest = max([elements, *(tensor.elements for tensor in given)])
        read = 0.0 if name in _MADE else sum(tensor.bytes for tensor in given)
        return Work(kind, vector_flop=flop * largest, traffic=read + result)

    return count


_GENERATED = ("triton_poi_", "triton_red_", "triton_per_")
"""Kernels that torch.compile writes: pointwise, or with a reduction; their arguments are what they read and write."""


def _fused(name: str, inputs: Sequence[Argument], outputs: Sequence[Tensor], said: Sequence[str]) -> Work | None:
    given = tensors(inputs)
    if not given:
        return None
    largest = max(tensor.elements for tensor in given)
    return Work("elementwise", vector_flop=largest, traffic=sum(tensor.bytes for tensor in given))


_MADE = frozenset(
    [
        "fill",
        "zero",
        "zeros",
        "ones",
        "full",
        "zeros_like",
        "ones_like",
        "full_like",
        "new_zeros",
        "new_ones",
        "new_full",
        "uniform",
        "normal",
        "random",
        "randn",
        "rand",
        "exponential",
        "arange",
        "randperm",
        "_foreach_zero",
    ]
)
"""What is written without being read."""


def _gather(name: str, inputs: Sequence[Argument], outputs: Sequence[Tensor], said: Sequence[str]) -> Work:
    given = tensors(inputs)
    if name == "embedding":
        table, places = _first(inputs, 0), given[1]
        result = places.elements * table.dims[-1] * _each(table)
    else:
        result = sum(tensor.bytes for tensor in outputs) or min(tensor.bytes for tensor in (given[0], given[-1]))
    return Work("gather", vector_flop=0.0, traffic=2.0 * result + sum(tensor.bytes for tensor in given[1:]))


def _embedding_gradient(name: str, inputs: Sequence[Argument], outputs: Sequence[Tensor], said: Sequence[str]) -> Work:
    grad = _first(inputs, 0)
    rows = outputs[0].dims[0] if outputs else _numbers(said[2])[0] if len(said) > 2 and said[2] else 0
    table = rows * grad.dims[-1] * _each(grad)
    return Work("gather", vector_flop=grad.elements, traffic=table + 3.0 * grad.bytes)


Count = Callable[[str, Sequence[Argument], Sequence[Tensor], Sequence[str]], Work | None]
_COUNTED: Final[dict[str, Count]] = {
    **dict.fromkeys(ELEMENTWISE, _passing("elementwise", _PLAIN_FLOP)),
    **dict.fromkeys(REDUCTIONS, _passing("reduction", _PLAIN_FLOP)),
    **dict.fromkeys(NORMALISATIONS, _passing("normalisation", _NORMALISING_FLOP)),
    **dict.fromkeys(COPIES, _passing("copy", 0.0)),
    **dict.fromkeys(GATHERS, _gather),
    **dict.fromkeys(EMBEDDING_GRADIENTS, _embedding_gradient),
    **dict.fromkeys(PRODUCTS, _product),
    **dict.fromkeys(CONVOLUTIONS, _convolution),
    **dict.fromkeys(CONVOLUTION_GRADIENTS, _convolution_gradient),
    **dict.fromkeys((*ATTENTION, *ATTENTION_GRADIENTS), _attention),
}
