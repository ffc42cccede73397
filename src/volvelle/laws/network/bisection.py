"""All-to-all across the worst cut of each network dimension, as DFModel counts it."""

from volvelle.laws.citations import cites
from volvelle.quantities import Bytes, BytesPerSecond, Count, Seconds


@cites("dfmodel", place="section V-B3, network time; all-to-all as in the authors' intra-chip step")
def cut_time(pair: Bytes, chips: Count, *, links: Count, rate: BytesPerSecond) -> Seconds:
    r"""Time for the messages of an all-to-all that cross a cut into halves.

    $$ t = \frac{v\,n^2/4}{c\,B} $$

    v is what one chip sends to one other, n the chips on both sides together, c the links that are cut and B the rate
    of one. Assumes messages spread evenly over the links cut, and all dimensions work at once: the slowest counts.
    """
    return pair * chips * chips / 4.0 / (links * rate)


@cites("dfmodel", place="authors' intra-chip step, links across a torus")
def torus_cut(chips: Count, *, size: Count) -> Count:
    r"""Links between the halves of a torus cut across a dimension of k chips: one for each of its rings.

    $$ c = n / k $$

    Assumes one of the two links at which a ring is cut carries the messages of one direction; with both it is 2n/k.
    """
    return chips / size


@cites("dfmodel", place="authors' intra-chip step, links across a fully connected dimension")
def connected_cut(size: Count) -> Count:
    r"""Links between the halves of k units, each linked to each.

    $$ c = k^2 / 4 $$

    Assumes an even number of units.
    """
    return size * size / 4.0
