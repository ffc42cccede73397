"""Two tiers of memory read as one."""

from volvelle.laws.citations import cites
from volvelle.quantities import Bytes, BytesPerSecond


@cites("kadiyala2024comet", place="eq. 3")
def hybrid_memory_rate(
    local: Bytes, expanded: Bytes, *, local_rate: BytesPerSecond, expanded_rate: BytesPerSecond
) -> BytesPerSecond:
    r"""Effective rate when data lies partly in local, partly in expanded memory.

    $$ B = \frac{D_l + D_e}{D_l / B_l + D_e / B_e} $$

    Assumes every byte is used equally often and the two tiers are read one after the other; reading both at once
    would be faster. 80 GB at 2 TB/s with 160 GB at 1 TB/s gives 1.2 TB/s, the paper's example.
    """
    return (local + expanded) / (local / local_rate + expanded / expanded_rate)
