"""Sizes and element types of arguments, as PyTorch's profiles and execution traces write them."""

from collections.abc import Sequence
from typing import Final

from volvelle.workload.trace.counting import Argument
from volvelle.workload.trace.values import Tensor

ELEMENTS: Final = {
    "float": "fp32",
    "double": "fp64",
    "c10::BFloat16": "bf16",
    "c10::Half": "fp16",
    "c10::Float8_e4m3fn": "fp8",
    "c10::Float8_e5m2": "fp8",
    "long int": "int64",
    "long": "int64",
    "int": "int32",
    "signed char": "int8",
    "unsigned char": "int8",
    "bool": "mask",
    "Float": "fp32",
    "Double": "fp64",
    "BFloat16": "bf16",
    "Half": "fp16",
    "Long": "int64",
    "Int": "int32",
    "Char": "int8",
    "Byte": "int8",
    "Bool": "mask",
    "Float8_e4m3fn": "fp8",
    "Float8_e5m2": "fp8",
}
"""Element types as PyTorch calls them in C++ and in c10d."""
_LARGEST: Final = 2**48


def dims_of(found: object) -> tuple[int, ...] | None:
    """Sizes of one tensor; None: they are none, or no sizes that a tensor can have."""
    if not isinstance(found, list | tuple):
        return None
    for size in found:
        if type(size) is not int or not 0 <= size < _LARGEST:
            return None
    return tuple(found)


def argument_of(dims: object, kind: object) -> Argument:
    """One argument from its sizes and its type: `float`, `Tensor(float)`, `TensorList`, `GenericList[Tensor(…)]`."""
    if not isinstance(kind, str) or not kind or kind == "Scalar" or not isinstance(dims, list | tuple):
        return None
    if "List" in kind:
        if "Tensor" not in kind or not dims:
            return None
        named = kind.partition("Tensor(")[2].partition(")")[0]
        parts = [dims_of(part) for part in dims]
        return tuple(Tensor(part, ELEMENTS.get(named, "")) for part in parts if part is not None) or None
    if kind.startswith("Tensor("):
        kind = kind[len("Tensor(") : -1]
    elif kind[:1].isupper():  # Int, Bool, String …: a value, not the element type of a tensor
        return None
    sizes = dims_of(dims)
    return None if sizes is None else Tensor(sizes, ELEMENTS.get(kind, ""))


def arguments_of(dims: object, kinds: object) -> tuple[Argument, ...]:
    """All arguments of an operation; none where sizes and types do not go together."""
    if not isinstance(dims, list) or not isinstance(kinds, list):
        return ()
    return tuple(argument_of(size, kind) for size, kind in zip(dims, kinds, strict=False))


def said_of(values: object) -> tuple[str, ...]:
    """Values of arguments that are no tensors, as text, at their places."""
    if not isinstance(values, Sequence) or isinstance(values, str):
        return ()
    return tuple(value if isinstance(value, str) else _plain(value) for value in values)


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return "True" if value else "False"
    if isinstance(value, int | float) or (isinstance(value, list) and all(type(part) is int for part in value)):
        return str(value)[:100]
    return ""
