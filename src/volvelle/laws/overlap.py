"""What communication hides behind computation."""

import numpy as np

from volvelle.laws.citations import cites
from volvelle.quantities import Fraction, Seconds

__all__ = ["hidden_time"]


@cites("kadiyala2024comet", place="section 3.3, non-blocking communication of weight gradients")
def hidden_time(communication: Seconds, window: Seconds, *, overlap: Fraction = 1.0) -> Seconds:
    r"""Part of a communication that runs behind a window of computation.

    $$ h = \min(c,\; \omega\,w) $$

    ω is the usable share of the window; the rest, c − h, is exposed. Assumes the two do not slow each other down.
    """
    return np.minimum(communication, overlap * window)
