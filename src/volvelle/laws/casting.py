"""Casting operands to a narrower element type before a product."""

from volvelle.laws.citations import cites
from volvelle.quantities import Bytes


@cites("micikevicius2022fp8", place="section 3, operands scaled and cast from a 16-bit type")
def cast_traffic(wide: Bytes, *, wide_each: Bytes, narrow_each: Bytes) -> Bytes:
    r"""Bytes moved to write a narrow copy of operands of `wide` bytes.

    $$ Q = n\left(1 + \frac{e_n}{e_w}\right) $$

    Read once in the wide type, written once in the narrow one. Assumes scaling factors are known beforehand (delayed
    scaling), so that one pass is enough, and that casts are kernels of their own.
    """
    return wide * (1.0 + narrow_each / wide_each)
