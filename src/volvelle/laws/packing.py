"""Documents packed into sequences of one length."""

import numpy as np
from numpy.typing import ArrayLike

from volvelle.laws.citations import cites
from volvelle.quantities import Count


@cites("krell2021packing", place="section 3.2.2, block-diagonal attention masks")
def keys_in_documents(lengths: ArrayLike, shares: ArrayLike, *, reach: Count = np.inf) -> float:
    r"""Keys that a query meets on average where each sees its own document only.

    $$ \bar k = \frac{\sum_i f_i\,l_i\,\min(l_i, r)}{\sum_i f_i\,l_i} $$

    f is how many documents have length l, and r how far attention reaches. Attention of all documents is then as much
    as of every token against so many keys: the sum of squares of lengths. Assumes sequences are filled, and kernels
    that leave out what is masked; a causal mask is not taken to halve it.
    """
    length, share = np.asarray(lengths, dtype=float), np.asarray(shares, dtype=float)
    tokens = length * share
    return float((tokens * np.minimum(length, reach)).sum() / tokens.sum())
