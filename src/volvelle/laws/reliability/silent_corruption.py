"""Wrong results that nobody sees at once."""

import numpy as np

from volvelle.laws.citations import cites
from volvelle.quantities import Fraction, Number, Seconds


@cites("gemini2023report", place="training infrastructure: silent data corruption every week or two, found by replay")
def corruption_loss(
    *, rate: Number, found_after: Seconds, searched: Seconds, restart: Seconds, replayed: Fraction = 0.0
) -> Fraction:
    r"""Share of time that silent corruption costs.

    $$ \lambda_s\,(R + L + t_f) + q $$

    Each is found after $t_f$, in which all that was trained is void; finding the node takes L, and q is the share of
    steps that is replayed to notice at all. Assumes they are rare.
    """
    return np.asarray(rate) * (restart + np.asarray(searched) + found_after) + replayed


@cites("gemini2023report", place="training infrastructure: deterministic replay")
def replay_latency(step: Seconds, *, replayed: Fraction) -> Seconds:
    r"""Time until a replay of some steps notices a node that computes wrongly.

    $$ t_f = t_s / q $$

    Assumes that every step on such a node is wrong, and steps to replay are drawn at random.
    """
    return np.asarray(step) / replayed
