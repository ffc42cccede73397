"""Embedding tables of recommendation models: rows fetched, rows updated, vectors sent."""

import numpy as np

from volvelle.laws.citations import cites
from volvelle.quantities import Bytes, Count


@cites("feller1968probability", place="occupancy, the mean number of cells that are not empty")
def distinct_count(draws: Count, kinds: Count) -> Count:
    r"""How many different things are among so many drawn: rows of a table, or chips that hold them.

    $$ d = R\left(1 - \left(1 - \tfrac{1}{R}\right)^{n}\right) $$

    Assumes each is as likely as any other; real categories are skewed, so fewer differ.
    """
    return -kinds * np.expm1(draws * np.log1p(-1.0 / np.maximum(kinds, 1.0 + 1e-12)))


@cites("mudigere2022zionex", place="section 4.1, embedding lookups are bound by memory")
def gather_traffic(rows: Count, row: Bytes, *, granule: Bytes = 64.0) -> Bytes:
    r"""Bytes read to fetch rows of a table.

    $$ Q = n\,g\left\lceil r/g \right\rceil $$

    Memory hands out g bytes at a time, so a row cut into narrow columns is read with waste. Assumes rows lie apart
    and each starts at a granule.
    """
    return rows * granule * np.ceil(row / granule - 1e-9)


@cites("mudigere2022zionex", place="section 4.1.1, backward and optimiser fused, exact updates of touched rows")
def update_traffic(rows: Count, row: Bytes, *, state: Bytes, gradients: Bytes, granule: Bytes = 64.0) -> Bytes:
    r"""Bytes moved to update rows of a table.

    $$ Q = 2\,g\,n\left(\left\lceil r/g \right\rceil + \left\lceil s/g \right\rceil\right) + G $$

    Row and state are read and written once for every row that was touched; G are the gradients of all samples.
    Assumes gradients of one row are added up on the chip before it is written.
    """
    touched = np.ceil(row / granule - 1e-9) + np.ceil(state / granule - 1e-9)
    return 2.0 * granule * rows * touched + gradients
