"""Small linear programs, against SciPy's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from volvelle.search.graph.column_program import ColumnProgram


def started(rows: int) -> ColumnProgram:
    """Every row by a dear column of its own."""
    return ColumnProgram(np.eye(rows), np.full(rows, 1e3), np.arange(1.0, rows + 1.0), list(range(rows)))


@given(st.integers(1, 5), st.integers(1, 8), st.integers(0, 2**32 - 1))
def test_its_optimum_is_scipys_however_columns_come(rows: int, count: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    program = started(rows)
    for _ in range(count):
        program.add(draw.integers(0, 4, rows).astype(float), float(draw.uniform(0.1, 3.0)))
        cost, prices, taken = program.solve()
    right = linprog(program.costs, A_eq=program.columns, b_eq=program.wanted)
    assert cost == pytest.approx(right.fun, rel=1e-9)
    assert prices @ program.wanted == pytest.approx(cost, rel=1e-9)
    amounts = np.zeros(len(program.costs))
    amounts[list(taken)] = list(taken.values())
    assert program.columns @ amounts == pytest.approx(program.wanted)
