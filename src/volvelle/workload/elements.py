"""Element types and how many bytes one element takes."""

from typing import Final

from volvelle.errors import UnknownNameError

ELEMENT_BYTES: Final[dict[str, float]] = {
    "fp64": 8.0,
    "fp32": 4.0,
    "tf32": 4.0,
    "bf16": 2.0,
    "fp16": 2.0,
    "fp8": 1.0,
    "int8": 1.0,
    "fp4": 0.5,
    "int64": 8.0,
    "int32": 4.0,
    "mask": 1.0,
}


def element_bytes(element: str) -> float:
    """Bytes one element of this type takes in memory."""
    if element not in ELEMENT_BYTES:
        raise UnknownNameError.among("element type", element, ELEMENT_BYTES)
    return ELEMENT_BYTES[element]
