"""Element types and how many bytes one element takes."""

from typing import Final

from volvelle.errors import UnknownNameError


def packed_bytes(bits: float, block: int, *, second_block: int = 0) -> float:
    """Bytes of an element kept in blocks that each have a scale: of 32 bits, or of 8 in blocks that have their own.

    Dettmers et al. 2023 (QLoRA), section 3: 64 elements of 4 bits a block take 4.5 bits each, with scales quantised
    again in blocks of 256 they take 4.127.
    """
    scale = 8.0 / block + 32.0 / (block * second_block) if second_block else 32.0 / block
    return (bits + scale) / 8.0


ELEMENT_BYTES: Final[dict[str, float]] = {
    "fp64": 8.0,
    "fp32": 4.0,
    "tf32": 4.0,
    "bf16": 2.0,
    "fp16": 2.0,
    "fp8": 1.0,
    "int8": 1.0,
    "fp4": 0.5,
    "nf4": packed_bytes(4.0, 64, second_block=256),
    "nf4-single": packed_bytes(4.0, 64),
    "int64": 8.0,
    "int32": 4.0,
    "mask": 1.0,
}


def element_bytes(element: str) -> float:
    """Bytes one element of this type takes in memory."""
    if element not in ELEMENT_BYTES:
        raise UnknownNameError.among("element type", element, ELEMENT_BYTES)
    return ELEMENT_BYTES[element]
