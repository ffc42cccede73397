"""Unpacking weights that are kept in fewer bits than they are multiplied in."""

from volvelle.laws.citations import cites
from volvelle.quantities import Bytes


@cites("dettmers2023qlora", place="section 3, equations 5 and 6: doubleDequant before each product")
def dequantisation_traffic(kept: Bytes, copy: Bytes) -> Bytes:
    r"""Bytes moved to unpack a weight before a product: it is read as it is kept, and a 16-bit copy is written.

    $$ Q = \Psi\,(e_4 + e_{16}) $$

    Once for the forward product, once for that of the input's gradient, and once more where the forward pass is run
    again. 4-bit NormalFloat takes 4.127 bits a parameter: a scale for every 64 parameters, itself in 8 bits with
    another for every 256 of them. Assumes a kernel of its own that is bound by memory.
    """
    return kept + copy
