"""Memory traffic of a matrix product whose operands do not fit on the chip."""

import numpy as np

from volvelle.laws.citations import cites
from volvelle.quantities import Bytes


@cites("kadiyala2024comet", place="section 3.3.2, traffic with a finite on-chip buffer")
def tiled_traffic(first: Bytes, second: Bytes, result: Bytes, *, buffer: Bytes) -> Bytes:
    r"""Bytes moved to and from memory by one product with operands of `first` and `second` bytes.

    $$ Q = \min\left(\lceil U/S \rceil V + U,\; \lceil V/S \rceil U + V\right) + W $$

    Assumes one operand is kept on chip a buffer-full at a time while the other streams past it, whichever order
    moves less; the result is written once; the buffer holds nothing else.
    """
    keep_first = np.ceil(first / buffer) * second + first
    keep_second = np.ceil(second / buffer) * first + second
    return np.minimum(keep_first, keep_second) + result
