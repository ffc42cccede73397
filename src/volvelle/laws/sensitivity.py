"""How much of an answer's doubt each uncertain input brings."""

import numpy as np
from numpy.typing import NDArray

from volvelle.laws.citations import cites

Column = NDArray[np.float64]


@cites("saltelli2010variance", place="table 2, (b) for first order and (f) for total")
def sobol_index(first: Column, second: Column, swapped: Column) -> tuple[float, float]:
    r"""Share of the variance that an input brings alone, and with all others together.

    $$ S_i = \frac{1}{n V} \sum_j f(B)_j \left( f(A_B^{(i)})_j - f(A)_j \right), \qquad
       T_i = \frac{1}{2 n V} \sum_j \left( f(A)_j - f(A_B^{(i)})_j \right)^2 $$

    `first` and `second` are the answer on two independent sets of samples, A and B; `swapped` that on A with input i
    of B. V is the variance over both; answers are taken less their mean, which changes no expectation and a good deal
    of the scatter. Assumes independent inputs.
    """
    both = np.concatenate([first, second])
    variance = float(np.var(both))
    if variance == 0.0:
        return 0.0, 0.0
    alone = float(np.mean((second - both.mean()) * (swapped - first))) / variance
    return alone, float(np.mean((first - swapped) ** 2)) / (2.0 * variance)
