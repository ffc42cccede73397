"""How near to its peak a chip gets on a matrix product of a given shape."""

import numpy as np

from volvelle.laws.citations import cites
from volvelle.quantities import Count, Fraction

__all__ = ["depth_efficiency", "wave_efficiency"]


@cites("nvidia-matmul-guide", place="tile quantization and wave quantization")
def wave_efficiency(
    rows: Count, columns: Count, instances: Count, *, units: Count, tile_rows: Count, tile_columns: Count
) -> Fraction:
    r"""Share of the units' time that a product of that shape fills with its own tiles.

    $$ q = \frac{m\,n\,i}{\left\lceil \frac{\lceil m/t_m\rceil \lceil n/t_n\rceil\,i}{U} \right\rceil U\,t_m\,t_n} $$

    A product is cut into tiles of t_m × t_n, U of which run at a time; the last wave and the tiles at the edges are
    partly empty. Assumes one tile a unit at a time and every tile as long as the others.
    """
    tiles = np.ceil(rows / tile_rows) * np.ceil(columns / tile_columns) * instances
    return rows * columns * instances / (np.ceil(tiles / units) * (units * tile_rows * tile_columns))


@cites("nvidia-matmul-guide", place="arithmetic against set-up of a tile")
def depth_efficiency(depth: Count, *, half: Count) -> Fraction:
    r"""Share of a tile's time that goes into its products rather than into starting and writing it.

    $$ d = \frac{k}{k + k_{1/2}} $$

    Assumes a fixed cost for every tile, worth k_½ of its inner steps.
    """
    return depth / (depth + half)
