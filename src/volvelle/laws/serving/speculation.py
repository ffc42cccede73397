"""Speculative decoding: tokens that a cycle of drafting and verifying yields, and what it takes.

A cycle drafts a sequence, or a tree, of tokens; the target model verifies all of it in one step and adds one token of
its own. An acceptance is the chance that the target agrees with a drafted token, given that it agreed with all before.
"""

from collections.abc import Sequence

import numpy as np

from volvelle.laws.citations import cites
from volvelle.quantities import Count, Fraction, Number, Seconds


@cites("leviathan2023speculative", place="section 3.1, without its assumption of equal acceptances")
def accepted_tokens(acceptance: Sequence[Fraction]) -> Number:
    r"""Tokens that a cycle yields, on average, by the acceptance at each position, or at each level of a tree.

    $$ E = 1 + \sum_{i=1}^{K} \prod_{j=1}^{i} \alpha_j $$

    Assumes that drafting stops to count at the first token that is refused, and that the target adds one token.
    """
    tokens: Number = 1.0
    reached: Number = 1.0
    for one in acceptance:
        reached = reached * one
        tokens = tokens + reached
    return tokens


@cites("leviathan2023speculative", place="equation 1")
def evenly_accepted_tokens(acceptance: Fraction, *, window: Count) -> Number:
    r"""Tokens that a cycle yields, on average, when every position has the same acceptance.

    $$ E = \frac{1 - \alpha^{K+1}}{1 - \alpha} $$

    K + 1 where all are accepted. Assumes acceptances that are independent and alike: measured ones fall with the
    position, so that this is too high for long windows.
    """
    refused = 1.0 - np.asarray(acceptance, dtype=float)
    some = np.maximum(refused, 1e-12)
    found = np.where(refused > some / 2, (1.0 - np.asarray(acceptance) ** (window + 1.0)) / some, window + 1.0)
    return found if found.ndim else float(found)


@cites("dfmodel", place="section VIII-B: the proportion of proposed tokens that the target agrees with")
def proportion_tokens(proportion: Fraction, *, window: Count) -> Number:
    r"""Tokens that a cycle yields, on average, by the proportion of drafted tokens that are kept.

    $$ E = K a + 1 $$

    What counters of engines call the acceptance rate: it falls with the window, and is no acceptance of one position.
    Assumes that the proportion was counted with the same window.
    """
    return window * proportion + 1.0


@cites("li2024eagle2", place="section 3, acceptance by position in the tree of drafts")
def decayed_acceptance(position: Count, *, first: Fraction, decay: Fraction) -> Fraction:
    r"""Acceptance at a position of a draft, the first of which is 1.

    $$ \alpha_j = \alpha\,\rho^{\,j-1} $$

    Two numbers that follow published curves: a draft made from drafts is worse than one made from what the target
    said. Assumes the same loss at every position.
    """
    return first * decay ** (position - 1.0)


@cites("miao2024specinfer", place="section 3, several candidates for the same position")
def any_accepted(acceptance: Sequence[Fraction]) -> Fraction:
    r"""Acceptance of one level of a tree: that of any of the candidates below the same token.

    $$ \beta = 1 - \prod_{c=1}^{b} (1 - \alpha_c) $$

    Of one candidate it is its own acceptance, so that a tree which never branches is a sequence. Assumes candidates
    that are accepted independently of each other.
    """
    refused: Number = 1.0
    for one in acceptance:
        refused = refused * (1.0 - one)
    return 1.0 - refused


@cites("miao2024specinfer", place="section 4.2, tree-based parallel decoding")
def tree_positions(branching: Sequence[Count]) -> Count:
    r"""Positions that the target computes to verify a tree of drafts in one step.

    $$ m = 1 + \sum_{d=1}^{K} \prod_{i=1}^{d} b_i $$

    K + 1 where it never branches. Assumes that every node is verified, by a mask that lets it see its own branch only.
    """
    positions: Number = 1.0
    width: Number = 1.0
    for one in branching:
        width = width * one
        positions = positions + width
    return positions


@cites("dfmodel", place="section VIII-B: a tree of 2 to the power of K tokens instead of K")
def tree_leaves(branching: Sequence[Count]) -> Count:
    r"""Tokens at the deepest level of a tree of drafts: what a draft model that makes one branch at a time must make.

    $$ n = \prod_{d=1}^{K} b_d $$

    With two candidates everywhere the 2^K that DFModel counts as drafted, one after another. Assumes the same branching
    below all nodes of a level. A drafter that makes a level at a time takes K steps instead, as wide as each level is.
    """
    leaves: Number = 1.0
    for one in branching:
        leaves = leaves * one
    return leaves


@cites("leviathan2023speculative", place="section 3.3, walltime of a cycle")
def cycle_time(drafting: Sequence[Seconds], verification: Seconds) -> Seconds:
    r"""Time of one cycle: draft steps one after another, then one step of the target over all that was drafted.

    $$ t = \sum_i d_i + v $$

    Assumes that draft and target take turns, on the same chips or each waiting for the other.
    """
    time = verification
    for one in drafting:
        time = time + one
    return time


@cites("leviathan2023speculative", place="theorem 3.8, as a rate in place of a gain")
def speculated_rate(tokens: Number, cycle: Seconds) -> Number:
    r"""Tokens a second of one request that is decoded with drafts.

    $$ r = E / t $$

    Assumes many cycles, of the average length each.
    """
    return tokens / cycle
