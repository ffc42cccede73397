"""The optimiser's own step."""

import numpy as np

from volvelle.laws.citations import cites
from volvelle.quantities import Bytes, BytesPerSecond, Count, Flop, Seconds


@cites("rajbhandari2021infinity", place="section 3.1, optimiser states touched once a step")
def optimiser_step_time(
    parameters: Count, *, state: Bytes, gradient: Bytes, weight: Bytes, memory_rate: BytesPerSecond
) -> Seconds:
    r"""Time to read gradients and states, and to write states and new weights.

    $$ t = \Psi\,\frac{g + 2 s + w}{B} $$

    g, s, w are bytes a parameter of gradient, optimiser state and weight. Assumes the step is bound by memory: it
    does a dozen operations for some thirty bytes.
    """
    return parameters * (gradient + 2.0 * state + weight) / memory_rate


@cites("dettmers2022eightbit", place="section 2.1, block-wise quantisation")
def narrow_state_bytes(states: Count, *, block: Count = 256.0) -> Bytes:
    r"""Bytes a parameter of optimiser states in 8 bits, with an fp32 scale for every block.

    $$ s = n\left(1 + \frac{4}{b}\right) $$

    Assumes all weights are quantised so; the smallest tensors, left in 32 bits by common implementations, are few.
    """
    return states * (1.0 + 4.0 / block)


@cites("shazeer2018adafactor", place="section 3, factored second moments")
def factored_state_bytes(rows: Count, columns: Count, *, each: Bytes = 4.0) -> Bytes:
    r"""Bytes of a second moment kept as sums over rows and over columns of a matrix.

    $$ s = e\,(n + m) $$

    Assumes no first moment. A vector keeps one number of every parameter: its other side is 0.
    """
    return each * (rows + columns)


@cites("jordan2024muon", place="Newton-Schulz iteration and its FLOP overhead; used at scale by Liu et al. 2025")
def orthogonalisation_work(rows: Count, columns: Count, *, iterations: Count = 5.0) -> Flop:
    r"""FLOP to make the update of a matrix orthogonal by a quintic Newton-Schulz iteration.

    $$ W = 2\,T\,(2\,n\,m^2 + m^3), \qquad m \le n $$

    Each of T iterations multiplies X Xᵀ, its square, and the result with X, along the shorter side. Assumes that
    replicas share matrices out among them, each whole on one chip, as they share optimiser states.
    """
    short, long = np.minimum(rows, columns), np.maximum(rows, columns)
    work: Flop = 2.0 * iterations * (2.0 * long * short**2 + short**3)
    return work
