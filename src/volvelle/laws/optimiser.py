"""The optimiser's own step."""

from volvelle.laws.citations import cites
from volvelle.quantities import Bytes, BytesPerSecond, Count, Seconds


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
