"""Iterative refinement after a factorisation in low precision: residuals in double precision, solves by the factors."""

from volvelle.laws.citations import cites
from volvelle.laws.hpl.panels import WORD
from volvelle.quantities import Bytes, BytesPerSecond, Count, Fraction, Seconds


@cites("dongarra2025hplmxp", place="the solver: GMRES with the factors as its preconditioner, until double precision")
def refinement_time(
    order: Count,
    processes: Count,
    *,
    iterations: Count,
    memory: BytesPerSecond,
    host: BytesPerSecond,
    spilled: Fraction,
    column: Seconds,
    word: Bytes,
) -> Seconds:
    r"""Refinement of the solution to double precision.

    $$ t = k\left[\frac{8N^2}{PQ}\left(\frac{1-\sigma}{b_m} + \frac{\sigma}{b_h}\right) + \frac{w N^2}{PQ\,b_m} +
    2N\tau\right] $$

    Each of k iterations reads the matrix in double precision once, of which σ comes over the link to the host, and the
    two factors of w bytes an entry; τ is what one column of a triangular solve costs whatever its length. Assumes
    vectors and sums over processes are nothing beside them, and that a matrix which is generated again instead of
    kept costs what reading it would.
    """
    share = order**2 / processes
    residual = WORD * share * ((1.0 - spilled) / memory + spilled / host)
    return iterations * (residual + word * share / memory + 2.0 * order * column)
