"""How near to its peak a chip gets on a matrix product of a given shape."""

import numpy as np

from volvelle.laws.citations import cites
from volvelle.quantities import Count, Fraction


@cites("nvidia-matmul-guide", place="wave quantization, averaged")
def wave_efficiency(
    rows: Count, columns: Count, instances: Count, *, units: Count | None, tile: Count | None
) -> Fraction:
    r"""Share of the units' time that a product of that shape fills with its own tiles.

    $$ q = \frac{x}{\max(1,\; x + \frac12)}, \qquad x = \frac{m\,n\,i}{T\,U} $$

    A product is cut into tiles of T elements, U of which run at a time: x waves, the last of them partly empty.
    Assumes the last wave is half full on average (libraries choose among tile shapes, so the exact remainder is not
    known), at least one wave, and no waste at the edges. The share is 1 on a chip that does not schedule tiles over
    units (units None), and on a chip for which no tile was fitted (tile None).
    """
    if units is None or tile is None:
        return 1.0
    waves = rows * columns * instances / (tile * units)
    return waves / np.maximum(1.0, waves + 0.5)


@cites("nvidia-matmul-guide", place="arithmetic against set-up of a tile")
def depth_efficiency(depth: Count, *, half: Count) -> Fraction:
    r"""Share of a tile's time that goes into its products rather than into starting and writing it.

    $$ d = \frac{k}{k + k_{1/2}} $$

    Assumes a fixed cost for every tile, worth k_½ of its inner steps.
    """
    return depth / (depth + half)
