"""Where routed tokens go."""

from volvelle.laws.citations import cites
from volvelle.quantities import Count, Fraction


@cites("deepseek2024v3", place="section 3.2.2, tokens cross to a node once and are handed on inside it")
def distinct_share(copies: Count, units: Count) -> Fraction:
    r"""Copies of a token that must cross to other units if each unit gets it once, over all copies.

    $$ s = \frac{G}{k}\left(1 - \left(1 - \frac{1}{G}\right)^k\right) $$

    G units, k copies. Assumes experts chosen evenly and independently, and that handing a token on inside a unit runs
    beside its crossing.
    """
    return units * (1.0 - (1.0 - 1.0 / units) ** copies) / copies
